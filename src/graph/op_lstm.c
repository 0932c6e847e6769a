/* i, f, o = sigma(a_i), sigma(a_f), sigma(a_o); n = tanh(a_g);
 * c' = f * c + i * n; h' = o * tanh(c')
 * Hochreiter & Schmidhuber 1997, Gers et al. 2000, without peepholes. */
#include <assert.h>

#include "graph/ops.h"
#include "tensor/kernel.h"

KERNEL static void cell_row(int H, const float *restrict a,
                            const float *restrict c, float *restrict out)
{
    for (int i = 0; i < H; i++)
        out[i] = fma32(approx_sigmoid(a[H + i]), c[i],
                       approx_sigmoid(a[i]) * approx_tanh(a[2 * H + i]));
}

/* dc += f dy; da_i = dy n i (1 - i); da_f = dy c f (1 - f);
 * da_g = dy i (1 - n^2) */
KERNEL static void cell_row_back(int H, const float *restrict dy,
                                 const float *restrict a,
                                 const float *restrict c, float *restrict da,
                                 float *restrict dc)
{
    for (int k = 0; k < H; k++) {
        float i = approx_sigmoid(a[k]), f = approx_sigmoid(a[H + k]);
        float n = approx_tanh(a[2 * H + k]);
        dc[k] = fma32(f, dy[k], dc[k]);
        da[k] = fma32(dy[k] * n, i * (1.0f - i), da[k]);
        da[H + k] = fma32(dy[k] * c[k], f * (1.0f - f), da[H + k]);
        da[2 * H + k] = fma32(dy[k] * i, fma32(-n, n, 1.0f), da[2 * H + k]);
    }
}

KERNEL static void state_row(int H, const float *restrict a,
                             const float *restrict c, float *restrict out)
{
    for (int i = 0; i < H; i++)
        out[i] = approx_sigmoid(a[3 * H + i]) * approx_tanh(c[i]);
}

/* dc += dy o (1 - tanh^2 c); da_o += dy tanh(c) o (1 - o) */
KERNEL static void state_row_back(int H, const float *restrict dy,
                                  const float *restrict a,
                                  const float *restrict c, float *restrict da,
                                  float *restrict dc)
{
    for (int i = 0; i < H; i++) {
        float o = approx_sigmoid(a[3 * H + i]), t = approx_tanh(c[i]);
        dc[i] = fma32(dy[i] * o, fma32(-t, t, 1.0f), dc[i]);
        da[3 * H + i] = fma32(dy[i] * t, o * (1.0f - o), da[3 * H + i]);
    }
}

typedef void row_back_fn(int H, const float *restrict dy,
                         const float *restrict a, const float *restrict c,
                         float *restrict da, float *restrict dc);

static void rows_back(struct graph *g, struct node *y, row_back_fn *row_back)
{
    struct node *a = y->in[0], *c = y->in[1];
    int H = y->cols;
    float *sink = arena_array(&g->arena, 5 * (size_t)H, sizeof(*sink));
    for (int i = 0; i < y->rows; i++)
        row_back(H, node_grad_row(y, i), node_row(a, i), node_row(c, i),
                 a->grad ? node_grad_row(a, i) : sink,
                 c->grad ? node_grad_row(c, i) : sink + 4 * H);
}

static void cell_backward(struct graph *g, struct node *y)
{
    rows_back(g, y, cell_row_back);
}

static void state_backward(struct graph *g, struct node *y)
{
    rows_back(g, y, state_row_back);
}

struct node *lstm_cell(struct graph *g, struct node *a, struct node *c)
{
    static const struct op op = { "lstm_cell", cell_backward };
    assert(a->cols == 4 * c->cols && a->rows == c->rows);
    struct node *y = graph_node(g, &op, c->rows, c->cols, a, c, NULL, NULL);
    for (int i = 0; i < y->rows; i++)
        cell_row(y->cols, node_row(a, i), node_row(c, i), node_row(y, i));
    return y;
}

struct node *lstm_state(struct graph *g, struct node *a, struct node *c)
{
    static const struct op op = { "lstm_state", state_backward };
    assert(a->cols == 4 * c->cols && a->rows == c->rows);
    struct node *y = graph_node(g, &op, c->rows, c->cols, a, c, NULL, NULL);
    for (int i = 0; i < y->rows; i++)
        state_row(y->cols, node_row(a, i), node_row(c, i), node_row(y, i));
    return y;
}
