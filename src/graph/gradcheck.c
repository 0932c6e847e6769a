#include "graph/gradcheck.h"

#include <math.h>
#include <string.h>

#include "base/report.h"
#include "base/rng.h"
#include "graph/graph.h"

/* An element of a leaf, and how far apart the two slopes are there. */
struct element {
    const struct gradcheck_leaf *leaf;
    size_t index;
    double numeric, analytic;
    double excess; /* difference by tolerance */
};

/* (f(x + h) - f(x - h)) / 2h */
static double central(const struct gradcheck *c, float *x, double h)
{
    float middle = *x, above = (float)((double)middle + h),
          below = (float)((double)middle - h);
    *x = above;
    double up = c->function(c->arg, false);
    *x = below;
    double down = c->function(c->arg, false);
    *x = middle;
    return (up - down) / ((double)above - (double)below);
}

/* D(h) = f' + a h^2 + b h^4 + O(h^6); three of them leave O(h^6) alone. */
static double slope(const struct gradcheck *c, float *x)
{
    double h = c->step > 0 ? c->step : 1.0 / 32;
    return (15 * central(c, x, h) - 6 * central(c, x, 2 * h) +
            central(c, x, 3 * h)) /
           10;
}

static void look(const struct gradcheck *c, const struct gradcheck_leaf *leaf,
                 size_t index, struct element *worst)
{
    double tolerance = c->tolerance > 0 ? c->tolerance : 1e-4;
    struct element e = { .leaf = leaf, .index = index };
    e.analytic = (double)leaf->grad[index];
    e.numeric = slope(c, &leaf->value[index]);
    e.excess = fabs(e.numeric - e.analytic) /
               (tolerance * (1 + fabs(e.numeric)));
    if (isnan(e.excess))
        e.excess = INFINITY;
    if (!worst->leaf || e.excess > worst->excess)
        *worst = e;
}

static size_t steepest(const struct gradcheck_leaf *leaf)
{
    size_t best = 0;
    for (size_t i = 1; i < leaf->size; i++)
        if (fabsf(leaf->grad[i]) > fabsf(leaf->grad[best]))
            best = i;
    return best;
}

static void look_at_some(const struct gradcheck *c, int number,
                         struct element *worst)
{
    const struct gradcheck_leaf *leaf = &c->leaves[number];
    struct rng_key key = rng_key(c->seed, RNG_DEMO, (uint64_t)number);
    look(c, leaf, steepest(leaf), worst);
    for (size_t k = 1; k < c->samples; k++)
        look(c, leaf, (size_t)rng_below(leaf->size, key, k), worst);
}

static void look_at_all(const struct gradcheck *c, int number,
                        struct element *worst)
{
    const struct gradcheck_leaf *leaf = &c->leaves[number];
    for (size_t i = 0; i < leaf->size; i++)
        look(c, leaf, i, worst);
}

int gradcheck(const struct gradcheck *c)
{
    struct element worst = { .leaf = NULL };
    for (int l = 0; l < c->count; l++)
        memset(c->leaves[l].grad, 0, c->leaves[l].size * sizeof(float));
    c->function(c->arg, true);
    for (int l = 0; l < c->count; l++)
        if (c->samples > 0 && c->samples < c->leaves[l].size)
            look_at_some(c, l, &worst);
        else
            look_at_all(c, l, &worst);
    if (worst.excess <= 1)
        return 0;
    return error("gradient of '%s', element %zu: %.7g, but by finite "
                 "differences %.7g",
                 worst.leaf->name, worst.index, worst.analytic, worst.numeric);
}

double gradcheck_functional(struct node *y, uint64_t seed)
{
    struct rng_key key = rng_key(seed, RNG_DEMO, 0);
    double sum = 0;
    for (size_t i = 0; i < node_size(y); i++) {
        float w = 2 * rng_key_uniform(key, i) - 1;
        sum += (double)w * (double)y->value[i];
        if (y->grad)
            y->grad[i] += w;
    }
    return sum;
}
