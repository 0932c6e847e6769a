#include "tensor/npz.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "base/alloc.h"
#include "base/report.h"
#include "base/text.h"
#include "tensor/npy.h"
#include "tensor/npz_seal.h"
#include "tensor/npz_stream.h"

struct member {
    char *name; /* of an array without '.npy' */
    bool is_array;
    bool used;
    struct npz_entry entry;
    zip_uint64_t size; /* inflated, as it says */
};

struct npz_reader {
    char *path;
    zip_t *zip;
    pthread_mutex_t lock; /* of the zip */
    struct member *members;
    struct member **sorted; /* by name */
    int count;
};

static const char *kind(const struct member *m)
{
    return m->is_array ? "array" : "text";
}

/* --- opening --- */

static FILE *open_file(const char *path)
{
    struct stat st;
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        error("%s: cannot be opened: %s", path, strerror(errno));
        return NULL;
    }
    if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode))
        return file;
    error("%s: is not a regular file: a model file is needed", path);
    fclose(file);
    return NULL;
}

/* Says what is wrong with a file which is not a whole zip. */
static int not_a_model(const char *path, FILE *file, const char *why)
{
    char start[4] = "";
    bool zip = fseeko(file, 0, SEEK_SET) == 0 &&
               fread(start, 1, sizeof start, file) == sizeof start &&
               memcmp(start, "PK\3\4", sizeof start) == 0;

    if (zip)
        return error("%s: model file is incomplete or damaged: %s", path, why);
    return error("%s: is not a model file (.npz)", path);
}

static uint32_t get_32(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

/* Without a seal to prove that nothing was added: does the file begin with a
 * member, and end with the directory of members and the zip's last record,
 * without a comment? libzip takes a second file put behind the first. */
static bool is_tight(FILE *file)
{
    unsigned char start[4], end[22];

    if (fseeko(file, 0, SEEK_SET) < 0 ||
        fread(start, 1, sizeof start, file) != sizeof start ||
        fseeko(file, -(off_t)sizeof end, SEEK_END) < 0)
        return false;
    int64_t at = ftello(file);
    if (fread(end, 1, sizeof end, file) != sizeof end)
        return false;
    return memcmp(start, "PK\3\4", 4) == 0 && memcmp(end, "PK\5\6", 4) == 0 &&
           (int64_t)get_32(end + 12) + get_32(end + 16) == at;
}

static int check_whole(const char *path, FILE *file)
{
    switch (seal_check(file)) {
    case SEAL_ERROR:
        return failure("%s: cannot be read: %s", path, strerror(errno));
    case SEAL_WRONG:
        return not_a_model(path, file, "the checksum does not match");
    case SEAL_NONE:
        if (!is_tight(file))
            return not_a_model(path, file, "it does not end as it should");
        break;
    case SEAL_GOOD:
        break;
    }
    return 0;
}

/* libzip's view of the file, which from then on owns it. */
static zip_t *open_zip(const char *path, FILE *file)
{
    zip_error_t why;
    zip_t *zip = NULL;

    zip_error_init(&why);
    zip_source_t *source = zip_source_filep_create(file, 0, -1, &why);
    if (source != NULL)
        zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &why);
    if (zip == NULL) {
        not_a_model(path, file, zip_error_strerror(&why));
        if (source != NULL)
            zip_source_free(source);
        else
            fclose(file);
    }
    zip_error_fini(&why);
    return zip;
}

static int by_name(const void *a, const void *b)
{
    const struct member *x = *(struct member *const *)a;
    const struct member *y = *(struct member *const *)b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : x->is_array - y->is_array;
}

static struct member *member_find(const struct npz_reader *r, const char *name,
                                  bool is_array)
{
    struct member wanted = { .name = (char *)(uintptr_t)name,
                             .is_array = is_array };
    const struct member *key = &wanted;
    struct member **found = bsearch(&key, r->sorted, (size_t)r->count,
                                    sizeof *r->sorted, by_name);

    return found != NULL ? *found : NULL;
}

static int read_entry(struct npz_reader *r, zip_uint64_t index)
{
    static const char suffix[] = ".npy";
    const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE |
                                ZIP_STAT_COMP_METHOD |
                                ZIP_STAT_ENCRYPTION_METHOD | ZIP_STAT_CRC;
    struct member *m = &r->members[index];
    zip_stat_t st;

    if (zip_stat_index(r->zip, index, ZIP_FL_ENC_RAW, &st) < 0 ||
        (st.valid & needed) != needed)
        return error("%s: model file is damaged: its member %d cannot be read",
                     r->path, (int)index);
    size_t len = strlen(st.name);
    if (len == 0 || len > NPZ_NAME || utf8_valid_prefix(st.name, len) < len)
        return error("%s: the name of member %d is not one of a model file",
                     r->path, (int)index);
    if (st.encryption_method != ZIP_EM_NONE ||
        (st.comp_method != ZIP_CM_STORE && st.comp_method != ZIP_CM_DEFLATE))
        return error("%s: '%s' is encrypted, or compressed by other means than "
                     "deflate",
                     r->path, st.name);
    size_t stem = len - (sizeof suffix - 1);
    m->is_array = len >= sizeof suffix && strcmp(st.name + stem, suffix) == 0;
    m->name = xstrdup(st.name);
    if (m->is_array)
        m->name[stem] = '\0';
    m->entry = (struct npz_entry){
        .index = index,
        .crc = st.crc,
        .deflated = st.comp_method == ZIP_CM_DEFLATE,
    };
    m->size = st.size;
    return 0;
}

static int read_directory(struct npz_reader *r)
{
    zip_int64_t n = zip_get_num_entries(r->zip, 0);

    if (n > NPZ_MEMBERS)
        return error("%s: has more than %d members", r->path, NPZ_MEMBERS);
    r->count = (int)n;
    ARRAY_ZERO(r->members, r->count);
    ARRAY_ALLOC(r->sorted, r->count);
    for (int i = 0; i < r->count; i++) {
        r->sorted[i] = &r->members[i];
        if (read_entry(r, (zip_uint64_t)i) < 0)
            return -1;
    }
    qsort(r->sorted, (size_t)r->count, sizeof *r->sorted, by_name);
    for (int i = 1; i < r->count; i++)
        if (by_name(&r->sorted[i - 1], &r->sorted[i]) == 0)
            return error("%s: %s '%s' is there twice", r->path,
                         kind(r->sorted[i]), r->sorted[i]->name);
    return 0;
}

struct npz_reader *npz_open(const char *path)
{
    FILE *file = open_file(path);

    if (file == NULL)
        return NULL;
    if (check_whole(path, file) < 0) {
        fclose(file);
        return NULL;
    }
    struct npz_reader *r = ARRAY_ZERO(r, 1);
    r->path = xstrdup(path);
    pthread_mutex_init(&r->lock, NULL);
    r->zip = open_zip(path, file);
    if (r->zip == NULL || read_directory(r) < 0) {
        npz_close(r);
        return NULL;
    }
    return r;
}

void npz_close(struct npz_reader *r)
{
    if (r == NULL)
        return;
    for (int i = 0; r->members != NULL && i < r->count; i++)
        free(r->members[i].name);
    free(r->members);
    free(r->sorted);
    if (r->zip != NULL)
        zip_discard(r->zip);
    pthread_mutex_destroy(&r->lock);
    free(r->path);
    free(r);
}

/* --- reading a member --- */

static int missing(const struct npz_reader *r, const char *name, bool is_array)
{
    return error("%s: has no %s '%s'", r->path, is_array ? "array" : "text",
                 name);
}

static int damaged(const struct npz_reader *r, const struct member *m,
                   const char *why)
{
    return error("%s: model file is damaged: %s '%s': %s", r->path, kind(m),
                 m->name, why);
}

static int read_bytes(const struct npz_reader *r, const struct member *m,
                      struct npz_stream *in, void *out, size_t bytes)
{
    const char *wrong = npz_stream_read(in, out, bytes);

    return wrong != NULL ? damaged(r, m, wrong) : 0;
}

static int read_end(const struct npz_reader *r, const struct member *m,
                    struct npz_stream *in)
{
    const char *wrong = npz_stream_end(in);

    return wrong != NULL ? damaged(r, m, wrong) : 0;
}

static struct npz_stream *member_open(struct npz_reader *r,
                                      const struct member *m)
{
    struct npz_stream *in;
    const char *wrong = npz_stream_open(&in, r->zip, &r->lock, &m->entry);

    if (wrong == NULL)
        return in;
    damaged(r, m, wrong);
    npz_stream_close(in);
    return NULL;
}

/* Reads the header of an array and compares the member's size with it. */
static int read_shape(const struct npz_reader *r, const struct member *m,
                      struct npz_stream *in, struct npy_shape *shape)
{
    char header[NPY_HEADER];
    size_t count;

    if (m->size < NPY_START)
        return damaged(r, m, "it has no header");
    if (read_bytes(r, m, in, header, NPY_START) < 0)
        return -1;
    size_t length = npy_length(header);
    if (length == 0 || length > m->size)
        return error("%s: array '%s' has no header as NumPy writes it", r->path,
                     m->name);
    if (read_bytes(r, m, in, header + NPY_START, length - NPY_START) < 0)
        return -1;
    const char *wrong = npy_parse(header, length, shape);
    if (wrong != NULL)
        return error("%s: array '%s' %s", r->path, m->name, wrong);
    npy_count(shape, &count);
    if (m->size != length + count * npz_type_size(shape->type))
        return damaged(r, m, "its size does not fit its shape");
    return 0;
}

static void add_shape(struct text *t, const struct npy_shape *shape)
{
    text_adds(t, "[");
    for (int i = 0; i < shape->ndim; i++)
        text_addf(t, i > 0 ? ", %d" : "%d", shape->dims[i]);
    text_adds(t, "]");
}

static int wrong_shape(const struct npz_reader *r, const struct member *m,
                       const struct npy_shape *is, const struct npy_shape *want)
{
    struct text t = { 0 };

    add_shape(&t, is);
    text_adds(&t, ", expected ");
    add_shape(&t, want);
    error("%s: array '%s' has the shape %s", r->path, m->name, t.s);
    text_release(&t);
    return -1;
}

static bool same_shape(const struct npy_shape *a, const struct npy_shape *b)
{
    return a->ndim == b->ndim &&
           memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof *a->dims) == 0;
}

/* Compares type and shape with what is wanted. */
static int check_shape(const struct npz_reader *r, const struct member *m,
                       const struct npy_shape *is, const struct npy_shape *want)
{
    if (is->type != want->type)
        return error("%s: array '%s' is of type %s, expected %s", r->path,
                     m->name, npz_type_name(is->type),
                     npz_type_name(want->type));
    return same_shape(is, want) ? 0 : wrong_shape(r, m, is, want);
}

int npz_get(struct npz_reader *r, const char *name, enum npz_type type,
            void *out, int ndim, const int *dims)
{
    struct member *m = member_find(r, name, true);
    struct npy_shape is, want = { .type = type, .ndim = ndim };
    size_t count;
    int ret = -1;

    assert(ndim >= 0 && ndim <= NPZ_DIMS);
    if (ndim > 0)
        memcpy(want.dims, dims, (size_t)ndim * sizeof *dims);
    if (m == NULL)
        return missing(r, name, true);
    struct npz_stream *in = member_open(r, m);
    if (in == NULL)
        return -1;
    if (read_shape(r, m, in, &is) < 0 || check_shape(r, m, &is, &want) < 0)
        goto out;
    npy_count(&is, &count);
    if (read_bytes(r, m, in, out, count * npz_type_size(type)) < 0)
        goto out;
    ret = read_end(r, m, in);
    m->used = ret == 0;
out:
    npz_stream_close(in);
    return ret;
}

int npz_get_array(struct npz_reader *r, const char *name, float *out, int ndim,
                  const int *dims)
{
    return npz_get(r, name, NPZ_FLOAT32, out, ndim, dims);
}

int npz_get_text(struct npz_reader *r, const char *name, size_t limit,
                 char **text, size_t *len)
{
    struct member *m = member_find(r, name, false);
    char *s = NULL;
    int ret = -1;

    if (m == NULL)
        return missing(r, name, false);
    if (m->size > limit)
        return error("%s: text '%s' has %ju bytes, the limit is %zu", r->path,
                     name, (uintmax_t)m->size, limit);
    struct npz_stream *in = member_open(r, m);
    if (in == NULL)
        return -1;
    s = xmalloc((size_t)m->size + 1);
    if (read_bytes(r, m, in, s, (size_t)m->size) < 0 || read_end(r, m, in) < 0)
        goto out;
    s[m->size] = '\0';
    *text = s;
    *len = (size_t)m->size;
    s = NULL;
    m->used = true;
    ret = 0;
out:
    free(s);
    npz_stream_close(in);
    return ret;
}

/* --- looking around --- */

bool npz_has(const struct npz_reader *r, const char *name)
{
    return member_find(r, name, true) != NULL ||
           member_find(r, name, false) != NULL;
}

int npz_count(const struct npz_reader *r)
{
    return r->count;
}

const char *npz_name(const struct npz_reader *r, int i, bool *is_array)
{
    assert(i >= 0 && i < r->count);
    *is_array = r->members[i].is_array;
    return r->members[i].name;
}

int npz_shape(struct npz_reader *r, const char *name, enum npz_type *type,
              int dims[NPZ_DIMS])
{
    const struct member *m = member_find(r, name, true);
    struct npy_shape shape;

    if (m == NULL)
        return missing(r, name, true);
    struct npz_stream *in = member_open(r, m);
    if (in == NULL)
        return -1;
    int ret = read_shape(r, m, in, &shape);
    npz_stream_close(in);
    if (ret < 0)
        return -1;
    memcpy(dims, shape.dims, (size_t)shape.ndim * sizeof *dims);
    *type = shape.type;
    return shape.ndim;
}

int npz_finish(const struct npz_reader *r, const char *ignore_prefix)
{
    for (int i = 0; i < r->count; i++) {
        const struct member *m = &r->members[i];
        if (m->used)
            continue;
        if (ignore_prefix != NULL &&
            strncmp(m->name, ignore_prefix, strlen(ignore_prefix)) == 0)
            continue;
        return error("%s: holds the %s '%s', which does not belong to this "
                     "model",
                     r->path, kind(m), m->name);
    }
    return 0;
}

const char *npz_path(const struct npz_reader *r)
{
    return r->path;
}
