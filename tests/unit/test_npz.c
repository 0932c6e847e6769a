/* Model files: what goes in comes out, and nothing else is taken for it. */
#include "tensor/npz.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zip.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "tensor/npy.h"

/* --- a folder of our own, with what was said on stderr (it stays there when
 * a sanitizer ends the program) --- */

static char folder[] = "/tmp/attn-test-npz-XXXXXX";
static int real_stderr, said;

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    real_stderr = dup(2);
    said = open(in_folder("stderr"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    signal(SIGXFSZ, SIG_IGN);
    return said < 0 || dup2(said, 2) < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    char command[256];
    (void)state;
    dup2(real_stderr, 2);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Forgets what was said so far. */
static void listen(void)
{
    if (ftruncate(said, 0) < 0)
        fail();
    lseek(said, 0, SEEK_SET);
}

static void assert_said(const char *what)
{
    char text[2048];
    ssize_t n = pread(said, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    if (strstr(text, what) == NULL)
        fail_msg("expected '%s', said was '%s'", what, text);
}

static int files_in_folder(void)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

/* --- bytes of files --- */

struct bytes {
    char *s;
    size_t len;
};

static struct bytes file_read(const char *path)
{
    struct bytes b = { NULL, 0 };
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    b.len = (size_t)ftell(f);
    rewind(f);
    b.s = xmalloc(b.len + 1);
    assert_int_equal(fread(b.s, 1, b.len, f), b.len);
    fclose(f);
    return b;
}

static void file_write(const char *path, const char *s, size_t len)
{
    int f = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(f >= 0);
    assert_int_equal(write(f, s, len), len);
    close(f);
}

/* Flips one bit of the file; a second time sets it back. */
static void file_flip(const char *path, struct bytes b, size_t bit)
{
    int f = open(path, O_WRONLY);
    b.s[bit / 8] ^= (char)(1 << bit % 8);
    assert_int_equal(pwrite(f, b.s + bit / 8, 1, (off_t)(bit / 8)), 1);
    close(f);
}

static void assert_same_bytes(const char *path, struct bytes b)
{
    struct bytes now = file_read(path);
    assert_int_equal(now.len, b.len);
    assert_memory_equal(now.s, b.s, b.len);
    free(now.s);
}

/* --- the small model --- */

enum { ROWS = 11, COLUMNS = 13, BIAS = 7 };

static const char config[] = "model:\n  hidden: 13\n  type: seq2seq\n";

static float weight(int i)
{
    return (float)((i * 7919LL + 13) % 1009) / 503.0f - 1.0f;
}

static void put_model(struct npz_writer *w, float *W, float *b, float *s)
{
    for (int i = 0; i < ROWS * COLUMNS; i++)
        W[i] = weight(i);
    for (int i = 0; i < BIAS; i++)
        b[i] = -weight(i);
    *s = 42.5f;
    npz_put_array(w, "encoder.0.W", W, 2, (int[]){ ROWS, COLUMNS });
    npz_put_array(w, "encoder.0.b", b, 1, (int[]){ BIAS });
    npz_put_array(w, "scale", s, 0, NULL);
    npz_put_array(w, "empty", b, 3, (int[]){ 2, 0, 5 });
    npz_put_text(w, "config.yaml", config, sizeof config - 1);
    npz_put_text(w, "nothing.txt", NULL, 0);
}

static int save_model(const char *path)
{
    float W[ROWS * COLUMNS], b[BIAS], s;
    struct npz_writer *w = npz_create(path);
    if (w == NULL)
        return -1;
    put_model(w, W, b, &s);
    return npz_commit(w);
}

static int check_arrays(struct npz_reader *r)
{
    float W[ROWS * COLUMNS], b[BIAS], s;
    if (npz_get_array(r, "encoder.0.W", W, 2, (int[]){ ROWS, COLUMNS }) < 0 ||
        npz_get_array(r, "encoder.0.b", b, 1, (int[]){ BIAS }) < 0 ||
        npz_get_array(r, "scale", &s, 0, NULL) < 0 ||
        npz_get_array(r, "empty", b, 3, (int[]){ 2, 0, 5 }) < 0)
        return -1;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        assert_true(W[i] == weight(i));
    for (int i = 0; i < BIAS; i++)
        assert_true(b[i] == -weight(i));
    assert_true(s == 42.5f);
    return 0;
}

static int check_texts(struct npz_reader *r)
{
    char *text;
    size_t len;
    if (npz_get_text(r, "config.yaml", 100, &text, &len) < 0)
        return -1;
    assert_int_equal(len, sizeof config - 1);
    assert_string_equal(text, config);
    free(text);
    if (npz_get_text(r, "nothing.txt", 0, &text, &len) < 0)
        return -1;
    assert_int_equal(len, 0);
    assert_string_equal(text, "");
    free(text);
    return 0;
}

/* -1 when the file is refused; fails when it gives anything else than the
 * model that was saved. */
static int load_model(const char *path)
{
    struct npz_reader *r = npz_open(path);
    int ret = -1;
    if (r != NULL && check_arrays(r) == 0 && check_texts(r) == 0)
        ret = npz_finish(r, NULL);
    npz_close(r);
    return ret;
}

/* --- writing and reading --- */

static void test_round_trip(void **state)
{
    int dims[NPZ_DIMS];
    enum npz_type type;
    bool is_array;
    (void)state;
    assert_int_equal(save_model(in_folder("m.npz")), 0);
    assert_int_equal(load_model(in_folder("m.npz")), 0);

    struct npz_reader *r = npz_open(in_folder("m.npz"));
    assert_true(npz_has(r, "scale") && npz_has(r, "config.yaml"));
    assert_false(npz_has(r, "scale.npy") || npz_has(r, "config"));
    assert_int_equal(npz_count(r), 6);
    assert_string_equal(npz_name(r, 0, &is_array), "encoder.0.W");
    assert_true(is_array);
    assert_string_equal(npz_name(r, 4, &is_array), "config.yaml");
    assert_false(is_array);
    assert_int_equal(npz_shape(r, "encoder.0.W", &type, dims), 2);
    assert_int_equal(dims[0], ROWS);
    assert_int_equal(dims[1], COLUMNS);
    assert_int_equal(npz_shape(r, "scale", &type, dims), 0);
    npz_close(r);
}

enum { TYPED = 77 };

static uint16_t half(int i)
{
    return (uint16_t)(i * 40503 + 7);
}

static void save_types(const char *path)
{
    static uint16_t x[TYPED];
    static const float f[1] = { 1.5f };
    int8_t *q = ARRAY_ALLOC(q, TYPED);
    for (int i = 0; i < TYPED; i++) {
        x[i] = half(i);
        q[i] = (int8_t)(i * 37);
    }
    struct npz_writer *w = npz_create(path);
    npz_put(w, "x", NPZ_UINT16, x, 2, (int[]){ 7, 11 });
    assert_int_equal(npz_put_owned(w, "q", NPZ_INT8, q, 1, (int[]){ TYPED }),
                     0);
    npz_put(w, "f", NPZ_FLOAT32, f, 1, (int[]){ 1 });
    assert_int_equal(npz_commit(w), 0);
}

static void test_types(void **state)
{
    uint16_t x[TYPED];
    int8_t q[TYPED];
    float f[TYPED];
    int dims[NPZ_DIMS];
    enum npz_type type;
    (void)state;
    save_types(in_folder("t.npz"));
    struct npz_reader *r = npz_open(in_folder("t.npz"));
    assert_int_equal(npz_shape(r, "x", &type, dims), 2);
    assert_int_equal(type, NPZ_UINT16);
    assert_int_equal(npz_shape(r, "q", &type, dims), 1);
    assert_int_equal(type, NPZ_INT8);
    assert_int_equal(npz_get(r, "x", NPZ_UINT16, x, 2, (int[]){ 7, 11 }), 0);
    assert_int_equal(npz_get(r, "q", NPZ_INT8, q, 1, (int[]){ TYPED }), 0);
    for (int i = 0; i < TYPED; i++) {
        assert_int_equal(x[i], half(i));
        assert_int_equal(q[i], (int8_t)(i * 37));
    }
    listen();
    assert_int_equal(npz_get_array(r, "x", f, 2, (int[]){ 7, 11 }), -1);
    assert_said("array 'x' is of type uint16, expected float32");
    listen();
    assert_int_equal(npz_get(r, "q", NPZ_UINT16, x, 1, (int[]){ TYPED }), -1);
    assert_said("array 'q' is of type int8, expected uint16");
    listen();
    assert_int_equal(npz_get(r, "q", NPZ_INT8, q, 1, (int[]){ TYPED + 1 }), -1);
    assert_said("has the shape [77], expected [78]");
    npz_close(r);
}

static void test_same_content_same_bytes(void **state)
{
    (void)state;
    save_model(in_folder("m.npz"));
    struct bytes first = file_read(in_folder("m.npz"));
    setenv("TZ", "Pacific/Auckland", 1);
    tzset();
    save_model(in_folder("n.npz"));
    assert_same_bytes(in_folder("n.npz"), first);
    save_model(in_folder("m.npz")); /* over an older one */
    assert_same_bytes(in_folder("m.npz"), first);
    unsetenv("TZ");
    tzset();
    free(first.s);
}

/* Arrays longer than the pieces in which they are compressed. */
static void test_long_array(void **state)
{
    enum { N = 300001 };
    float *a = ARRAY_ALLOC(a, N), *b = ARRAY_ALLOC(b, N);
    (void)state;
    for (int i = 0; i < N; i++)
        a[i] = i % 1000 < 500 ? 0.0f : weight(i);
    struct npz_writer *w = npz_create(in_folder("long.npz"));
    npz_put_array(w, "a", a, 1, (int[]){ N });
    npz_put_array(w, "b", a + 1, 1, (int[]){ N - 1 });
    assert_int_equal(npz_commit(w), 0);
    struct npz_reader *r = npz_open(in_folder("long.npz"));
    assert_int_equal(npz_get_array(r, "b", b, 1, (int[]){ N - 1 }), 0);
    assert_memory_equal(a + 1, b, (N - 1) * sizeof *a);
    assert_int_equal(npz_get_array(r, "a", b, 1, (int[]){ N }), 0);
    assert_memory_equal(a, b, N * sizeof *a);
    assert_int_equal(npz_finish(r, NULL), 0);
    npz_close(r);
    free(a);
    free(b);
}

static void test_abort_leaves_nothing(void **state)
{
    (void)state;
    int before = files_in_folder();
    float W[ROWS * COLUMNS], b[BIAS], s;
    struct npz_writer *w = npz_create(in_folder("aborted.npz"));
    put_model(w, W, b, &s);
    npz_abort(w);
    assert_int_equal(files_in_folder(), before);
}

/* Once written, what was borrowed may change; the file has no name yet. */
static void test_write_before_commit(void **state)
{
    (void)state;
    int before = files_in_folder();
    float W[ROWS * COLUMNS], b[BIAS], s;
    for (int commit = 0; commit < 2; commit++) {
        struct npz_writer *w = npz_create(in_folder("early.npz"));
        put_model(w, W, b, &s);
        assert_int_equal(npz_write(w), 0);
        memset(W, 0, sizeof(W));
        memset(b, 0, sizeof(b));
        s = 0;
        assert_int_equal(access(in_folder("early.npz"), F_OK), -1);
        if (commit)
            assert_int_equal(npz_commit(w), 0);
        else
            npz_abort(w);
        assert_int_equal(files_in_folder(), before + commit);
    }
    assert_int_equal(load_model(in_folder("early.npz")), 0);
}

static void test_places_that_cannot_be_written(void **state)
{
    (void)state;
    assert_null(npz_create(in_folder("no/such/folder/m.npz")));
    assert_null(npz_create("/dev/full"));
    assert_null(npz_create("/dev/null"));
}

/* A file size limit stands for the full disk: writing fails at every place. */
static void test_full_disk(void **state)
{
    struct rlimit old, low;
    (void)state;
    save_model(in_folder("m.npz"));
    struct bytes good = file_read(in_folder("m.npz"));
    int before = files_in_folder();
    getrlimit(RLIMIT_FSIZE, &old);
    for (size_t limit = 0; limit < good.len; limit += 37) {
        low = (struct rlimit){ limit, old.rlim_max };
        setrlimit(RLIMIT_FSIZE, &low);
        int ret = save_model(in_folder("m.npz"));
        setrlimit(RLIMIT_FSIZE, &old); /* before the next message, too */
        assert_int_equal(ret, -1);
        assert_same_bytes(in_folder("m.npz"), good);
        assert_int_equal(files_in_folder(), before);
    }
    listen();
    low = (struct rlimit){ 100000, old.rlim_max };
    setrlimit(RLIMIT_FSIZE, &low);
    enum { N = 100000 };
    float *big = ARRAY_ALLOC(big, N);
    for (int i = 0; i < N; i++)
        big[i] = weight(i);
    struct npz_writer *w = npz_create(in_folder("m.npz"));
    npz_put_array(w, "big", big, 1, (int[]){ N });
    int ret = npz_commit(w);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(ret, -1);
    assert_said("m.npz: cannot write the model (some 401 kB)");
    assert_said(strerror(EFBIG));
    assert_same_bytes(in_folder("m.npz"), good);
    assert_int_equal(files_in_folder(), before);
    free(big);
    free(good.s);
}

/* --- damaged files --- */

static void test_every_truncation_is_refused(void **state)
{
    (void)state;
    save_model(in_folder("m.npz"));
    struct bytes b = file_read(in_folder("m.npz"));
    for (size_t n = 0; n < b.len; n++) {
        listen();
        file_write(in_folder("cut.npz"), b.s, n);
        assert_null(npz_open(in_folder("cut.npz")));
        assert_said(n < 4 ? "is not a model file" : "is incomplete");
    }
    free(b.s);
}

static void test_every_flipped_bit_is_refused(void **state)
{
    (void)state;
    save_model(in_folder("m.npz"));
    struct bytes b = file_read(in_folder("m.npz"));
    assert_in_range(b.len, 1000, 3000);
    file_write(in_folder("flip.npz"), b.s, b.len);
    for (size_t bit = 0; bit < 8 * b.len; bit++) {
        file_flip(in_folder("flip.npz"), b, bit);
        assert_null(npz_open(in_folder("flip.npz")));
        file_flip(in_folder("flip.npz"), b, bit);
    }
    assert_int_equal(load_model(in_folder("flip.npz")), 0);
    free(b.s);
}

/* Takes the seal off: only what zip itself has remains. */
static struct bytes unsealed(const char *path)
{
    struct bytes b = file_read(path);
    b.len -= 19;
    b.s[b.len - 2] = 0;
    return b;
}

/* Without the seal a bit may flip unseen where it means nothing (time stamps,
 * attributes, padding), but then the arrays and texts are the same. */
static void test_flipped_bits_without_a_seal(void **state)
{
    size_t unseen = 0;
    (void)state;
    save_model(in_folder("m.npz"));
    struct bytes b = unsealed(in_folder("m.npz"));
    file_write(in_folder("flip.npz"), b.s, b.len);
    assert_int_equal(load_model(in_folder("flip.npz")), 0);
    for (size_t bit = 0; bit < 8 * b.len; bit++) {
        file_flip(in_folder("flip.npz"), b, bit);
        unseen += load_model(in_folder("flip.npz")) == 0;
        file_flip(in_folder("flip.npz"), b, bit);
    }
    print_message("# without a seal %zu of %zu flipped bits are not seen\n",
                  unseen, 8 * b.len);
    free(b.s);
}

static void refuse_between(struct bytes b, const char *before,
                           const char *after)
{
    struct text t = { 0 };
    text_adds(&t, before);
    text_add(&t, b.s, b.len);
    text_adds(&t, after);
    file_write(in_folder("added.npz"), t.s, t.len);
    assert_null(npz_open(in_folder("added.npz")));
    text_release(&t);
}

static void test_added_bytes_are_refused(void **state)
{
    (void)state;
    save_model(in_folder("m.npz"));
    for (int sealed = 0; sealed < 2; sealed++) {
        struct bytes b = sealed ? file_read(in_folder("m.npz"))
                                : unsealed(in_folder("m.npz"));
        struct text twice = { 0 };
        refuse_between(b, "", "x");
        refuse_between(b, "x", "");
        refuse_between(b, "PK\3\4", "");
        text_add(&twice, b.s, b.len);
        text_add(&twice, b.s, b.len);
        file_write(in_folder("twice.npz"), twice.s, twice.len);
        assert_null(npz_open(in_folder("twice.npz")));
        text_release(&twice);
        free(b.s);
    }
}

static void test_other_files_are_refused(void **state)
{
    static const char text[] = "ein Satz\nnoch ein Satz\n";
    (void)state;
    file_write(in_folder("t.src"), text, sizeof text - 1);
    listen();
    assert_null(npz_open(in_folder("t.src")));
    assert_said("is not a model file");
    listen();
    assert_null(npz_open(folder));
    assert_said("is not a regular file");
    listen();
    assert_null(npz_open(in_folder("nowhere.npz")));
    assert_said(strerror(ENOENT));
}

/* --- zip files with odd members, made with libzip itself --- */

struct odd {
    const char *name;
    const char *s;
    size_t len;
};

static void zip_write(const char *path, const struct odd *odd, int n)
{
    int why;
    zip_t *zip = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, &why);
    assert_non_null(zip);
    for (int i = 0; i < n; i++) {
        zip_source_t *source = zip_source_buffer(zip, odd[i].s, odd[i].len, 0);
        assert_true(zip_file_add(zip, odd[i].name, source, 0) >= 0);
    }
    assert_int_equal(zip_close(zip), 0);
}

/* Replaces each place where `len` bytes stand; the places must be `times`. */
static void replace(const char *path, const void *old, const void *new,
                    size_t len, int times)
{
    struct bytes b = file_read(path);
    for (size_t i = 0; i + len <= b.len; i++) {
        if (memcmp(b.s + i, old, len) == 0) {
            memcpy(b.s + i, new, len);
            times--;
        }
    }
    assert_int_equal(times, 0);
    file_write(path, b.s, b.len);
    free(b.s);
}

/* An array file with any dictionary and any number of bytes behind it. */
static struct odd array_file(const char *name, const char *dictionary,
                             size_t bytes)
{
    size_t n = strlen(dictionary) + 1;
    char *s = xcalloc(10 + n + bytes, 1);
    memcpy(s, "\x93NUMPY\1", 8);
    s[8] = (char)(n & 0xFF);
    s[9] = (char)(n >> 8);
    memcpy(s + 10, dictionary, n - 1);
    s[10 + n - 1] = '\n';
    return (struct odd){ name, s, 10 + n + bytes };
}

/* Reads 'a' as an array [4] out of a file with just that member. */
static int read_odd_array(const char *dictionary, size_t bytes)
{
    struct odd odd = array_file("a.npy", dictionary, bytes);
    float a[4];
    zip_write(in_folder("odd.npz"), &odd, 1);
    free((char *)(uintptr_t)odd.s);
    listen();
    struct npz_reader *r = npz_open(in_folder("odd.npz"));
    assert_non_null(r);
    int ret = npz_get_array(r, "a", a, 1, (int[]){ 4 });
    assert_int_equal(npz_finish(r, NULL), ret); /* used when it was read */
    npz_close(r);
    return ret;
}

#define HEAD "{'descr': '<f4', 'fortran_order': False, 'shape': "

static void test_odd_arrays(void **state)
{
    static const struct {
        const char *dictionary;
        size_t bytes;
        const char *said;
    } odd[] = {
        { HEAD "(5,), }", 20, "has the shape [5], expected [4]" },
        { HEAD "(2, 2), }", 16, "has the shape [2, 2], expected [4]" },
        { HEAD "(), }", 4, "has the shape [], expected [4]" },
        { HEAD "(4,), }", 15, "does not fit its shape" },
        { HEAD "(4,), }", 17, "does not fit its shape" },
        { HEAD "(4,), }", 0, "does not fit its shape" },
        { HEAD "(4294967300,), }", 16, "has no shape" },
        { HEAD "(-4,), }", 16, "has no shape" },
        { HEAD "(4), }", 16, "has no shape" },
        { HEAD "(4,,), }", 16, "has no shape" },
        { HEAD "(,), }", 16, "has no shape" },
        { HEAD "(2, 2,), }", 16, "has no shape" },
        { HEAD "(4,)", 16, "has no shape" },
        { HEAD "(1, 1, 1, 1, 1, 1, 1, 1, 4), }", 16, "has no shape" },
        { HEAD "(2147483647, 2147483647, 4), }", 16, "too many elements" },
        { HEAD "(65536, 65536, 65536, 65536), }", 16, "too many elements" },
        { HEAD "(4,), } x", 16, "has no header" },
        { HEAD "(4,), }\n", 16, "has no header" },
        { "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }", 32,
          "is not of type float32" },
        { "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }", 8,
          "is of type uint16, expected float32" },
        { "{'descr': '|i1', 'fortran_order': False, 'shape': (4,), }", 16,
          "does not fit its shape" },
        { "{'descr': '>u2', 'fortran_order': False, 'shape': (4,), }", 8,
          "is not of type float32" },
        { "{'descr': '|u1', 'fortran_order': False, 'shape': (4,), }", 4,
          "is not of type float32" },
        { "{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }", 16,
          "is not of type float32" },
        { "{'descr': '|O', 'fortran_order': False, 'shape': (4,), }", 16,
          "is not of type float32" },
        { "{'descr': '<f4', 'fortran_order': True, 'shape': (4,), }", 16,
          "is not in C order" },
        { "", 16, "has no header" },
        { "{}", 16, "has no header" },
    };
    (void)state;
    assert_int_equal(read_odd_array(HEAD "(4,), }", 16), 0);
    assert_int_equal(read_odd_array(HEAD "(4,), }            ", 16), 0);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        assert_int_equal(read_odd_array(odd[i].dictionary, odd[i].bytes), -1);
        assert_said(odd[i].said);
    }
}

/* Files which are too short to have a header, or have another version's. */
static void test_odd_starts(void **state)
{
    static const struct {
        const char *s;
        size_t len;
        const char *said;
    } odd[] = {
        { "", 0, "has no header" },
        { "\x93NUMPY\1\0", 8, "has no header" },
        { "\x93NUMPY\1\0\xff\xff", 10, "has no header" },
        { "\x93NUMPY\1\0\x10\0", 10, "has no header" },
        { "\x93NUMPY\2\0\x10\0xxxxxxxxxxxxxxxxxxxx", 30, "has no header" },
        { "notanumpyfile, just any text", 28, "has no header" },
    };
    float a[4];
    (void)state;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct odd member = { "a.npy", odd[i].s, odd[i].len };
        zip_write(in_folder("odd.npz"), &member, 1);
        listen();
        struct npz_reader *r = npz_open(in_folder("odd.npz"));
        assert_non_null(r);
        assert_int_equal(npz_get_array(r, "a", a, 1, (int[]){ 4 }), -1);
        assert_said(odd[i].said);
        npz_close(r);
    }
}

static void test_odd_members(void **state)
{
    struct odd two[] = { { "abc.txt", "1", 1 }, { "abd.txt", "2", 1 } };
    char *text;
    size_t len;
    (void)state;
    zip_write(in_folder("odd.npz"), two, 2);
    struct npz_reader *r = npz_open(in_folder("odd.npz"));
    assert_int_equal(npz_get_text(r, "abc.txt", 1, &text, &len), 0);
    free(text);
    listen();
    assert_int_equal(npz_get_text(r, "abd.txt", 0, &text, &len), -1);
    assert_said("has 1 bytes, the limit is 0");
    listen();
    assert_int_equal(npz_finish(r, NULL), -1);
    assert_said("holds the text 'abd.txt'");
    assert_int_equal(npz_finish(r, "abd"), 0);
    listen();
    assert_int_equal(npz_get_text(r, "abe.txt", 1, &text, &len), -1);
    assert_said("has no text 'abe.txt'");
    assert_int_equal(npz_get_array(r, "abc", &(float){ 0 }, 0, NULL), -1);
    assert_said("has no array 'abc'");
    npz_close(r);

    replace(in_folder("odd.npz"), "abd.txt", "abc.txt", 7, 2);
    assert_null(npz_open(in_folder("odd.npz")));
}

/* The sizes a member declares are set to others, in both of its headers. */
static void test_lying_sizes(void **state)
{
    enum { REAL = 5 << 20 };
    static const uint32_t lies[] = { 0,        1,          REAL - 1,
                                     REAL + 1, 0x7FFFFFFF, 0xFFFFFFFE };
    char *zeros = xcalloc(REAL, 1);
    struct odd odd = { "t.txt", zeros, REAL };
    uint32_t real = REAL;
    char *text;
    size_t len;
    (void)state;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        zip_write(in_folder("odd.npz"), &odd, 1);
        replace(in_folder("odd.npz"), &real, &lies[i], 4, 2);
        listen();
        struct npz_reader *r = npz_open(in_folder("odd.npz"));
        if (r == NULL)
            continue;
        assert_int_equal(npz_get_text(r, "t.txt", REAL + 1, &text, &len), -1);
        npz_close(r);
    }
    free(zeros);
}

/* A small array which inflates to far more than its shape and size say. */
static void test_bomb(void **state)
{
    enum { BOMB = 20 << 20 };
    struct odd odd = array_file("a.npy", HEAD "(4,), }", BOMB);
    uint32_t real = (uint32_t)odd.len, lie = real - BOMB + 16;
    float a[4];
    (void)state;
    zip_write(in_folder("odd.npz"), &odd, 1);
    free((char *)(uintptr_t)odd.s);
    replace(in_folder("odd.npz"), &real, &lie, 4, 2);
    listen();
    struct npz_reader *r = npz_open(in_folder("odd.npz"));
    assert_non_null(r);
    assert_int_equal(npz_get_array(r, "a", a, 1, (int[]){ 4 }), -1);
    assert_said("is longer than it says");
    npz_close(r);
}

/* --- NumPy --- */

/* Runs the Python program with the folder as its argument; false when there
 * is no Python with NumPy. */
static bool python(const char *program)
{
    char command[4096];
    const char *name = getenv("PYTHON");
    if (name == NULL || *name == '\0')
        name = "/usr/bin/python3";
    snprintf(command, sizeof command, "'%s' -c 'import numpy' >/dev/null 2>&1",
             name);
    if (system(command) != 0) {
        print_message("# no Python with NumPy here\n");
        return false;
    }
    snprintf(command, sizeof command, "'%s' -c '%s' '%s' >&2", name, program,
             folder);
    listen();
    if (system(command) != 0)
        assert_said("nothing, but Python failed");
    return true;
}

static void test_numpy_reads(void **state)
{
    (void)state;
    save_model(in_folder("m.npz"));
    save_types(in_folder("t.npz"));
    if (!python("import sys, numpy as np\n"
                "m = np.load(sys.argv[1] + \"/m.npz\", allow_pickle=False)\n"
                "w = (np.arange(143) * 7919 + 13) % 1009\n"
                "w = w.astype(np.float32) / np.float32(503) - np.float32(1)\n"
                "assert m[\"encoder.0.W\"].dtype == np.dtype(\"<f4\")\n"
                "assert (m[\"encoder.0.W\"] == w.reshape(11, 13)).all()\n"
                "assert (m[\"encoder.0.b\"] == -w[:7]).all()\n"
                "assert m[\"scale\"].shape == () and m[\"scale\"] == 42.5\n"
                "assert m[\"empty\"].shape == (2, 0, 5)\n"
                "assert b\"hidden: 13\" in m[\"config.yaml\"]\n"
                "assert len(m.files) == 6\n"
                "t = np.load(sys.argv[1] + \"/t.npz\")\n"
                "i = np.arange(77)\n"
                "assert t[\"x\"].dtype == np.dtype(\"<u2\")\n"
                "assert t[\"q\"].dtype == np.int8\n"
                "x = (i * 40503 + 7) % 65536\n"
                "assert (t[\"x\"] == x.reshape(7, 11)).all()\n"
                "assert (t[\"q\"] == (i * 37).astype(np.int8)).all()\n"))
        return;
}

static void test_numpy_writes(void **state)
{
    static const char *const files[] = { "s.npz", "c.npz" };
    float a[12], s;
    int dims[NPZ_DIMS];
    enum npz_type type;
    (void)state;
    if (!python("import sys, numpy as np\n"
                "a = {\"a.b\": np.arange(12, dtype=\"f4\").reshape(3, 4),\n"
                "     \"s\": np.float32(3.5), \"d\": np.zeros(3),\n"
                "     \"f\": np.zeros((3, 4), dtype=\"f4\", order=\"F\")}\n"
                "np.savez(sys.argv[1] + \"/s.npz\", **a)\n"
                "np.savez_compressed(sys.argv[1] + \"/c.npz\", **a)\n"))
        return;
    for (int i = 0; i < 2; i++) {
        struct npz_reader *r = npz_open(in_folder(files[i]));
        assert_non_null(r);
        assert_int_equal(npz_get_array(r, "a.b", a, 2, (int[]){ 3, 4 }), 0);
        for (int k = 0; k < 12; k++)
            assert_true(a[k] == (float)k);
        assert_int_equal(npz_get_array(r, "s", &s, 0, NULL), 0);
        assert_true(s == 3.5f);
        listen();
        assert_int_equal(npz_shape(r, "d", &type, dims), -1);
        assert_said("array 'd' is not of type float32");
        assert_int_equal(npz_get_array(r, "f", a, 2, (int[]){ 3, 4 }), -1);
        assert_said("array 'f' is not in C order");
        npz_close(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_same_content_same_bytes),
        cmocka_unit_test(test_long_array),
        cmocka_unit_test(test_abort_leaves_nothing),
        cmocka_unit_test(test_write_before_commit),
        cmocka_unit_test(test_places_that_cannot_be_written),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_every_truncation_is_refused),
        cmocka_unit_test(test_every_flipped_bit_is_refused),
        cmocka_unit_test(test_flipped_bits_without_a_seal),
        cmocka_unit_test(test_added_bytes_are_refused),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_odd_arrays),
        cmocka_unit_test(test_odd_starts),
        cmocka_unit_test(test_odd_members),
        cmocka_unit_test(test_lying_sizes),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_numpy_reads),
        cmocka_unit_test(test_numpy_writes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
