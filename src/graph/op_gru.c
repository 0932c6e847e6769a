/* r = sigma(gx_r + gh_r), z = sigma(gx_z + gh_z),
 * n = tanh(gx_n + r * gh_n), h' = (1 - z) * n + z * h
 * Cho et al. 2014, eqs. 5-8, the reset gate after the matrix as in cuDNN.
 *
 * r, z and n take the place of gx, and on the way back dgx takes theirs, and
 * dgh that of gh. */
#include <assert.h>

#include "graph/ops.h"
#include "tensor/kernel.h"

/* One row; rz is gx_r and gx_z on entry, r and z on return, n is gx_n. */
KERNEL static void gates_row(int H, float *restrict rz, float *restrict n,
                             const float *restrict gh, const float *restrict h,
                             float *restrict out)
{
    for (int i = 0; i < 2 * H; i++)
        rz[i] = approx_sigmoid(rz[i] + gh[i]);
    for (int i = 0; i < H; i++) {
        float candidate = approx_tanh(fma32(rz[i], gh[2 * H + i], n[i]));
        n[i] = candidate;
        out[i] = fma32(rz[H + i], h[i] - candidate, candidate);
    }
}

/* The parts of a row of gates. */
struct gates {
    float *r, *z, *n;
};

static struct gates gates_at(struct node *x, int row)
{
    float *r = node_row(x, row);
    int H = x->cols / 3;
    return (struct gates){ r, r + H, r + 2 * H };
}

/* dh += z dy; dz = dy (h - n) z (1 - z); da = dy (1 - z) (1 - n^2)
 * dgx = [dr dz da], dgh = [dr dz (r da)], dr = da gh_n r (1 - r) */
KERNEL static void gates_row_back(int H, const float *restrict dy,
                                  float *restrict r, float *restrict z,
                                  float *restrict n, float *restrict gh_r,
                                  float *restrict gh_z, float *restrict gh_n,
                                  const float *restrict h, float *restrict dh)
{
    for (int i = 0; i < H; i++) {
        float da = dy[i] * (1.0f - z[i]) * fma32(-n[i], n[i], 1.0f);
        float dz = dy[i] * (h[i] - n[i]) * z[i] * (1.0f - z[i]);
        float dr = da * gh_n[i] * r[i] * (1.0f - r[i]);
        dh[i] = fma32(z[i], dy[i], dh[i]);
        gh_n[i] = da * r[i];
        r[i] = gh_r[i] = dr;
        z[i] = gh_z[i] = dz;
        n[i] = da;
    }
}

static void gru_backward(struct graph *g, struct node *y)
{
    struct node *gx = y->in[0], *gh = y->in[1], *h = y->in[2];
    int H = y->cols;
    float *sink = arena_array(&g->arena, (size_t)H, sizeof(*sink));
    for (int i = 0; i < y->rows; i++) {
        struct gates x = gates_at(gx, i), s = gates_at(gh, i);
        gates_row_back(H, node_grad_row(y, i), x.r, x.z, x.n, s.r, s.z, s.n,
                       node_row(h, i), h->grad ? node_grad_row(h, i) : sink);
    }
    node_hand_back(gx, 0, 3 * H);
    node_hand_back(gh, 0, 3 * H);
}

struct node *gru_gates(struct graph *g, struct node *gx, struct node *gh,
                       struct node *h)
{
    static const struct op op = { "gru_gates", gru_backward };
    int H = h->cols;
    assert(gx->cols == 3 * H && gh->cols == 3 * H);
    assert(gx->rows == h->rows && gh->rows == h->rows);
    struct node *y = graph_node(g, &op, h->rows, H, gx, gh, h, NULL);
    for (int i = 0; i < y->rows; i++)
        gates_row(H, node_row(gx, i), node_row(gx, i) + 2 * H, node_row(gh, i),
                  node_row(h, i), node_row(y, i));
    return y;
}
