/* i, f, o = sigma(a_i), sigma(a_f), sigma(a_o); n = tanh(a_g);
 * c' = f * c + i * n; h' = o * tanh(c')
 * Hochreiter & Schmidhuber 1997, Gers et al. 2000, without peepholes.
 *
 * The gates take the place of a, and on the way back da takes theirs: columns
 * up to 3H in the one operation, the rest in the other. */
#include <assert.h>

#include "graph/ops.h"
#include "tensor/kernel.h"

KERNEL static void cell_row(int H, float *restrict i_f, float *restrict n,
                            const float *restrict c, float *restrict out)
{
    for (int k = 0; k < 2 * H; k++)
        i_f[k] = approx_sigmoid(i_f[k]);
    for (int k = 0; k < H; k++) {
        n[k] = approx_tanh(n[k]);
        out[k] = fma32(i_f[H + k], c[k], i_f[k] * n[k]);
    }
}

/* dc += f dy; da_i = dy n i (1 - i); da_f = dy c f (1 - f);
 * da_g = dy i (1 - n^2) */
KERNEL static void cell_row_back(int H, const float *restrict dy,
                                 float *restrict i, float *restrict f,
                                 float *restrict n, const float *restrict c,
                                 float *restrict dc)
{
    for (int k = 0; k < H; k++) {
        float da_i = dy[k] * n[k] * (i[k] * (1.0f - i[k]));
        float da_g = dy[k] * i[k] * fma32(-n[k], n[k], 1.0f);
        dc[k] = fma32(f[k], dy[k], dc[k]);
        f[k] = dy[k] * c[k] * (f[k] * (1.0f - f[k]));
        i[k] = da_i;
        n[k] = da_g;
    }
}

KERNEL static void state_row(int H, float *restrict o, const float *restrict c,
                             float *restrict out)
{
    for (int k = 0; k < H; k++) {
        o[k] = approx_sigmoid(o[k]);
        out[k] = o[k] * approx_tanh(c[k]);
    }
}

/* dc += dy o (1 - tanh^2 c); da_o = dy tanh(c) o (1 - o) */
KERNEL static void state_row_back(int H, const float *restrict dy,
                                  float *restrict o, const float *restrict c,
                                  float *restrict dc)
{
    for (int k = 0; k < H; k++) {
        float t = approx_tanh(c[k]);
        dc[k] = fma32(dy[k] * o[k], fma32(-t, t, 1.0f), dc[k]);
        o[k] = dy[k] * t * (o[k] * (1.0f - o[k]));
    }
}

static float *sink_for(struct graph *g, const struct node *c)
{
    return arena_array(&g->arena, (size_t)c->cols, sizeof(float));
}

static void cell_backward(struct graph *g, struct node *y)
{
    struct node *a = y->in[0], *c = y->in[1];
    int H = y->cols;
    float *sink = sink_for(g, c);
    for (int i = 0; i < y->rows; i++) {
        float *gates = node_row(a, i);
        cell_row_back(H, node_grad_row(y, i), gates, gates + H, gates + 2 * H,
                      node_row(c, i), c->grad ? node_grad_row(c, i) : sink);
    }
    node_hand_back(a, 0, 3 * H);
}

static void state_backward(struct graph *g, struct node *y)
{
    struct node *a = y->in[0], *c = y->in[1];
    int H = y->cols;
    float *sink = sink_for(g, c);
    for (int i = 0; i < y->rows; i++)
        state_row_back(H, node_grad_row(y, i), node_row(a, i) + 3 * H,
                       node_row(c, i), c->grad ? node_grad_row(c, i) : sink);
    node_hand_back(a, 3 * H, H);
}

struct node *lstm_cell(struct graph *g, struct node *a, struct node *c)
{
    static const struct op op = { "lstm_cell", cell_backward };
    assert(a->cols == 4 * c->cols && a->rows == c->rows);
    struct node *y = graph_node(g, &op, c->rows, c->cols, a, c, NULL, NULL);
    for (int i = 0; i < y->rows; i++)
        cell_row(y->cols, node_row(a, i), node_row(a, i) + 2 * y->cols,
                 node_row(c, i), node_row(y, i));
    return y;
}

struct node *lstm_state(struct graph *g, struct node *a, struct node *c)
{
    static const struct op op = { "lstm_state", state_backward };
    assert(a->cols == 4 * c->cols && a->rows == c->rows);
    struct node *y = graph_node(g, &op, c->rows, c->cols, a, c, NULL, NULL);
    for (int i = 0; i < y->rows; i++)
        state_row(y->cols, node_row(a, i) + 3 * y->cols, node_row(c, i),
                  node_row(y, i));
    return y;
}
