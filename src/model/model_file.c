#include "model/model_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/report.h"
#include "model/model.h"
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

/* A parameter of one row is a vector in the file. */
static int shape(const struct param *p, int dims[2])
{
    dims[0] = p->rows == 1 ? p->cols : p->rows;
    dims[1] = p->cols;
    return p->rows == 1 ? 1 : 2;
}

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

static int check_finite(const struct npz_reader *r, const char *name,
                        const struct param *p, const float *values)
{
    size_t n = (size_t)p->rows * (size_t)p->cols;
    if (isfinite(vec_square_sum(values, n)))
        return 0;
    return error("%s: '%s' holds a number that is not finite", npz_path(r),
                 name);
}

int model_file_get_params(struct npz_reader *r, const struct params *p,
                          const char *prefix, float *values)
{
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        int dims[2], ndim = shape(one, dims);
        char *name = xasprintf("%s%s", prefix, one->name);
        int got = npz_get_array(r, name, values + one->offset, ndim, dims);
        if (got == 0)
            got = check_finite(r, name, one, values + one->offset);
        free(name);
        if (got < 0)
            return -1;
    }
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

/* The shapes that the configuration gives are compared with the file's before
 * memory is taken for them. */
static int check_shapes(struct npz_reader *r, const struct params *p)
{
    for (int i = 0; i < p->count; i++) {
        int dims[2], have[NPZ_DIMS], ndim = shape(&p->list[i], dims);
        int got = npz_shape(r, p->list[i].name, have);
        if (got < 0)
            return -1;
        if (got != ndim || have[0] != dims[0] ||
            (ndim == 2 && have[1] != dims[1]))
            return error("%s: '%s' has not the shape that the file's "
                         "configuration gives",
                         npz_path(r), p->list[i].name);
    }
    return 0;
}

static int read_all(struct model_file *f, struct npz_reader *r,
                    const char *path)
{
    if (read_config(f, r, path) < 0 ||
        read_vocab(&f->source, r, path, "source.vocab") < 0 ||
        read_vocab(&f->target, r, path, "target.vocab") < 0 ||
        npz_get_text(r, "progress.yaml", TEXT_LIMIT, &f->progress,
                     &f->progress_len) < 0)
        return -1;
    f->model = model_declare(&f->config, f->source.size, f->target.size);
    if (!f->model || check_shapes(r, &f->model->params) < 0)
        return -1;
    params_allocate(&f->model->params);
    return model_file_get_params(r, &f->model->params, "",
                                 f->model->params.values);
}

int model_file_read(struct model_file *f, const char *path,
                    struct npz_reader **reader)
{
    memset(f, 0, sizeof(*f));
    config_init(&f->config);
    struct npz_reader *r = npz_open(path);
    if (!r)
        return -1;
    int got = read_all(f, r, path);
    if (got == 0 && reader) {
        *reader = r;
        return 0;
    }
    if (got == 0)
        got = npz_finish(r, "training/");
    if (got == 0)
        model_prepare(f->model);
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
