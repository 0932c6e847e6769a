/* r = sigma(gx_r + gh_r), z = sigma(gx_z + gh_z),
 * n = tanh(gx_n + r * gh_n), h' = (1 - z) * n + z * h
 * Cho et al. 2014, eqs. 5-8, the reset gate after the matrix as in cuDNN. */
#include <assert.h>

#include "graph/ops.h"
#include "tensor/kernel.h"

/* One row; keeps r, z, n in `gates` [3H] for the way back. */
KERNEL static void gates_row(int H, const float *restrict gx,
                             const float *restrict gh, const float *restrict h,
                             float *restrict gates, float *restrict out)
{
    for (int i = 0; i < 2 * H; i++)
        gates[i] = approx_sigmoid(gx[i] + gh[i]);
    const float *r = gates, *z = gates + H;
    float *n = gates + 2 * H;
    for (int i = 0; i < H; i++) {
        float candidate = approx_tanh(
            fma32(r[i], gh[2 * H + i], gx[2 * H + i]));
        n[i] = candidate;
        out[i] = fma32(z[i], h[i] - candidate, candidate);
    }
}

/* dh += z dy; dz = dy (h - n) z (1 - z); da = dy (1 - z) (1 - n^2)
 * dgx = [dr dz da], dgh = [dr dz (r da)], dr = da gh_n r (1 - r) */
KERNEL static void gates_row_back(int H, const float *restrict dy,
                                  const float *restrict gates,
                                  const float *restrict gh,
                                  const float *restrict h, float *restrict dgx,
                                  float *restrict dgh, float *restrict dh)
{
    const float *r = gates, *z = gates + H, *n = gates + 2 * H;
    for (int i = 0; i < H; i++) {
        float da = dy[i] * (1.0f - z[i]) * fma32(-n[i], n[i], 1.0f);
        float dz = dy[i] * (h[i] - n[i]) * z[i] * (1.0f - z[i]);
        float dr = da * gh[2 * H + i] * r[i] * (1.0f - r[i]);
        dh[i] = fma32(z[i], dy[i], dh[i]);
        dgx[i] += dr;
        dgx[H + i] += dz;
        dgx[2 * H + i] += da;
        dgh[i] += dr;
        dgh[H + i] += dz;
        dgh[2 * H + i] = fma32(da, r[i], dgh[2 * H + i]);
    }
}

static void gru_backward(struct graph *g, struct node *y)
{
    struct node *gx = y->in[0], *gh = y->in[1], *h = y->in[2];
    const float *gates = y->extra;
    int H = y->cols;
    float *sink = arena_array(&g->arena, 7 * (size_t)H, sizeof(*sink));
    for (int i = 0; i < y->rows; i++)
        gates_row_back(H, node_grad_row(y, i), gates + 3 * (size_t)i * H,
                       node_row(gh, i), node_row(h, i),
                       gx->grad ? node_grad_row(gx, i) : sink,
                       gh->grad ? node_grad_row(gh, i) : sink + 3 * H,
                       h->grad ? node_grad_row(h, i) : sink + 6 * H);
}

struct node *gru_gates(struct graph *g, struct node *gx, struct node *gh,
                       struct node *h)
{
    static const struct op op = { "gru_gates", gru_backward };
    int H = h->cols;
    assert(gx->cols == 3 * H && gh->cols == 3 * H);
    assert(gx->rows == h->rows && gh->rows == h->rows);
    struct node *y = graph_node(g, &op, h->rows, H, gx, gh, h, NULL);
    float *gates = arena_alloc(&g->arena, 3 * node_size(h) * sizeof(*gates));
    y->extra = gates;
    for (int i = 0; i < y->rows; i++)
        gates_row(H, node_row(gx, i), node_row(gh, i), node_row(h, i),
                  gates + 3 * (size_t)i * H, node_row(y, i));
    return y;
}
