#include "nn/cell.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "graph/ops.h"

#define X(name) extern const struct cell cell_##name;
#include "cells.inc"
#undef X

#define X(name) &cell_##name,
const struct cell *const cells[] = {
#include "cells.inc"
    NULL
};
#undef X

static int declare(struct params *p, const char *prefix, const char *name,
                   struct param spec)
{
    char *dotted = xasprintf("%s.%s", prefix, name);
    spec.name = dotted;
    int id = params_declare(p, &spec);
    free(dotted);
    return id;
}

void cell_declare(struct cell_weights *w, const struct cell *cell,
                  struct params *p, const char *prefix, int input, int context,
                  int hidden)
{
    int g = cell->gates;
    struct param matrix = { .cols = g * hidden,
                            .blocks = g,
                            .init = INIT_GLOROT };
    struct param bias = {
        .rows = 1, .cols = g * hidden, .blocks = g, .init = cell->bias
    };
    *w = (struct cell_weights){
        .cell = cell, .hidden = hidden, .C = -1, .c = -1
    };
    matrix.rows = input;
    w->W = declare(p, prefix, "W", matrix);
    if (context > 0) {
        matrix.rows = context;
        w->C = declare(p, prefix, "C", matrix);
    }
    matrix.rows = hidden;
    matrix.init = INIT_ORTHOGONAL;
    w->U = declare(p, prefix, "U", matrix);
    w->b = declare(p, prefix, "b", bias);
    if (cell->state_bias)
        w->c = declare(p, prefix, "c", bias);
}

struct node *cell_inputs(struct graph *g, const struct cell_weights *w,
                         struct node *x)
{
    return linear(g, x, param(g, w->W), param(g, w->b));
}

void cell_step(struct graph *g, const struct cell_weights *w, struct node *a,
               struct node *context, struct node *const *before,
               struct node **after)
{
    assert((context != NULL) == (w->C >= 0));
    if (context)
        a = linear_into(g, a, context, param(g, w->C));
    w->cell->step(g, w, a, before, after);
}
