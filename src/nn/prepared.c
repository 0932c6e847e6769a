#include "nn/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool is_wanted(const struct param *p, bool training)
{
    if (p->rows == 1 || p->table)
        return false;
    return training || p->init != INIT_EMBEDDING;
}

void prepared_init(struct prepared *r, const struct params *p,
                   enum precision precision, bool training)
{
    *r = (struct prepared){ .count = p->count };
    ARRAY_ZERO(r->straight, (size_t)p->count);
    if (training)
        ARRAY_ZERO(r->turned, (size_t)p->count);
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        if (!is_wanted(one, training))
            continue;
        bool at_once = one->at_once || one->init == INIT_EMBEDDING;
        r->straight[i] = training && at_once
                             ? packed_new_rounded(one->rows, one->cols)
                             : packed_new(precision, one->rows, one->cols);
        if (training)
            r->turned[i] = packed_new_transpose(r->straight[i]);
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
    memset(r, 0, sizeof(*r));
}

void prepared_fill(struct prepared *r, const struct params *p, int i)
{
    const float *w = p->values + p->list[i].offset;
    if (r->straight[i])
        packed_fill(r->straight[i], w, false);
    if (r->straight[i] && !r->turned)
        packed_trim(r->straight[i]);
    if (r->turned && r->turned[i])
        packed_fill(r->turned[i], NULL, true);
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
