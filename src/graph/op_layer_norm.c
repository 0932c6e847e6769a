/* y_ij += g_j x^_ij, x^_ij = (x_ij - mu_i) / s_i,
 * mu_i = 1/k sum_j x_ij, s_i = sqrt(1/k sum_j (x_ij - mu_i)^2 + epsilon)
 * Ba, Kiros & Hinton 2016, eqs. 3 and 4, which have no epsilon. */
#include <assert.h>
#include <math.h>

#include "graph/ops.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

static const float epsilon = 1e-5f;

/* One row; keeps x^ for the way back and returns 1 / s. */
KERNEL static float layer_norm_row(int k, const float *restrict x,
                                   const float *restrict gain,
                                   float *restrict hat, float *restrict y)
{
    float mean = inline_sum(x, k) / (float)k;
    for (int j = 0; j < k; j++)
        hat[j] = x[j] - mean;
    float inverse = 1.0f / sqrtf(inline_dot(hat, hat, k) / (float)k + epsilon);
    for (int j = 0; j < k; j++) {
        hat[j] *= inverse;
        y[j] = fma32(gain[j], hat[j], y[j]);
    }
    return inverse;
}

/* With d_j = dy_j g_j: dg += dy x^;
 * dx += (d - 1/k sum_j d_j - x^ 1/k sum_j d_j x^_j) / s */
KERNEL static void layer_norm_row_back(int k, const float *restrict dy,
                                       const float *restrict gain,
                                       const float *restrict hat, float inverse,
                                       float *restrict d, float *restrict dx,
                                       float *restrict dgain)
{
    for (int j = 0; j < k; j++) {
        d[j] = dy[j] * gain[j];
        dgain[j] = fma32(dy[j], hat[j], dgain[j]);
    }
    float mean = inline_sum(d, k) / (float)k;
    float slope = inline_dot(d, hat, k) / (float)k;
    for (int j = 0; j < k; j++)
        dx[j] = fma32(inverse, fma32(-slope, hat[j], d[j] - mean), dx[j]);
}

/* What the way back needs of each row. */
struct kept {
    float *hat;     // [n,k]
    float *inverse; // [n]
};

static void layer_norm_backward(struct graph *g, struct node *y)
{
    struct node *x = y->in[0], *gain = y->in[1], *bias = y->in[2];
    const struct kept *kept = y->extra;
    int k = y->cols;
    float *sink = arena_array(&g->arena, 3 * (size_t)k, sizeof(*sink));
    for (int i = 0; i < y->rows; i++) {
        layer_norm_row_back(k, node_grad_row(y, i), gain->value,
                            kept->hat + (size_t)i * k, kept->inverse[i], sink,
                            x->grad ? node_grad_row(x, i) : sink + k,
                            gain->grad ? gain->grad : sink + 2 * k);
        if (bias && bias->grad)
            vec_add(bias->grad, node_grad_row(y, i), (size_t)k);
    }
}

static const struct op layer_norm_op = { "layer_norm", layer_norm_backward };

static struct node *forward(struct graph *g, const struct node *x,
                            const struct node *gain, struct node *y)
{
    assert(gain->rows == 1 && gain->cols == x->cols);
    assert(y->rows == x->rows && y->cols == x->cols);
    struct kept *kept = arena_alloc(&g->arena, sizeof(*kept));
    kept->hat = arena_array(&g->arena, node_size(x), sizeof(float));
    kept->inverse = arena_array(&g->arena, (size_t)x->rows, sizeof(float));
    y->extra = kept;
    for (int i = 0; i < y->rows; i++)
        kept->inverse[i] = layer_norm_row(x->cols, node_row(x, i), gain->value,
                                          kept->hat + (size_t)i * x->cols,
                                          node_row(y, i));
    return y;
}

struct node *layer_norm(struct graph *g, struct node *x, struct node *gain,
                        struct node *bias)
{
    assert(!bias || (bias->rows == 1 && bias->cols == x->cols));
    struct node *y = graph_node(g, &layer_norm_op, x->rows, x->cols, x, gain,
                                bias, NULL);
    if (!bias)
        vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows && bias; i++)
        vec_copy(node_row(y, i), bias->value, (size_t)y->cols);
    return forward(g, x, gain, y);
}

struct node *layer_norm_into(struct graph *g, struct node *y, struct node *x,
                             struct node *gain)
{
    return forward(g, x, gain, graph_in_place(g, &layer_norm_op, y, x, gain));
}
