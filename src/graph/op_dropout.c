#include <assert.h>

#include "base/rng.h"
#include "graph/ops.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

/* A 32-bit mix of the key of a row and a column number. */
INLINE uint32_t mix(uint32_t key, uint32_t column)
{
    uint32_t h = (column + 1u) * 0x9E3779B1u ^ key;
    h = (h ^ (h >> 16)) * 0x85EBCA6Bu;
    h = (h ^ (h >> 13)) * 0xC2B2AE35u;
    return h ^ (h >> 16);
}

/* mask_j = 0 with probability `rate`, else 1 / (1 - rate) */
KERNEL static void draw_mask(float *mask, int n, uint32_t key, float rate)
{
    uint32_t threshold = (uint32_t)(rate * 16777216.0f);
    float kept = 1.0f / (1.0f - rate);
    for (int j = 0; j < n; j++)
        mask[j] = mix(key, (uint32_t)j) >> 8 < threshold ? 0.0f : kept;
}

KERNEL static void multiply(float *restrict y, const float *restrict x,
                            const float *restrict mask, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] * mask[i];
}

KERNEL static void add_product(float *restrict y, const float *restrict x,
                               const float *restrict mask, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = fma32(x[i], mask[i], y[i]);
}

/* dx += mask dy */
static void dropout_backward(struct graph *g, struct node *y)
{
    (void)g;
    add_product(y->in[0]->grad, y->grad, y->extra, node_size(y));
}

static struct node *masked(struct graph *g, struct node *x, float *mask)
{
    static const struct op op = { "dropout", dropout_backward };
    struct node *y = graph_node(g, &op, x->rows, x->cols, x, NULL, NULL, NULL);
    y->extra = mask;
    multiply(y->value, x->value, mask, node_size(y));
    g->draws++;
    return y;
}

struct node *dropout(struct graph *g, struct node *x, float rate)
{
    if (!g->training || rate <= 0)
        return x;
    float *mask = arena_alloc(&g->arena, node_size(x) * sizeof(*mask));
    for (int i = 0; i < x->rows; i++)
        draw_mask(mask + (size_t)i * x->cols, x->cols, graph_key(g, i), rate);
    return masked(g, x, mask);
}

struct node *dropout_rows(struct graph *g, struct node *x, float rate)
{
    if (!g->training || rate <= 0)
        return x;
    float *mask = arena_alloc(&g->arena, node_size(x) * sizeof(*mask));
    for (int i = 0; i < x->rows; i++) {
        float *row = mask + (size_t)i * x->cols;
        draw_mask(row, 1, graph_key(g, i), rate);
        for (int j = 1; j < x->cols; j++)
            row[j] = row[0];
    }
    return masked(g, x, mask);
}

/* dx += dy */
static void noise_backward(struct graph *g, struct node *y)
{
    (void)g;
    vec_add(y->in[0]->grad, y->grad, node_size(y));
}

struct node *add_noise(struct graph *g, struct node *x)
{
    static const struct op op = { "add_noise", noise_backward };
    if (!g->training)
        return x;
    struct node *y = graph_node(g, &op, x->rows, x->cols, x, NULL, NULL, NULL);
    for (int i = 0; i < x->rows; i++) {
        struct rng_key key = rng_key(graph_key(g, i), RNG_SAMPLE, g->update);
        for (int j = 0; j < x->cols; j++)
            node_row(y, i)[j] = node_row(x, i)[j] +
                                rng_key_normal(key, (uint64_t)j);
    }
    g->draws++;
    return y;
}
