/* The line reader: where lines end, what is dropped, gzip in every state of
 * repair, long lines, dialogues over a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/rng.h"
#include "base/text.h"
#include "scratch.h"

/* Adds the lines as "[a][b]", then "!" if reading ended in an error. */
static void read_all(struct lines *in, struct text *out)
{
    char *line;
    size_t len, number = 0;
    int got;

    text_reset(out);
    text_adds(out, "");
    while ((got = lines_next(in, &line, &len)) > 0) {
        assert_int_equal(in->number, ++number);
        assert_int_equal(line[len], '\0');
        text_adds(out, "[");
        text_add(out, line, len);
        text_adds(out, "]");
        memset(line, '#', len); /* it is ours to write on */
    }
    for (int i = 0; i < 3; i++) /* the end is the end */
        assert_int_equal(lines_next(in, &line, &len), got);
    if (got < 0)
        text_adds(out, "!");
}

static void read_path(const char *path, struct text *out)
{
    struct lines in = { 0 };
    text_reset(out);
    if (lines_open(&in, path) < 0)
        text_adds(out, "cannot open");
    else
        read_all(&in, out);
    lines_release(&in);
}

/* From memory, a file and a gzip file the lines have to be those. */
static void check(const char *bytes, size_t len, const char *wanted,
                  size_t wanted_len)
{
    struct text got = { 0 };
    struct lines in;

    lines_open_text(&in, "memory", bytes, len);
    read_all(&in, &got);
    lines_release(&in);
    assert_int_equal(got.len, wanted_len);
    assert_memory_equal(got.s, wanted, wanted_len);

    read_path(scratch_file("plain", bytes, len), &got);
    assert_int_equal(got.len, wanted_len);
    assert_memory_equal(got.s, wanted, wanted_len);

    read_path(scratch_gzip("packed", bytes, len), &got);
    assert_int_equal(got.len, wanted_len);
    assert_memory_equal(got.s, wanted, wanted_len);
    text_release(&got);
}

/* ---- rule 1: line ends ---------------------------------------------------- */

static void test_line_ends(void **state)
{
    (void)state;
    check(BYTES(""), BYTES(""));
    check(BYTES("\n"), BYTES("[]"));
    check(BYTES("\n\n"), BYTES("[][]"));
    check(BYTES("a"), BYTES("[a]"));
    check(BYTES("a\n"), BYTES("[a]"));
    check(BYTES("a\nb"), BYTES("[a][b]"));
    check(BYTES("a\nb\n"), BYTES("[a][b]"));
    check(BYTES("a\n\nb\n\n"), BYTES("[a][][b][]"));
}

static void test_carriage_returns(void **state)
{
    (void)state;
    check(BYTES("a\r\nb\r\n"), BYTES("[a][b]"));
    check(BYTES("\r\n"), BYTES("[]"));
    check(BYTES("a\r\r\n"), BYTES("[a\r]")); /* one is dropped */
    check(BYTES("a\rb\n"), BYTES("[a\rb]")); /* ends no line */
    check(BYTES("a\n\rb\n"), BYTES("[a][\rb]"));
    check(BYTES("a\r"), BYTES("[a\r]")); /* not before 0x0A */
    check(BYTES("\r"), BYTES("[\r]"));
}

static void test_other_separators_end_no_line(void **state)
{
    (void)state;
    check(BYTES("a\xe2\x80\xa8"
                "b\xe2\x80\xa9"
                "c\xc2\x85"
                "d\ve\ff\x1c\x1d\x1e\n"),
          BYTES("[a\xe2\x80\xa8"
                "b\xe2\x80\xa9"
                "c\xc2\x85"
                "d\ve\ff\x1c\x1d\x1e]"));
}

static void test_any_byte_is_kept(void **state)
{
    (void)state;
    check(BYTES("a\0b\nc\0\n\0"), BYTES("[a\0b][c\0][\0]"));
    check(BYTES("\xff\xfe\x80\n\xc3"), BYTES("[\xff\xfe\x80][\xc3]"));
    check(BYTES(" a  \t b \n"), BYTES("[ a  \t b ]"));
}

/* ---- rule 3: the byte-order mark ------------------------------------------ */

#define BOM "\xef\xbb\xbf"

static void test_mark(void **state)
{
    (void)state;
    check(BYTES(BOM "a\nb\n"), BYTES("[a][b]"));
    check(BYTES(BOM), BYTES(""));
    check(BYTES(BOM "\n"), BYTES("[]"));
    check(BYTES(BOM "\r\n"), BYTES("[]"));
    check(BYTES(BOM BOM "a\n"), BYTES("[" BOM "a]")); /* only one */
    check(BYTES("a\n" BOM "b\n"), BYTES("[a][" BOM "b]"));
    check(BYTES("\n" BOM "b\n"), BYTES("[][" BOM "b]"));
    check(BYTES("\xef\xbb\n"), BYTES("[\xef\xbb]")); /* not all of it */
    check(BYTES("\xef\xbb"), BYTES("[\xef\xbb]"));
    check(BYTES("\xef\n\xbb\xbf"), BYTES("[\xef][\xbb\xbf]"));
}

/* ---- against a second splitter -------------------------------------------- */

static void split(const char *s, size_t len, struct text *out)
{
    const char *end = s + len;
    text_reset(out);
    text_adds(out, "");
    if (len >= 3 && memcmp(s, BOM, 3) == 0)
        s += 3;
    while (s < end) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        size_t n = (size_t)((stop != NULL ? stop : end) - s);
        bool drop = stop != NULL && n > 0 && s[n - 1] == '\r';
        text_adds(out, "[");
        text_add(out, s, n - drop);
        text_adds(out, "]");
        s += n + 1;
    }
}

static size_t random_bytes(char *bytes, size_t most, struct rng_key key,
                           uint64_t *draw)
{
    static const char letters[] = "a\n\r \xef\xbb\xbf\0\x1f";
    size_t len = rng_below(most, key, (*draw)++);
    size_t kinds = 1 + rng_below(sizeof letters - 1, key, (*draw)++);
    for (size_t i = 0; i < len; i++)
        bytes[i] = letters[rng_below(kinds, key, (*draw)++)];
    if (len >= 3 && rng_below(4, key, (*draw)++) == 0)
        memcpy(bytes, BOM, 3);
    return len;
}

static void test_random_texts(void **state)
{
    struct rng_key key = rng_key(1, RNG_DEMO, 0);
    struct text wanted = { 0 };
    char bytes[300];
    uint64_t draw = 0;
    (void)state;
    for (int round = 0; round < 600; round++) {
        size_t len = random_bytes(bytes, round % 2 ? 12 : 300, key, &draw);
        split(bytes, len, &wanted);
        check(bytes, len, wanted.s, wanted.len);
    }
    text_release(&wanted);
}

/* Lines of all lengths around the size of the buffer, then random large ones. */
static void test_lines_around_the_buffer(void **state)
{
    struct text bytes = { 0 }, wanted = { 0 };
    (void)state;
    for (size_t n = 65530; n < 65542; n++) {
        text_reset(&bytes);
        for (size_t i = 0; i < 5; i++) {
            for (size_t k = 0; k < n - i; k++)
                text_add(&bytes, &"abcdefg"[k % 7], 1);
            text_adds(&bytes, i % 2 ? "\r\n" : "\n");
        }
        split(bytes.s, bytes.len, &wanted);
        check(bytes.s, bytes.len, wanted.s, wanted.len);
    }
    text_reset(&bytes);
    for (uint64_t i = 0; i < 60; i++) {
        uint64_t n = rng_bits(1, RNG_DEMO, 1, i) % 200000 >> i % 16;
        for (uint64_t k = 0; k < n; k++)
            text_add(&bytes, &"abcdefg"[(k + i) % 7], 1);
        text_adds(&bytes, "\n");
    }
    split(bytes.s, bytes.len, &wanted);
    check(bytes.s, bytes.len, wanted.s, wanted.len);
    text_release(&bytes);
    text_release(&wanted);
}

/* ---- offsets --------------------------------------------------------------- */

static void test_offsets(void **state)
{
    struct text bytes = { 0 };
    struct lines in;
    char *line;
    size_t len;
    (void)state;
    text_adds(&bytes, BOM);
    for (int i = 0; i < 50000; i++) {
        if (i % 3 == 0)
            text_adds(&bytes, "\r");
        text_addf(&bytes, "%zu\n", bytes.len);
    }
    assert_int_equal(lines_open(&in, scratch_file("f", bytes.s, bytes.len)), 0);
    while (lines_next(&in, &line, &len) > 0)
        assert_int_equal(strtoul(line + (line[0] == '\r'), NULL, 10),
                         in.offset + (line[0] == '\r'));
    assert_int_equal(in.number, 50000);
    lines_release(&in);
    text_release(&bytes);
}

/* ---- what cannot be opened ------------------------------------------------- */

static void check_cannot_open(const char *path, const char *why)
{
    struct lines in;
    capture_start();
    assert_int_equal(lines_open(&in, path), -1);
    const char *said = capture_stop();
    assert_holds(said, path);
    assert_holds(said, why);
    lines_release(&in);
}

static void test_cannot_open(void **state)
{
    (void)state;
    check_cannot_open(scratch_path("missing"), "No such file");
    check_cannot_open(scratch_path("no/such/folder"), "No such file");
    const char *folder = scratch_path("folder");
    mkdir(folder, 0700);
    check_cannot_open(folder, "is a folder");
    const char *inside = scratch_path("plain/file");
    scratch_text("plain", "x");
    check_cannot_open(inside, "Not a directory");
    if (geteuid() != 0) {
        const char *locked = scratch_text("locked", "a\n");
        chmod(locked, 0);
        check_cannot_open(locked, "Permission denied");
    }
}

static void test_zeroed_can_be_released(void **state)
{
    struct lines in = { 0 };
    char *line;
    size_t len;
    (void)state;
    assert_int_equal(lines_next(&in, &line, &len), 0);
    assert_true(lines_pending(&in));
    lines_release(&in);
    lines_release(&in);
}

static void test_read_error(void **state)
{
    struct lines in;
    char *line;
    size_t len;
    (void)state;
    assert_int_equal(lines_open(&in, scratch_text("f", "a\n")), 0);
    int other = open("/dev/null", O_WRONLY); /* cannot be read from */
    dup2(other, in.file - 1);
    close(other);
    capture_start();
    assert_int_equal(lines_next(&in, &line, &len), -1);
    assert_int_equal(lines_next(&in, &line, &len), -1);
    const char *said = capture_stop();
    assert_holds(said, "cannot read: Bad file descriptor");
    assert_ptr_equal(strchr(said, '\n'), strrchr(said, '\n')); /* said once */
    lines_release(&in);
}

static void test_rereadable(void **state)
{
    const char *pipe_path = scratch_path("pipe");
    (void)state;
    assert_int_equal(lines_rereadable(scratch_text("f", "a\n")), 0);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    capture_start();
    assert_int_equal(lines_rereadable(pipe_path), -1);
    assert_int_equal(lines_rereadable("-"), -1);
    assert_int_equal(lines_rereadable(scratch_path("missing")), -1);
    assert_int_equal(lines_rereadable(scratch_path(".")), -1);
    const char *said = capture_stop();
    assert_holds(said, "pipe: cannot be read twice, give a regular file");
    assert_holds(said, "stdin: cannot be read twice");
    assert_holds(said, "missing: cannot open: No such file");
    assert_holds(said, "is a folder");
}

/* ---- gzip ------------------------------------------------------------------- */

static const char sample[] =
    "hello world\nsecond line \xc3\xa4\r\n\nlast, open";
#define SAMPLE_LINES "[hello world][second line \xc3\xa4][][last, open]"

/* Reads a broken file: its lines and "!", said once, with the word. */
static void check_broken(const char *name, const char *bytes, size_t len,
                         const char *word)
{
    struct text got = { 0 };
    const char *path = scratch_file(name, bytes, len);
    capture_start();
    read_path(path, &got);
    const char *said = capture_stop();
    if (got.len == 0 || got.s[got.len - 1] != '!')
        fail_msg("%zu bytes read as '%s'", len, got.s);
    assert_holds(said, path);
    assert_holds(said, word);
    assert_ptr_equal(strchr(said, '\n'), strrchr(said, '\n'));
    text_release(&got);
}

static void test_gzip_names_do_not_matter(void **state)
{
    struct text got = { 0 };
    (void)state;
    read_path(scratch_gzip("a.txt", BYTES(sample)), &got);
    assert_string_equal(got.s, SAMPLE_LINES);
    read_path(scratch_gzip("a.gz", BYTES(sample)), &got);
    assert_string_equal(got.s, SAMPLE_LINES);
    read_path(scratch_text("plain.gz", sample), &got);
    assert_string_equal(got.s, SAMPLE_LINES);
    text_release(&got);
}

static void test_gzip_cut_at_every_byte(void **state)
{
    char *packed;
    size_t len = scratch_deflate(BYTES(sample), &packed);
    (void)state;
    for (size_t n = 0; n < len; n++)
        check_broken("cut.gz", packed, n, "cut short");
    /* without the name, two bytes are needed to know it for gzip */
    for (size_t n = 2; n < len; n++)
        check_broken("cut.txt", packed, n, "cut short");
    free(packed);
}

static void test_gzip_cut_in_a_large_file(void **state)
{
    struct text bytes = { 0 };
    char *packed;
    (void)state;
    for (uint64_t i = 0; i < 60000; i++)
        text_addf(&bytes, "%lx\n", (long)rng_bits(1, RNG_DEMO, 0, i));
    size_t len = scratch_deflate(bytes.s, bytes.len, &packed);
    assert_true(len > 4 * 65536); /* several times the buffer of the reader */
    static const size_t left_out[] = { 1, 8, 9, 1000, 65536, 131072, 262144 };
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        check_broken("cut.gz", packed, len - left_out[i], "cut short");
    for (size_t n = 65535; n <= 65537; n++)
        check_broken("cut.gz", packed, n, "cut short");
    free(packed);
    text_release(&bytes);
}

static void test_gzip_rubbish_after(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } rubbish[] = {
        { BYTES("\0") },
        { BYTES("\n") },
        { BYTES("rubbish") },
        { BYTES("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0") },
        { BYTES("\x1f") },
        { BYTES("\x1f\x8b") },
        { BYTES("\x1f\x8b\x08") },
        { BYTES("\x1f\x8c\x08") },
    };
    char *packed;
    size_t len = scratch_deflate(BYTES(sample), &packed);
    (void)state;
    for (size_t i = 0; i < sizeof rubbish / sizeof *rubbish; i++) {
        struct text t = { 0 };
        text_add(&t, packed, len);
        text_add(&t, rubbish[i].bytes, rubbish[i].len);
        check_broken("rubbish.gz", t.s, t.len, "gz");
        text_release(&t);
    }
    struct text t = { 0 };
    text_add(&t, packed, len);
    text_adds(&t, "rubbish");
    check_broken("rubbish.gz", t.s, t.len, "something else follows");
    text_release(&t);
    free(packed);
}

static void test_gzip_members(void **state)
{
    struct text t = { 0 }, got = { 0 };
    char *first, *empty, *last;
    size_t n = scratch_deflate(BYTES("a\nb"), &first);
    size_t m = scratch_deflate(BYTES(""), &empty);
    size_t k = scratch_deflate(BYTES("c\nd\n"), &last);
    (void)state;
    text_add(&t, empty, m);
    text_add(&t, first, n);
    text_add(&t, empty, m);
    text_add(&t, last, k);
    text_add(&t, empty, m);
    read_path(scratch_file("members", t.s, t.len), &got);
    assert_string_equal(got.s, "[a][bc][d]");

    for (size_t cut = 2; cut < t.len; cut++) {
        if (cut == m || cut == m + n || cut == 2 * m + n ||
            cut == 2 * m + n + k)
            continue; /* between two members it is whole */
        check_broken("members", t.s, cut, "cut short");
    }
    free(first);
    free(empty);
    free(last);
    text_release(&t);
    text_release(&got);
}

/* A member that ends just where the reader's buffer of 64 KiB does. */
static void test_gzip_members_at_the_buffer(void **state)
{
    (void)state;
    for (size_t fill = 65480; fill < 65540; fill++) {
        /* stored blocks: noise is not compressible, so sizes are in our hand */
        struct text noise = { 0 }, t = { 0 }, got = { 0 };
        char *packed, *more;
        for (size_t i = 0; noise.len < fill; i++) {
            char c = (char)(rng_bits(1, RNG_DEMO, 2, i) | 0x80);
            text_add(&noise, &c, 1);
        }
        size_t n = scratch_deflate(noise.s, noise.len, &packed);
        size_t m = scratch_deflate(BYTES("\nb\n"), &more);
        text_add(&t, packed, n);
        text_add(&t, more, m);
        read_path(scratch_file("members", t.s, t.len), &got);
        assert_int_equal(got.len, fill + 5);
        assert_string_equal(got.s + fill + 1, "][b]");
        free(packed);
        free(more);
        text_release(&noise);
        text_release(&t);
        text_release(&got);
    }
}

/* Whatever bit is wrong: an error, or (time stamp and system in the header, the
 * bits that fill the last byte of the data) one that means nothing. Only when
 * the first three bytes are hit is it no gzip any more. */
static void test_gzip_flipped_bits(void **state)
{
    struct text got = { 0 };
    char *packed;
    size_t len = scratch_deflate(BYTES(sample), &packed);
    int harmless = 0;
    (void)state;
    for (size_t bit = 24; bit < 8 * len; bit++) {
        packed[bit / 8] ^= (char)(1 << bit % 8);
        capture_start();
        read_path(scratch_file("flip.gz", packed, len), &got);
        capture_stop();
        if (got.s[got.len - 1] != '!') {
            assert_string_equal(got.s, SAMPLE_LINES);
            assert_true(bit < 80 || bit >= 8 * (len - 9));
            harmless++;
        }
        packed[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_true(harmless <= 56 + 7);
    free(packed);
    text_release(&got);
}

/* Bytes that look like the beginning of gzip but are a line. */
static void test_no_gzip(void **state)
{
    struct text got = { 0 };
    (void)state;
    read_path(scratch_file("f", BYTES("\x1f\x8b\n")), &got);
    assert_string_equal(got.s, "[\x1f\x8b]");
    read_path(scratch_file("f", BYTES("\x1f\n")), &got);
    assert_string_equal(got.s, "[\x1f]");
    read_path(scratch_file("f", BYTES("\x1f")), &got);
    assert_string_equal(got.s, "[\x1f]");
    read_path(scratch_file("f", BYTES("")), &got);
    assert_string_equal(got.s, "");
    text_release(&got);
}

/* ---- long lines -------------------------------------------------------------- */

enum { LIMIT = 40 }; /* instead of 64 MiB */

/* Reads the line, `end`, and a second line: how many bytes are left of the
 * first, and whether it was cut. */
static size_t read_long_line(const struct text *first, const char *end,
                             const char *path, bool *cut)
{
    struct text t = { 0 };
    struct lines in;
    char *line;
    size_t left, len;
    text_addf(&t, "%s%s\nnext", first->s, end);
    if (path != NULL)
        assert_int_equal(lines_open(&in, scratch_file(path, t.s, t.len)), 0);
    else
        lines_open_text(&in, "memory", t.s, t.len);
    in.limit = LIMIT;

    capture_start();
    assert_int_equal(lines_next(&in, &line, &left), 1);
    const char *said = capture_stop();
    *cut = in.cut;
    if (*cut)
        assert_holds(said, ":1: a line longer than 40 bytes");
    else
        assert_string_equal(said, "");
    assert_int_equal(strlen(line), left);
    assert_memory_equal(line, first->s, left);

    assert_int_equal(lines_next(&in, &line, &len), 1); /* undisturbed */
    assert_string_equal(line, "next");
    assert_int_equal(in.number, 2);
    assert_int_equal(in.offset, t.len - 4);
    assert_false(in.cut);
    assert_int_equal(lines_next(&in, &line, &len), 0);
    lines_release(&in);
    text_release(&t);
    return left;
}

/* What has to be left: the whole characters within the limit. */
static size_t whole_characters(const struct text *t)
{
    size_t len = t->len < LIMIT ? t->len : LIMIT;
    while (len < t->len && ((unsigned char)t->s[len] & 0xc0) == 0x80)
        len--;
    return len;
}

static void test_long_lines(void **state)
{
    static const char *const pieces[] = { "", "\xc3\xa4", "\xe2\x80\xa8",
                                          "\xf0\x9f\x98\x80" };
    (void)state;
    for (size_t before = LIMIT - 6; before <= LIMIT + 3; before++) {
        for (int i = 0; i < 4 * 5 * 2; i++) {
            struct text t = { 0 };
            bool cut;
            size_t after = (size_t)(i / 4 % 5 < 4 ? i / 4 % 5 : 200000);
            for (size_t k = 0; k < before; k++)
                text_adds(&t, "a");
            text_adds(&t, pieces[i % 4]);
            for (size_t k = 0; k < after; k++)
                text_adds(&t, "b");
            size_t left = read_long_line(&t, i < 20 ? "" : "\r",
                                         after > 4 ? "long" : NULL, &cut);
            assert_int_equal(left, whole_characters(&t));
            assert_int_equal(cut, t.len > LIMIT);
            text_release(&t);
        }
    }
}

/* A line that never ends, out of a few bytes: gzip, beyond the real limit. */
static void test_endless_line(void **state)
{
    struct text t = { 0 };
    struct lines in;
    char *packed, *line, *zeros = xcalloc(1, (size_t)16 << 20);
    size_t len, n = scratch_deflate(zeros, (size_t)16 << 20, &packed);
    (void)state;
    for (int i = 0; i < 6; i++) /* 96 MiB */
        text_add(&t, packed, n);
    assert_int_equal(lines_open(&in, scratch_file("bomb", t.s, t.len)), 0);
    capture_start();
    assert_int_equal(lines_next(&in, &line, &len), 1);
    capture_stop();
    assert_true(in.cut);
    assert_int_equal(len, LINES_LIMIT);
    assert_int_equal(lines_next(&in, &line, &len), 0);
    assert_true(in.cap <= LINES_LIMIT + 65536);
    lines_release(&in);
    free(zeros);
    free(packed);
    text_release(&t);
}

/* ---- dialogues ---------------------------------------------------------------- */

/* Makes stdin the reading end of a pipe; returns the writing end. */
static int pipe_to_stdin(int *old)
{
    int ends[2];
    *old = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    return ends[1];
}

static void restore_stdin(int old)
{
    dup2(old, STDIN_FILENO);
    close(old);
}

static void say(int fd, const char *words)
{
    assert_int_equal(write(fd, words, strlen(words)), strlen(words));
}

static void expect(struct lines *in, const char *wanted)
{
    char *line;
    size_t len;
    assert_int_equal(lines_next(in, &line, &len), 1);
    assert_string_equal(line, wanted);
}

static void test_dialogue(void **state)
{
    struct lines in;
    char *line;
    size_t len;
    int old, to = pipe_to_stdin(&old);
    (void)state;
    assert_int_equal(lines_open(&in, "-"), 0);
    assert_false(lines_pending(&in));
    assert_false(lines_ready(&in, 0));
    say(to, "on");
    assert_false(lines_ready(&in, 0));
    say(to, "e\n");
    assert_false(lines_pending(&in)); /* reads nothing */
    assert_true(lines_ready(&in, 0));
    assert_true(lines_pending(&in));
    expect(&in, "one"); /* does not wait for more */
    assert_false(lines_ready(&in, 0));

    say(to, "two\nthree\nfo");
    expect(&in, "two");
    assert_true(lines_pending(&in));
    expect(&in, "three");
    assert_false(lines_pending(&in));
    say(to, "ur");
    close(to);
    assert_true(lines_ready(&in, 0)); /* the end makes it a line */
    expect(&in, "four");
    assert_true(lines_pending(&in));
    assert_int_equal(lines_next(&in, &line, &len), 0);
    assert_string_equal(in.name, "stdin");
    lines_release(&in);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* is not ours to close */
    restore_stdin(old);
}

static void test_ready_waits(void **state)
{
    struct lines in;
    int old, to = pipe_to_stdin(&old);
    (void)state;
    assert_int_equal(lines_open(&in, "-"), 0);
    double start = clock_seconds();
    assert_false(lines_ready(&in, 60));
    assert_true(clock_seconds() - start >= 0.055);
    say(to, "x\n");
    start = clock_seconds();
    assert_true(lines_ready(&in, 10000));
    assert_true(clock_seconds() - start < 5);
    close(to);
    lines_release(&in);
    restore_stdin(old);
}

static void test_not_blocking_stdin(void **state)
{
    struct lines in;
    int old, to = pipe_to_stdin(&old);
    (void)state;
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    say(to, "a\nb");
    assert_int_equal(lines_open(&in, "-"), 0);
    expect(&in, "a");
    assert_false(lines_ready(&in, 0));
    say(to, "\n");
    expect(&in, "b");
    close(to);
    lines_release(&in);
    restore_stdin(old);
}

static void test_long_text_is_ready(void **state)
{
    struct lines in;
    int old, to = pipe_to_stdin(&old);
    char wanted[16];
    (void)state;
    for (int i = 0; i < 5000; i++) {
        snprintf(wanted, sizeof wanted, "%d\n", i);
        say(to, wanted);
    }
    close(to);
    assert_int_equal(lines_open(&in, "-"), 0);
    for (int i = 0; i < 5000; i++) {
        snprintf(wanted, sizeof wanted, "%d", i);
        assert_true(lines_ready(&in, 0));
        expect(&in, wanted);
    }
    lines_release(&in);
    restore_stdin(old);
}

/* A writer that gives pieces of random sizes. */
struct writer {
    int fd;
    const char *bytes;
    size_t len;
    uint64_t round;
};

static void *write_pieces(void *arg)
{
    struct writer *w = arg;
    for (uint64_t i = 0; w->len > 0; i++) {
        size_t n = 1 + rng_bits(1, RNG_DEMO, w->round, i) % 5;
        if (n > w->len)
            n = w->len;
        ssize_t done = write(w->fd, w->bytes, n);
        if (done != (ssize_t)n)
            break;
        w->bytes += n;
        w->len -= n;
        if (i % 16 == 0)
            sched_yield();
    }
    close(w->fd);
    return NULL;
}

static void check_pieces(const char *bytes, size_t len, uint64_t round,
                         const struct text *wanted)
{
    struct text got = { 0 };
    pthread_t thread;
    int old;
    struct writer w = { pipe_to_stdin(&old), bytes, len, round };
    pthread_create(&thread, NULL, write_pieces, &w);
    read_path("-", &got);
    pthread_join(thread, NULL);
    restore_stdin(old);
    assert_int_equal(got.len, wanted->len);
    assert_memory_equal(got.s, wanted->s, wanted->len);
    text_release(&got);
}

static void test_pieces_through_a_pipe(void **state)
{
    struct rng_key key = rng_key(2, RNG_DEMO, 0);
    struct text wanted = { 0 };
    char bytes[300], *packed;
    uint64_t draw = 0;
    (void)state;
    for (uint64_t round = 0; round < 200; round++) {
        size_t len = random_bytes(bytes, 300, key, &draw);
        split(bytes, len, &wanted);
        check_pieces(bytes, len, round, &wanted);
        size_t packed_len = scratch_deflate(bytes, len, &packed);
        check_pieces(packed, packed_len, round, &wanted);
        free(packed);
    }
    text_release(&wanted);
}

/* ---- rule 4: checking ----------------------------------------------------------- */

/* What lines_check() says of the first bad line, or "". */
static const char *fault_of(const char *bytes, size_t len)
{
    struct lines in;
    char *line;
    size_t n;
    int ret = 0;
    assert_int_equal(lines_open(&in, scratch_file("f", bytes, len)), 0);
    capture_start();
    while (ret == 0 && lines_next(&in, &line, &n) > 0)
        ret = lines_check(&in, line, n);
    const char *said = capture_stop();
    assert_int_equal(ret, said[0] == '\0' ? 0 : -1);
    lines_release(&in);
    return said;
}

static void test_check(void **state)
{
    (void)state;
    assert_string_equal(fault_of(BYTES("a\n\xc3\xa4 \xf0\x9f\x98\x80\n")), "");
    assert_holds(fault_of(BYTES("a \xe9 b\n")),
                 "f:1: byte offset 2 (2 in the file): not UTF-8");
    assert_holds(fault_of(BYTES("a\r\nbc\xff\n")),
                 "f:2: byte offset 2 (5 in the file): not UTF-8");
    assert_holds(fault_of(BYTES(BOM "a\xff\n")),
                 "f:1: byte offset 1 (4 in the file): not UTF-8");
    assert_holds(fault_of(BYTES("a\nb\0c\n")),
                 "f:2: byte offset 1 (3 in the file): a NUL byte");
    assert_holds(fault_of(BYTES("\xc0\x80\n")), "f:1: byte offset 0");
    assert_holds(fault_of(BYTES("\xed\xa0\x80\n")), "f:1: byte offset 0");
    assert_holds(fault_of(BYTES("\xf5\x80\x80\x80\n")), "f:1: byte offset 0");
    assert_holds(fault_of(BYTES("a\xe2\x82\nb\n")),
                 "f:1: byte offset 1"); /* cut at the end of the line */
    assert_holds(fault_of(BYTES("a\nb\xe2\x82")),
                 "f:2: byte offset 1"); /* and of the file */
    assert_holds(fault_of(BYTES("\xff\xfe"
                                "a\0\n\0")),
                 "f:1: byte offset 0: not UTF-8 but UTF-16");
    assert_holds(fault_of(BYTES("\xfe\xff\0a\0\n")),
                 "f:1: byte offset 0: not UTF-8 but UTF-16");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line_ends),
        cmocka_unit_test(test_carriage_returns),
        cmocka_unit_test(test_other_separators_end_no_line),
        cmocka_unit_test(test_any_byte_is_kept),
        cmocka_unit_test(test_mark),
        cmocka_unit_test(test_random_texts),
        cmocka_unit_test(test_lines_around_the_buffer),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_cannot_open),
        cmocka_unit_test(test_zeroed_can_be_released),
        cmocka_unit_test(test_read_error),
        cmocka_unit_test(test_rereadable),
        cmocka_unit_test(test_gzip_names_do_not_matter),
        cmocka_unit_test(test_gzip_cut_at_every_byte),
        cmocka_unit_test(test_gzip_cut_in_a_large_file),
        cmocka_unit_test(test_gzip_rubbish_after),
        cmocka_unit_test(test_gzip_members),
        cmocka_unit_test(test_gzip_members_at_the_buffer),
        cmocka_unit_test(test_gzip_flipped_bits),
        cmocka_unit_test(test_no_gzip),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_dialogue),
        cmocka_unit_test(test_ready_waits),
        cmocka_unit_test(test_not_blocking_stdin),
        cmocka_unit_test(test_long_text_is_ready),
        cmocka_unit_test(test_pieces_through_a_pipe),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
