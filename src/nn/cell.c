#include "nn/cell.h"

#include <assert.h>

#include "config/config.h"
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

static struct param named(const char *name, struct param spec)
{
    spec.name = name;
    return spec;
}

/* A vector of one unit is always 0 when it is normalised. */
int cell_check_norm(const struct cell *cell, int hidden,
                    const struct config *cfg, const char *key)
{
    int shortest = cell->states > 1 ? hidden : cell->gates * hidden;
    if (shortest > 1)
        return 0;
    return config_error(cfg, key,
                        "leaves nothing of one unit of a cell '%s'; set "
                        "'hidden' to 2 or more",
                        cell->name);
}

static void declare_norm(struct cell_weights *w, struct params *p,
                         const char *prefix)
{
    int H = w->hidden, gH = w->cell->gates * H;
    struct param gain = { .rows = 1, .cols = gH, .init = INIT_ONE };
    w->W_gain = params_declare_in(p, prefix, named("W_gain", gain));
    w->U_gain = params_declare_in(p, prefix, named("U_gain", gain));
    if (w->cell->states == 1)
        return;
    gain.cols = H;
    w->cell_gain = params_declare_in(p, prefix, named("cell_gain", gain));
    gain.init = INIT_ZERO;
    w->cell_bias = params_declare_in(p, prefix, named("cell_bias", gain));
}

void cell_declare(struct cell_weights *w, const struct cell *cell,
                  struct params *p, const char *prefix,
                  const struct cell_shape *shape)
{
    int g = cell->gates, hidden = shape->hidden;
    struct param matrix = { .cols = g * hidden,
                            .blocks = g,
                            .init = INIT_GLOROT };
    struct param bias = {
        .rows = 1, .cols = g * hidden, .blocks = g, .init = cell->bias
    };
    *w = (struct cell_weights){ .cell = cell,
                                .hidden = hidden,
                                .C = -1,
                                .c = -1,
                                .W_gain = -1,
                                .U_gain = -1,
                                .cell_gain = -1,
                                .cell_bias = -1 };
    matrix.rows = shape->input;
    matrix.at_once = shape->at_once;
    w->W = params_declare_in(p, prefix, named("W", matrix));
    matrix.at_once = false;
    if (shape->context > 0) {
        matrix.rows = shape->context;
        w->C = params_declare_in(p, prefix, named("C", matrix));
    }
    matrix.rows = hidden;
    matrix.init = INIT_ORTHOGONAL;
    w->U = params_declare_in(p, prefix, named("U", matrix));
    w->b = params_declare_in(p, prefix, named("b", bias));
    if (cell->state_bias)
        w->c = params_declare_in(p, prefix, named("c", bias));
    if (shape->layer_norm)
        declare_norm(w, p, prefix);
}

static struct node *param_or_null(const struct graph *g, int id)
{
    return id < 0 ? NULL : param(g, id);
}

/* LN(a; W_gain) + b */
static struct node *normalise_inputs(struct graph *g,
                                     const struct cell_weights *w,
                                     struct node *a)
{
    return layer_norm(g, a, param(g, w->W_gain), param(g, w->b));
}

struct node *cell_inputs(struct graph *g, const struct cell_weights *w,
                         struct node *x)
{
    if (w->W_gain < 0)
        return linear_spent(g, x, param(g, w->W), param(g, w->b));
    struct node *a = linear(g, x, param(g, w->W), NULL);
    return w->C < 0 ? normalise_inputs(g, w, a) : a;
}

struct node *cell_state_part(struct graph *g, const struct cell_weights *w,
                             struct node *h)
{
    struct node *U = param(g, w->U), *c = param_or_null(g, w->c);
    if (w->U_gain < 0)
        return linear_spent(g, h, U, c);
    return layer_norm(g, linear(g, h, U, NULL), param(g, w->U_gain), c);
}

struct node *cell_add_state_part(struct graph *g, const struct cell_weights *w,
                                 struct node *a, struct node *h)
{
    assert(w->c < 0);
    if (w->U_gain < 0)
        return linear_into(g, a, h, param(g, w->U));
    return layer_norm_into(g, a, linear(g, h, param(g, w->U), NULL),
                           param(g, w->U_gain));
}

void cell_step(struct graph *g, const struct cell_weights *w, struct node *a,
               struct node *context, struct node *const *before,
               struct node **after)
{
    assert((context != NULL) == (w->C >= 0));
    if (context)
        a = linear_into(g, a, context, param(g, w->C));
    if (context && w->W_gain >= 0)
        a = normalise_inputs(g, w, a);
    w->cell->step(g, w, a, before, after);
}
