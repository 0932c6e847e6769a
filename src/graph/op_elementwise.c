#include <assert.h>

#include "graph/ops.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

/* da += dy; db += dy */
static void add_backward(struct graph *g, struct node *y)
{
    (void)g;
    for (int i = 0; i < 2; i++)
        if (y->in[i]->grad)
            vec_add(y->in[i]->grad, y->grad, node_size(y));
}

struct node *add(struct graph *g, struct node *a, struct node *b)
{
    static const struct op op = { "add", add_backward };
    assert(a->rows == b->rows && a->cols == b->cols);
    struct node *y = graph_node(g, &op, a->rows, a->cols, a, b, NULL, NULL);
    vec_copy(y->value, a->value, node_size(y));
    vec_add(y->value, b->value, node_size(y));
    return y;
}

/* dx += dy (1 - y^2) */
KERNEL static void tanh_gradient(float *restrict dx, const float *restrict dy,
                                 const float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dx[i] = fma32(dy[i], fma32(-y[i], y[i], 1.0f), dx[i]);
}

static void tanh_backward(struct graph *g, struct node *y)
{
    (void)g;
    tanh_gradient(y->in[0]->grad, y->grad, y->value, node_size(y));
}

struct node *node_tanh(struct graph *g, struct node *x)
{
    static const struct op op = { "tanh", tanh_backward };
    struct node *y = graph_node(g, &op, x->rows, x->cols, x, NULL, NULL, NULL);
    vec_tanh(y->value, x->value, node_size(y));
    return y;
}
