/* Hard choices of a position. */
#include <assert.h>
#include <math.h>

#include "base/rng.h"
#include "graph/ops.h"
#include "tensor/vec.h"

struct draw {
    struct ragged over;
    struct choice_costs costs;
    const float *p; // [n,width]
};

static double entropy(const float *p, int S)
{
    double h = 0;
    for (int j = 0; j < S; j++)
        if (p[j] > 0)
            h -= (double)p[j] * log((double)p[j]);
    return h;
}

/* See draw_position() in ops.h; what came to y is not passed on. */
static void draw_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct draw *d = y->extra;
    for (int i = 0; i < y->rows; i++) {
        int S = d->over.length[i];
        const float *p = d->p + (size_t)i * y->cols;
        float *de = node_grad_row(y->in[0], i);
        float advantage = d->costs.advantage[i];
        float h = (float)entropy(p, S);
        for (int j = 0; j < S; j++) {
            float open = p[j] > 0 ? p[j] * (logf(p[j]) + h) : 0;
            de[j] += d->costs.scale * (advantage * (node_row(y, i)[j] - p[j]) +
                                       d->costs.entropy * open);
        }
    }
}

/* The first position up to which the probabilities reach u. */
static int pick(const float *p, int S, float u)
{
    float sum = 0;
    for (int j = 0; j < S - 1; j++) {
        sum += p[j];
        if (u < sum)
            return j;
    }
    return S - 1;
}

struct node *draw_position(struct graph *g, struct node *e,
                           const struct ragged *over,
                           const struct choice_costs *costs)
{
    static const struct op op = { "draw_position", draw_backward };
    struct node *p = ragged_softmax(g, e, over);
    struct node *y = graph_node(g, &op, e->rows, e->cols, e, NULL, NULL, NULL);
    struct draw *d = arena_alloc(&g->arena, sizeof(*d));
    *d = (struct draw){ *over, *costs, p->value };
    y->extra = d;
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++) {
        float u = graph_uniform(g, i);
        node_row(y, i)[pick(node_row(p, i), over->length[i], u)] = 1;
    }
    g->draws++;
    return y;
}

struct node *best_position(struct graph *g, const struct node *e,
                           const struct ragged *over)
{
    struct node *y = graph_zeros(g, e->rows, e->cols);
    for (int i = 0; i < y->rows; i++) {
        const float *row = node_row(e, i);
        int best = 0;
        for (int j = 1; j < over->length[i]; j++)
            best = row[j] > row[best] ? j : best;
        node_row(y, i)[best] = 1;
    }
    return y;
}
