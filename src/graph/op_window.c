/* Attention to a part of the source, and weights by position. */
#include <assert.h>
#include <math.h>

#include "graph/ragged.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

static void place_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct ragged *window = y->extra;
    for (int i = 0; i < y->rows; i++)
        vec_add(node_grad_row(y->in[0], i),
                node_grad_row(y, i) + ragged_first(window, i),
                (size_t)window->length[i]);
}

struct node *place_window(struct graph *g, struct node *a,
                          const struct ragged *window, int width)
{
    static const struct op op = { "place_window", place_backward };
    struct node *y = graph_node(g, &op, a->rows, width, a, NULL, NULL, NULL);
    y->extra = ragged_keep(g, window);
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++) {
        assert(ragged_first(window, i) + window->length[i] <= width);
        vec_copy(node_row(y, i) + ragged_first(window, i), node_row(a, i),
                 (size_t)window->length[i]);
    }
    return y;
}

/* How many columns of row i of x[n,L] the window covers. */
static int readable(const struct ragged *over, int i, int L)
{
    int rest = L - ragged_first(over, i);
    return rest < 0 ? 0 : rest < over->length[i] ? rest : over->length[i];
}

static void read_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct ragged *over = y->extra;
    struct node *x = y->in[0];
    for (int i = 0; i < y->rows; i++)
        vec_add(node_grad_row(x, i) + ragged_first(over, i),
                node_grad_row(y, i), (size_t)readable(over, i, x->cols));
}

struct node *read_window(struct graph *g, struct node *x, float behind,
                         const struct ragged *over)
{
    static const struct op op = { "read_window", read_backward };
    struct node *y = graph_node(g, &op, x->rows, over->width, x, NULL, NULL,
                                NULL);
    y->extra = ragged_keep(g, over);
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++) {
        int n = readable(over, i, x->cols);
        vec_copy(node_row(y, i), node_row(x, i) + ragged_first(over, i),
                 (size_t)n);
        for (int j = n; j < over->length[i]; j++)
            node_row(y, i)[j] = behind;
    }
    return y;
}

/* dx += dp (S - 1) sigma (1 - sigma) */
static void position_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct ragged *over = y->extra;
    for (int i = 0; i < y->rows; i++) {
        float s = approx_sigmoid(y->in[0]->value[i]);
        y->in[0]->grad[i] += y->grad[i] * (float)(over->length[i] - 1) * s *
                             (1.0f - s);
    }
}

struct node *relative_position(struct graph *g, struct node *x,
                               const struct ragged *over)
{
    static const struct op op = { "relative_position", position_backward };
    assert(x->cols == 1);
    struct node *y = graph_node(g, &op, x->rows, 1, x, NULL, NULL, NULL);
    y->extra = ragged_keep(g, over);
    for (int i = 0; i < y->rows; i++)
        y->value[i] = (float)(over->length[i] - 1) *
                      approx_sigmoid(x->value[i]);
    return y;
}

struct gaussian {
    struct ragged over;
    float scale; /* 1 / (2 s^2) */
};

/* Distance of column j of row i from the centre. */
static float distance(const struct gaussian *k, const struct node *p, int i,
                      int j)
{
    return (float)(ragged_first(&k->over, i) + j) - p->value[i];
}

/* da += dy w; dp += sum_j dy a w (f + j - p) / s^2, w the Gaussian */
static void gaussian_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct gaussian *k = y->extra;
    struct node *a = y->in[0], *p = y->in[1];
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < k->over.length[i]; j++) {
            float d = distance(k, p, i, j), dy = node_grad_row(y, i)[j];
            float w = approx_exp(-d * d * k->scale);
            if (a->grad)
                node_grad_row(a, i)[j] += dy * w;
            if (p->grad)
                p->grad[i] += dy * node_row(y, i)[j] * 2 * d * k->scale;
        }
}

static struct gaussian *gaussian(struct graph *g, float s,
                                 const struct ragged *over)
{
    struct gaussian *k = arena_alloc(&g->arena, sizeof(*k));
    *k = (struct gaussian){ *over, 1 / (2 * s * s) };
    return k;
}

struct node *gaussian_weights(struct graph *g, struct node *a, struct node *p,
                              float s, const struct ragged *over)
{
    static const struct op op = { "gaussian_weights", gaussian_backward };
    struct node *y = graph_node(g, &op, a->rows, a->cols, a, p, NULL, NULL);
    struct gaussian *k = gaussian(g, s, over);
    y->extra = k;
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < over->length[i]; j++) {
            float d = distance(k, p, i, j);
            node_row(y, i)[j] = node_row(a, i)[j] *
                                approx_exp(-d * d * k->scale);
        }
    return y;
}

/* de += dy; dp += sum_j dy (f + j - p) / s^2 */
static void prior_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct gaussian *k = y->extra;
    struct node *e = y->in[0], *p = y->in[1];
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < k->over.length[i]; j++) {
            float dy = node_grad_row(y, i)[j];
            if (e->grad)
                node_grad_row(e, i)[j] += dy;
            if (p->grad)
                p->grad[i] += dy * 2 * distance(k, p, i, j) * k->scale;
        }
}

struct node *gaussian_prior(struct graph *g, struct node *e, struct node *p,
                            float s, const struct ragged *over)
{
    static const struct op op = { "gaussian_prior", prior_backward };
    struct node *y = graph_node(g, &op, e->rows, e->cols, e, p, NULL, NULL);
    struct gaussian *k = gaussian(g, s, over);
    y->extra = k;
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < over->length[i]; j++) {
            float d = distance(k, p, i, j);
            node_row(y, i)[j] = node_row(e, i)[j] - d * d * k->scale;
        }
    return y;
}
