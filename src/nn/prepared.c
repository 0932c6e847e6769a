#include "nn/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool is_at_once(const struct param *p)
{
    return p->at_once || p->init == INIT_EMBEDDING;
}

static bool is_matrix(const struct param *p)
{
    return p->rows > 1 && !p->table;
}

/* A product of few rows would spend much of its time on laying it out. One of
 * many rows gains a little, for the matrix twice more: taken where it is half
 * as large as float32. */
static bool is_wanted(const struct param *p, enum precision precision,
                      bool training)
{
    if (!is_matrix(p))
        return false;
    if (!training)
        return p->init != INIT_EMBEDDING;
    return packed_lays_out(precision) &&
           (precision == PRECISION_BF16 || !is_at_once(p));
}

void prepared_init(struct prepared *r, const struct params *p,
                   enum precision precision, bool training)
{
    *r = (struct prepared){ .count = p->count };
    ARRAY_ZERO(r->straight, (size_t)p->count);
    ARRAY_ZERO(r->precision, (size_t)p->count);
    if (training)
        ARRAY_ZERO(r->turned, (size_t)p->count);
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        if (training && is_matrix(one))
            r->precision[i] = precision;
        if (!is_wanted(one, precision, training))
            continue;
        r->straight[i] = packed_new(precision, one->rows, one->cols);
        if (training)
            r->turned[i] = packed_new(precision, one->cols, one->rows);
    }
}

void prepared_release(struct prepared *r)
{
    for (int i = 0; i < r->count; i++) {
        if (r->turned)
            packed_free(r->turned[i]);
        packed_free(r->straight[i]);
    }
    free(r->straight);
    free(r->turned);
    free(r->precision);
    memset(r, 0, sizeof(*r));
}

void prepared_fill(struct prepared *r, const struct params *p, int i)
{
    const float *w = p->values + p->list[i].offset;
    if (r->straight[i])
        packed_fill(r->straight[i], w, false);
    if (r->turned && r->turned[i])
        packed_fill(r->turned[i], w, true);
}

size_t prepared_bytes(const struct prepared *r)
{
    size_t sum = 0;
    for (int i = 0; i < r->count; i++) {
        if (r->straight[i])
            sum += packed_bytes(r->straight[i]);
        if (r->turned && r->turned[i])
            sum += packed_bytes(r->turned[i]);
    }
    return sum;
}
