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

/* dx += s dy */
static void scale_backward(struct graph *g, struct node *y)
{
    (void)g;
    vec_axpy(y->in[0]->grad, *(const float *)y->extra, y->grad, node_size(y));
}

struct node *scale(struct graph *g, struct node *x, float s)
{
    static const struct op op = { "scale", scale_backward };
    struct node *y = graph_node(g, &op, x->rows, x->cols, x, NULL, NULL, NULL);
    float *kept = arena_alloc(&g->arena, sizeof(*kept));
    *kept = s;
    y->extra = kept;
    vec_copy(y->value, x->value, node_size(y));
    vec_scale(y->value, s, node_size(y));
    return y;
}

/* dx += dy; db += sum dy */
static void number_backward(struct graph *g, struct node *y)
{
    (void)g;
    struct node *x = y->in[0], *b = y->in[1];
    if (x->grad)
        vec_add(x->grad, y->grad, node_size(y));
    for (int i = 0; i < y->rows && b->grad; i++)
        b->grad[0] += vec_sum(node_grad_row(y, i), y->cols);
}

struct node *add_number(struct graph *g, struct node *x, struct node *b)
{
    static const struct op op = { "add_number", number_backward };
    assert(b->rows == 1 && b->cols == 1);
    struct node *y = graph_node(g, &op, x->rows, x->cols, x, b, NULL, NULL);
    for (size_t i = 0; i < node_size(y); i++)
        y->value[i] = x->value[i] + b->value[0];
    return y;
}

/* dx of the larger of each pair (the first of equals) += dy */
static void maxout_backward(struct graph *g, struct node *y)
{
    (void)g;
    struct node *x = y->in[0];
    for (size_t i = 0; i < node_size(y); i++)
        x->grad[2 * i + (x->value[2 * i + 1] > x->value[2 * i])] += y->grad[i];
}

struct node *maxout(struct graph *g, struct node *x)
{
    static const struct op op = { "maxout", maxout_backward };
    assert(x->cols % 2 == 0);
    struct node *y = graph_node(g, &op, x->rows, x->cols / 2, x, NULL, NULL,
                                NULL);
    for (size_t i = 0; i < node_size(y); i++)
        y->value[i] = max32(x->value[2 * i], x->value[2 * i + 1]);
    return y;
}
