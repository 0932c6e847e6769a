#include "model/model_file.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/report.h"
#include "base/workers.h"
#include "model/model.h"
#include "tensor/quantize.h"
#include "tensor/vec.h"

/* Most bytes of config.yaml and progress.yaml, and of a vocabulary. */
#define TEXT_LIMIT ((size_t)1 << 20)
#define VOCAB_TEXT_LIMIT ((size_t)1 << 32)

void model_texts_release(struct model_texts *t)
{
    free(t->config);
    free(t->source_vocab);
    free(t->target_vocab);
    free(t->progress);
    memset(t, 0, sizeof(*t));
}

int model_file_put_texts(struct npz_writer *w, const struct model_texts *t)
{
    if (npz_put_text(w, "config.yaml", t->config, t->config_len) < 0 ||
        npz_put_text(w, "source.vocab", t->source_vocab, t->source_vocab_len) <
            0 ||
        npz_put_text(w, "target.vocab", t->target_vocab, t->target_vocab_len) <
            0)
        return -1;
    return npz_put_text(w, "progress.yaml", t->progress, t->progress_len);
}

int model_file_get_texts(struct npz_reader *r, struct model_texts *t)
{
    memset(t, 0, sizeof(*t));
    if (npz_get_text(r, "config.yaml", TEXT_LIMIT, &t->config, &t->config_len) <
            0 ||
        npz_get_text(r, "source.vocab", VOCAB_TEXT_LIMIT, &t->source_vocab,
                     &t->source_vocab_len) < 0 ||
        npz_get_text(r, "target.vocab", VOCAB_TEXT_LIMIT, &t->target_vocab,
                     &t->target_vocab_len) < 0)
        return -1;
    return npz_get_text(r, "progress.yaml", TEXT_LIMIT, &t->progress,
                        &t->progress_len);
}

/* --- precisions --------------------------------------------------------- */

/* The array with the numbers of a matrix. */
static const struct form {
    const char *suffix; /* of its name */
    enum npz_type type;
} forms[PRECISIONS] = {
    [PRECISION_FP32] = { "", NPZ_FLOAT32 },
    [PRECISION_BF16] = { ".bf16", NPZ_UINT16 },
    [PRECISION_INT8] = { ".int8", NPZ_INT8 },
};

/* What is rounded: vectors are few numbers, and add up with others. */
static bool is_matrix(const struct param *p)
{
    return p->rows > 1 && p->cols > 1;
}

static enum precision form_of(const struct param *p, enum precision precision)
{
    return is_matrix(p) ? precision : PRECISION_FP32;
}

/* Embeddings are read by rows (and, tied, turned to the output layer's
 * columns). */
static bool scaled_by_rows(const struct param *p)
{
    return p->init == INIT_EMBEDDING;
}

static int scales(const struct param *p)
{
    return scaled_by_rows(p) ? p->rows : p->cols;
}

/* A parameter of one row is a vector in the file. */
static int shape(const struct param *p, int dims[2])
{
    dims[0] = p->rows == 1 ? p->cols : p->rows;
    dims[1] = p->cols;
    return p->rows == 1 ? 1 : 2;
}

/* --- writing ------------------------------------------------------------ */

int model_file_put_params(struct npz_writer *w, const struct params *p,
                          const char *prefix, const float *values)
{
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        int dims[2], ndim = shape(one, dims);
        char *name = xasprintf("%s%s", prefix, one->name);
        int got = npz_put_array(w, name, values + one->offset, ndim, dims);
        free(name);
        if (got < 0)
            return -1;
    }
    return 0;
}

/* Puts NAMEsuffix; the data is taken over. */
static int put(struct npz_writer *w, const char *name, const char *suffix,
               enum npz_type type, void *data, int ndim, const int *dims)
{
    char *whole = xasprintf("%s%s", name, suffix);
    int got = npz_put_owned(w, whole, type, data, ndim, dims);
    free(whole);
    return got;
}

static int put_bf16(struct npz_writer *w, const struct param *p,
                    const float *values)
{
    uint16_t *x = xaligned(array_bytes(param_size(p), sizeof(*x)));
    bf16_from_floats(x, values, param_size(p));
    for (size_t i = 0; i < param_size(p); i++)
        if ((x[i] & 0x7F80) == 0x7F80) {
            free(x);
            return error("'%s' holds a number too large for bf16", p->name);
        }
    return put(w, p->name, ".bf16", NPZ_UINT16, x, 2,
               (int[]){ p->rows, p->cols });
}

static int put_int8(struct npz_writer *w, const struct param *p,
                    const float *values)
{
    int n = scales(p);
    int8_t *q = xaligned(param_size(p));
    float *scale = ARRAY_ALLOC(scale, (size_t)n);
    if (scaled_by_rows(p))
        quantize_rows(q, scale, values, p->rows, p->cols);
    else
        quantize_columns(q, scale, values, p->rows, p->cols);
    int got = put(w, p->name, ".int8", NPZ_INT8, q, 2,
                  (int[]){ p->rows, p->cols });
    if (got == 0)
        return put(w, p->name, ".scale", NPZ_FLOAT32, scale, 1, &n);
    free(scale);
    return got;
}

static int put_float(struct npz_writer *w, const struct param *p,
                     const float *values)
{
    int dims[2], ndim = shape(p, dims);
    return npz_put_array(w, p->name, values, ndim, dims);
}

typedef int put_fn(struct npz_writer *w, const struct param *p,
                   const float *values);

int model_file_put_rounded(struct npz_writer *w, const struct params *p,
                           enum precision precision)
{
    static put_fn *const put_in[] = { put_float, put_bf16, put_int8 };
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        if (put_in[form_of(one, precision)](w, one, p->values + one->offset) <
            0)
            return -1;
    }
    return 0;
}

/* --- reading ------------------------------------------------------------ */

/* That of the first matrix; all others must be like it. */
static enum precision stored(const struct npz_reader *r, const struct params *p)
{
    enum precision found = PRECISION_FP32;
    for (int i = 0; i < p->count && found == PRECISION_FP32; i++)
        for (int f = PRECISION_BF16; f < PRECISIONS && is_matrix(&p->list[i]);
             f++) {
            char *name = xasprintf("%s%s", p->list[i].name, forms[f].suffix);
            if (npz_has(r, name))
                found = (enum precision)f;
            free(name);
        }
    return found;
}

static int get_bf16(struct npz_reader *r, const struct param *p,
                    const char *name, float *values)
{
    uint16_t *x = xaligned(array_bytes(param_size(p), sizeof(*x)));
    int got = npz_get(r, name, NPZ_UINT16, x, 2, (int[]){ p->rows, p->cols });
    if (got == 0)
        bf16_to_floats(values, x, param_size(p));
    free(x);
    return got;
}

static int get_scale(struct npz_reader *r, const struct param *p, float *scale)
{
    int n = scales(p);
    char *name = xasprintf("%s.scale", p->name);
    int got = npz_get_array(r, name, scale, 1, &n);
    for (int i = 0; got == 0 && i < n; i++)
        if (!isfinite(scale[i]) || scale[i] < 0)
            got = error("%s: '%s' holds a factor that is negative or not "
                        "finite",
                        npz_path(r), name);
    free(name);
    return got;
}

static int check_int8(const struct npz_reader *r, const char *name,
                      const int8_t *q, size_t n)
{
    int least = 0;
    for (size_t i = 0; i < n; i++)
        least = q[i] < least ? q[i] : least;
    if (least >= -127)
        return 0;
    return error("%s: '%s' holds -128, which is no weight (-127 to 127)",
                 npz_path(r), name);
}

static int get_int8(struct npz_reader *r, const struct param *p,
                    const char *name, float *values)
{
    int8_t *q = xaligned(param_size(p));
    float *scale = ARRAY_ALLOC(scale, (size_t)scales(p));
    int got = npz_get(r, name, NPZ_INT8, q, 2, (int[]){ p->rows, p->cols });
    if (got == 0)
        got = check_int8(r, name, q, param_size(p));
    if (got == 0)
        got = get_scale(r, p, scale);
    if (got == 0 && scaled_by_rows(p))
        dequantize_rows(values, q, scale, p->rows, p->cols);
    else if (got == 0)
        dequantize_columns(values, q, scale, p->rows, p->cols);
    free(scale);
    free(q);
    return got;
}

static int get_float(struct npz_reader *r, const struct param *p,
                     const char *name, float *values)
{
    int dims[2], ndim = shape(p, dims);
    return npz_get_array(r, name, values, ndim, dims);
}

static int check_finite(const struct npz_reader *r, const char *name,
                        const struct param *p, const float *values)
{
    if (isfinite(vec_square_sum(values, param_size(p))))
        return 0;
    return error("%s: '%s' holds a number that is not finite", npz_path(r),
                 name);
}

typedef int get_fn(struct npz_reader *r, const struct param *p,
                   const char *name, float *values);

/* Reads the parameter out of array PREFIXnameSUFFIX. */
static int get_param(struct npz_reader *r, const struct param *p,
                     const char *prefix, enum precision form, float *values)
{
    static get_fn *const get_in[] = { get_float, get_bf16, get_int8 };
    char *name = xasprintf("%s%s%s", prefix, p->name, forms[form].suffix);
    int got = get_in[form](r, p, name, values);
    if (got == 0)
        got = check_finite(r, name, p, values);
    free(name);
    return got;
}

int model_file_get_params(struct npz_reader *r, const struct params *p,
                          const char *prefix, float *values)
{
    for (int i = 0; i < p->count; i++)
        if (get_param(r, &p->list[i], prefix, PRECISION_FP32,
                      values + p->list[i].offset) < 0)
            return -1;
    return 0;
}

static int read_config(struct model_file *f, struct npz_reader *r,
                       const char *path)
{
    char *text, *name = xasprintf("%s: config.yaml", path);
    size_t len;
    int got = npz_get_text(r, "config.yaml", TEXT_LIMIT, &text, &len);
    if (got == 0) {
        got = config_parse(&f->config, name, text, len);
        free(text);
    }
    free(name);
    return got;
}

static int read_vocab(struct vocab *v, struct npz_reader *r, const char *path,
                      const char *member)
{
    char *text, *name = xasprintf("%s: %s", path, member);
    size_t len;
    int got = npz_get_text(r, member, VOCAB_TEXT_LIMIT, &text, &len);
    if (got == 0) {
        got = vocab_parse(v, name, text, len);
        free(text);
    }
    free(name);
    return got;
}

/* Is the array of that type and shape? */
static int check_shape(struct npz_reader *r, const struct param *p,
                       enum precision form)
{
    int dims[2], have[NPZ_DIMS], ndim = shape(p, dims);
    enum npz_type type;
    char *name = xasprintf("%s%s", p->name, forms[form].suffix);
    int got = npz_shape(r, name, &type, have);
    if (got >= 0 && type != forms[form].type)
        got = error("%s: array '%s' is of type %s, expected %s", npz_path(r),
                    name, npz_type_name(type), npz_type_name(forms[form].type));
    else if (got >= 0 && (got != ndim || have[0] != dims[0] ||
                          (ndim == 2 && have[1] != dims[1])))
        got = error("%s: '%s' has not the shape that the file's configuration "
                    "gives",
                    npz_path(r), name);
    free(name);
    return got < 0 ? -1 : 0;
}

/* The shapes that the configuration gives are compared with the file's before
 * memory is taken for them. */
static int check_shapes(struct npz_reader *r, const struct params *p,
                        enum precision precision)
{
    for (int i = 0; i < p->count; i++)
        if (check_shape(r, &p->list[i], form_of(&p->list[i], precision)) < 0)
            return -1;
    return 0;
}

/* Parameters read by several threads, the largest first. */
struct reading {
    struct npz_reader *reader;
    const struct param **order; // [count]
    float *values;
    enum precision precision;
    bool failed; /* set atomically: no more is read */
};

static void read_one(void *arg, int task, int worker)
{
    struct reading *t = arg;
    const struct param *p = t->order[task];
    (void)worker;
    if (__atomic_load_n(&t->failed, __ATOMIC_RELAXED))
        return;
    if (get_param(t->reader, p, "", form_of(p, t->precision),
                  t->values + p->offset) < 0)
        __atomic_store_n(&t->failed, true, __ATOMIC_RELAXED);
}

static int read_params(struct model_file *f, struct npz_reader *r, int threads)
{
    struct params *p = &f->model->params;
    f->precision = stored(r, p);
    if (check_shapes(r, p, f->precision) < 0)
        return -1;
    params_allocate(p);
    struct reading t = { r, params_by_size(p), p->values, f->precision, false };
    struct workers *workers = workers_new(threads, NULL);
    workers_run(workers, p->count, read_one, &t);
    workers_free(workers);
    free(t.order);
    return t.failed ? -1 : 0;
}

static int read_all(struct model_file *f, struct npz_reader *r,
                    const char *path, int threads)
{
    if (read_config(f, r, path) < 0 ||
        read_vocab(&f->source, r, path, "source.vocab") < 0 ||
        read_vocab(&f->target, r, path, "target.vocab") < 0 ||
        npz_get_text(r, "progress.yaml", TEXT_LIMIT, &f->progress,
                     &f->progress_len) < 0)
        return -1;
    f->model = model_declare(&f->config, f->source.size, f->target.size);
    return f->model ? read_params(f, r, threads) : -1;
}

int model_file_read(struct model_file *f, const char *path, int threads,
                    struct npz_reader **reader)
{
    memset(f, 0, sizeof(*f));
    config_init(&f->config);
    struct npz_reader *r = npz_open(path);
    if (!r)
        return -1;
    int got = read_all(f, r, path, threads);
    if (got == 0 && reader) {
        *reader = r;
        return 0;
    }
    if (got == 0)
        got = npz_finish(r, "training/");
    npz_close(r);
    return got;
}

void model_file_release(struct model_file *f)
{
    config_release(&f->config);
    vocab_release(&f->source);
    vocab_release(&f->target);
    model_free(f->model);
    free(f->progress);
    memset(f, 0, sizeof(*f));
}
