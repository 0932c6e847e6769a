/* The products of attention: rows of queries against the rows of the memory
 * that belong to their sentence. */
#include <assert.h>

#include "graph/ragged.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

KERNEL static void dot_row(int A, int S, const float *q, const float *k,
                           float *e)
{
    for (int j = 0; j < S; j++)
        e[j] = inline_dot(q, k + (size_t)j * A, A);
}

/* y += sum_j a_j x_j, four rows of x at a time to spare traffic on y */
KERNEL static void combine_rows(int A, int S, const float *a,
                                const float *restrict x, float *restrict y)
{
    int j = 0;
    for (; j + 4 <= S; j += 4) {
        const float *x0 = x + (size_t)j * A, *x1 = x0 + A, *x2 = x1 + A,
                    *x3 = x2 + A;
        for (int i = 0; i < A; i++) {
            float sum = fma32(a[j + 1], x1[i], fma32(a[j], x0[i], y[i]));
            y[i] = fma32(a[j + 3], x3[i], fma32(a[j + 2], x2[i], sum));
        }
    }
    for (; j < S; j++)
        for (int i = 0; i < A; i++)
            y[i] = fma32(a[j], x[(size_t)j * A + i], y[i]);
}

/* x_j += a_j y */
KERNEL static void spread_row(int A, int S, const float *a,
                              const float *restrict y, float *restrict x)
{
    for (int j = 0; j < S; j++)
        for (int i = 0; i < A; i++)
            x[(size_t)j * A + i] = fma32(a[j], y[i], x[(size_t)j * A + i]);
}

KERNEL static void add_dot_row(int A, int S, const float *y, const float *x,
                               float *da)
{
    for (int j = 0; j < S; j++)
        da[j] += inline_dot(y, x + (size_t)j * A, A);
}

/* dq_i += sum_j de_ij k_j; dk_j += de_ij q_i */
static void dot_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct ragged *over = y->extra;
    struct node *q = y->in[0], *k = y->in[1];
    for (int i = 0; i < y->rows; i++) {
        int from = over->start[i], S = over->length[i];
        const float *de = node_grad_row(y, i);
        if (q->grad)
            combine_rows(q->cols, S, de, node_row(k, from),
                         node_grad_row(q, i));
        if (k->grad)
            spread_row(q->cols, S, de, node_row(q, i), node_grad_row(k, from));
    }
}

struct node *dot_scores(struct graph *g, struct node *q, struct node *k,
                        const struct ragged *over)
{
    static const struct op op = { "dot_scores", dot_backward };
    assert(q->cols == k->cols);
    struct node *y = graph_node(g, &op, q->rows, over->width, q, k, NULL, NULL);
    y->extra = ragged_keep(g, over);
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++)
        dot_row(q->cols, over->length[i], node_row(q, i),
                node_row(k, over->start[i]), node_row(y, i));
    return y;
}

/* de_ij += a_ij (da_ij - sum_k da_ik a_ik) */
static void softmax_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct ragged *over = y->extra;
    for (int i = 0; i < y->rows; i++) {
        int S = over->length[i];
        const float *a = node_row(y, i), *da = node_grad_row(y, i);
        float *de = node_grad_row(y->in[0], i);
        float mean = vec_dot(a, da, S);
        for (int j = 0; j < S; j++)
            de[j] += a[j] * (da[j] - mean);
    }
}

/* a_ij = exp(e_ij - max_j e_ij) / sum_j */
struct node *ragged_softmax(struct graph *g, struct node *e,
                            const struct ragged *over)
{
    static const struct op op = { "ragged_softmax", softmax_backward };
    struct node *y = graph_node(g, &op, e->rows, e->cols, e, NULL, NULL, NULL);
    y->extra = ragged_keep(g, over);
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++) {
        int S = over->length[i];
        const float *from = node_row(e, i);
        if (S == 0)
            continue;
        float sum = vec_exp_sum(node_row(y, i), from, vec_max(from, S), S);
        vec_scale(node_row(y, i), 1.0f / sum, (size_t)S);
    }
    return y;
}

/* da_ij += dc_i . v_j; dv_j += a_ij dc_i */
static void weighted_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct ragged *over = y->extra;
    struct node *a = y->in[0], *v = y->in[1];
    for (int i = 0; i < y->rows; i++) {
        int from = over->start[i], S = over->length[i];
        const float *dc = node_grad_row(y, i);
        if (a->grad)
            add_dot_row(v->cols, S, dc, node_row(v, from), node_grad_row(a, i));
        if (v->grad)
            spread_row(v->cols, S, node_row(a, i), dc, node_grad_row(v, from));
    }
}

struct node *weighted_sum(struct graph *g, struct node *a, struct node *v,
                          const struct ragged *over)
{
    static const struct op op = { "weighted_sum", weighted_backward };
    assert(a->cols == over->width);
    struct node *y = graph_node(g, &op, a->rows, v->cols, a, v, NULL, NULL);
    y->extra = ragged_keep(g, over);
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++)
        combine_rows(v->cols, over->length[i], node_row(a, i),
                     node_row(v, over->start[i]), node_row(y, i));
    return y;
}

/* dv_j += dm_i / S */
static void mean_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct ragged *over = y->extra;
    struct node *v = y->in[0];
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < over->length[i]; j++)
            vec_axpy(node_grad_row(v, over->start[i] + j),
                     1.0f / (float)over->length[i], node_grad_row(y, i),
                     (size_t)y->cols);
}

/* m_i = (1 / S) sum_j v_j */
struct node *ragged_mean(struct graph *g, struct node *v,
                         const struct ragged *over, int n)
{
    static const struct op op = { "ragged_mean", mean_backward };
    struct node *y = graph_node(g, &op, n, v->cols, v, NULL, NULL, NULL);
    y->extra = ragged_keep(g, over);
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < over->length[i]; j++)
            vec_add(node_row(y, i), node_row(v, over->start[i] + j),
                    (size_t)y->cols);
        vec_scale(node_row(y, i), 1.0f / (float)over->length[i],
                  (size_t)y->cols);
    }
    return y;
}
