#include "nn/params.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "nn/prepared.h"
#include "tensor/vec.h"

int params_declare(struct params *p, const struct param *spec)
{
    assert(!p->values && spec->rows > 0 && spec->cols > 0);
    ARRAY_GROW(p->list, (size_t)p->count + 1, p->capacity);
    struct param *added = &p->list[p->count];
    *added = *spec;
    added->name = xstrdup(spec->name);
    added->blocks = spec->blocks > 0 ? spec->blocks : 1;
    assert(added->cols % added->blocks == 0);
    added->offset = p->size;
    size_t floats = param_size(spec);
    p->size += (floats + 15) / 16 * 16;
    return p->count++;
}

int params_declare_in(struct params *p, const char *prefix, struct param spec)
{
    char *dotted = xasprintf("%s.%s", prefix, spec.name);
    spec.name = dotted;
    int id = params_declare(p, &spec);
    free(dotted);
    return id;
}

void params_allocate(struct params *p)
{
    p->values = xaligned(array_bytes(p->size, sizeof(float)));
    vec_zero(p->values, p->size);
}

void params_release(struct params *p)
{
    for (int i = 0; i < p->count; i++)
        free((void *)(uintptr_t)p->list[i].name);
    free(p->list);
    free(p->values);
    memset(p, 0, sizeof(*p));
}

static int by_falling_size(const void *a, const void *b)
{
    const struct param *x = *(const struct param *const *)a;
    const struct param *y = *(const struct param *const *)b;
    if (param_size(x) != param_size(y))
        return param_size(x) < param_size(y) ? 1 : -1;
    return x < y ? -1 : 1;
}

const struct param **params_by_size(const struct params *p)
{
    const struct param **order = ARRAY_ALLOC(order, (size_t)p->count);
    for (int i = 0; i < p->count; i++)
        order[i] = &p->list[i];
    qsort(order, (size_t)p->count, sizeof(*order), by_falling_size);
    return order;
}

const struct param *params_find(const struct params *p, const char *name)
{
    for (int i = 0; i < p->count; i++)
        if (strcmp(p->list[i].name, name) == 0)
            return &p->list[i];
    return NULL;
}

/* A block: columns first … first + cols - 1 of a parameter. */
struct block {
    float *values;
    int rows, cols, stride;
    struct rng_key key;
    uint64_t draw; /* number of its first random number */
};

static float *block_row(const struct block *b, int i)
{
    return b->values + (size_t)i * (size_t)b->stride;
}

static void fill_constant(const struct block *b, float value)
{
    for (int i = 0; i < b->rows; i++)
        for (int j = 0; j < b->cols; j++)
            block_row(b, i)[j] = value;
}

static void fill_uniform(const struct block *b, float bound)
{
    uint64_t draw = b->draw;
    for (int i = 0; i < b->rows; i++)
        for (int j = 0; j < b->cols; j++)
            block_row(b, i)[j] = (2 * rng_key_uniform(b->key, draw++) - 1) *
                                 bound;
}

static void fill_normal(const struct block *b, float deviation)
{
    uint64_t draw = b->draw;
    for (int i = 0; i < b->rows; i++)
        for (int j = 0; j < b->cols; j++)
            block_row(b, i)[j] = rng_key_normal(b->key, draw++) * deviation;
}

/* Rows (of the shorter side) made orthonormal by Gram and Schmidt, twice. */
static void orthonormalise(float *q, int n, int width)
{
    for (int i = 0; i < n; i++) {
        float *row = q + (size_t)i * width;
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < i; k++) {
                const float *other = q + (size_t)k * width;
                vec_axpy(row, -vec_dot(row, other, width), other,
                         (size_t)width);
            }
        vec_scale(row, 1.0f / sqrtf(vec_dot(row, row, width)), (size_t)width);
    }
}

static void fill_orthogonal(const struct block *b)
{
    bool wide = b->cols >= b->rows;
    int n = wide ? b->rows : b->cols, width = wide ? b->cols : b->rows;
    float *q = ARRAY_ALLOC(q, (size_t)n * width);
    for (size_t i = 0; i < (size_t)n * width; i++)
        q[i] = rng_key_normal(b->key, b->draw + i);
    orthonormalise(q, n, width);
    for (int i = 0; i < b->rows; i++)
        for (int j = 0; j < b->cols; j++)
            block_row(b, i)[j] = wide ? q[(size_t)i * width + j]
                                      : q[(size_t)j * width + i];
    free(q);
}

static bool is_bias(enum init init)
{
    return init == INIT_ZERO || init == INIT_ONE || init == INIT_FORGET ||
           init == INIT_MINUS_ONE;
}

static void fill(const struct block *b, enum init init, int number, float scale)
{
    if (scale > 0 && !is_bias(init)) {
        fill_uniform(b, scale);
        return;
    }
    switch (init) {
    case INIT_ZERO:
        break;
    case INIT_ONE:
        fill_constant(b, 1);
        break;
    case INIT_MINUS_ONE:
        fill_constant(b, -1);
        break;
    case INIT_FORGET:
        fill_constant(b, number == 1 ? 1 : 0);
        break;
    case INIT_GLOROT:
        fill_uniform(b, sqrtf(6.0f / (float)(b->rows + b->cols)));
        break;
    case INIT_ORTHOGONAL:
        fill_orthogonal(b);
        break;
    case INIT_EMBEDDING:
        fill_normal(b, 1.0f / sqrtf((float)b->cols));
        break;
    }
}

void params_initialise(struct params *p, uint64_t seed, float scale)
{
    vec_zero(p->values, p->size);
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        int cols = one->cols / one->blocks;
        for (int k = 0; k < one->blocks; k++) {
            struct block b = {
                .values = p->values + one->offset + (size_t)k * cols,
                .rows = one->rows,
                .cols = cols,
                .stride = one->cols,
                .key = rng_key(seed, RNG_INIT, (uint64_t)i),
                .draw = (uint64_t)k * (uint64_t)one->rows * (uint64_t)cols,
            };
            fill(&b, one->init, k, scale);
        }
    }
}

void gradients_init(struct gradients *grads, const struct params *p)
{
    grads->values = xmap(array_bytes(p->size, sizeof(float)));
    ARRAY_ZERO(grads->touched, (size_t)p->count);
    for (int i = 0; i < p->count; i++)
        if (p->list[i].table)
            ARRAY_ZERO(grads->touched[i], (size_t)p->list[i].rows);
}

void gradients_release(struct gradients *grads, const struct params *p)
{
    for (int i = 0; grads->touched && i < p->count; i++)
        free(grads->touched[i]);
    free(grads->touched);
    xunmap(grads->values, p->size * sizeof(float));
    memset(grads, 0, sizeof(*grads));
}

void params_bind(const struct params *p, struct gradients *grads,
                 const struct prepared *prepared, struct graph *g)
{
    g->leaf = arena_array(&g->arena, (size_t)p->count, sizeof(*g->leaf));
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        g->leaf[i] = graph_leaf(g, one->rows, one->cols,
                                p->values + one->offset,
                                grads ? grads->values + one->offset : NULL);
        if (g->training && grads)
            g->leaf[i]->touched = grads->touched[i];
        if (prepared && prepared->straight) {
            g->leaf[i]->packed = prepared->straight[i];
            g->leaf[i]->precision = prepared->precision[i];
        }
        if (prepared && prepared->turned)
            g->leaf[i]->packed_turned = prepared->turned[i];
    }
}
