/* p_i = softmax(r_i w + b); with smoothing s the target distribution is
 * t_i = (1 - s) onehot(gold_i) + s / V, and the loss of a row
 *     L_i = - sum_k t_ik log p_ik
 * whose gradient by the logits is p_i - t_i (Szegedy et al. 2016, sec. 7).
 *
 * The rows go by in chunks: logits, softmax, gradient of the logits, and at
 * once the gradients of r, w and b, so that no more than a chunk of logits
 * ever exists. */
#include <assert.h>
#include <math.h>

#include "base/profile.h"
#include "graph/ops.h"
#include "tensor/gemm.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

/* Most floats of a chunk of logits: 32 MiB. */
enum { CHUNK_FLOATS = 8 << 20 };

static int chunk_rows(int V)
{
    int rows = CHUNK_FLOATS / V;
    return rows < 16 ? 16 : rows > 512 ? 512 : rows;
}

/* Logits of one row -> its losses; where wanted, its logits become their own
 * gradient scale (p - t). */
static struct loss row_loss(float *logits, int V, int gold,
                            const struct loss_config *config, bool gradient)
{
    float s = config->smoothing;
    float top = vec_max(logits, V);
    float gold_logit = logits[gold] - top;
    float mean = s > 0 ? vec_sum(logits, V) / (float)V - top : 0;
    float sum = vec_exp_sum(logits, logits, top, V);
    double log_sum = log((double)sum);
    if (gradient) {
        vec_affine(logits, config->scale / sum, -config->scale * s / (float)V,
                   (size_t)V);
        logits[gold] -= config->scale * (1.0f - s);
    }
    double nll = log_sum - (double)gold_logit;
    double spread = log_sum - (double)mean;
    return (struct loss){
        .smoothed = (1.0 - (double)s) * nll + (double)s * spread, .nll = nll
    };
}

static void chunk_logits(struct graph *g, const struct node *r, int first,
                         int rows, const struct node *w, const struct node *b,
                         bool transposed, float *logits)
{
    int V = b->cols;
    for (int i = 0; i < rows; i++)
        vec_copy(logits + (size_t)i * V, b->value, (size_t)V);
    const float *x = node_row(r, first);
    if (transposed)
        gemm_nt(rows, V, r->cols, x, w->value, true, logits);
    else if (g->training)
        gemm_nn(rows, V, r->cols, x, w->value, true, logits);
    else
        gemm_rows(rows, V, r->cols, x, w->value, true, logits);
}

/* dr += d w^T, dw += r^T d, db += sum d, d[rows,V] the gradient of logits */
static void chunk_gradients(struct node *r, int first, int rows, struct node *w,
                            struct node *b, bool transposed, const float *d)
{
    int V = b->cols, E = r->cols;
    const float *x = node_row(r, first);
    if (r->grad && transposed)
        gemm_nn(rows, E, V, d, w->value, true, node_grad_row(r, first));
    else if (r->grad)
        gemm_nt(rows, E, V, d, w->value, true, node_grad_row(r, first));
    if (w->grad && transposed)
        gemm_tn(V, E, rows, d, x, true, w->grad);
    else if (w->grad)
        gemm_tn(E, V, rows, x, d, true, w->grad);
    for (int i = 0; i < rows && b->grad; i++)
        vec_add(b->grad, d + (size_t)i * V, (size_t)V);
}

struct loss cross_entropy(struct graph *g, struct node *r, struct node *w,
                          struct node *b, const int *gold,
                          const struct loss_config *config, float *row_nll)
{
    int V = b->cols, most = chunk_rows(V);
    assert(config->transposed ? w->rows == V && w->cols == r->cols
                              : w->cols == V && w->rows == r->cols);
    struct loss total = { 0, 0 };
    struct arena_mark mark = arena_mark(&g->arena);
    float *logits = arena_alloc(&g->arena,
                                (size_t)(r->rows < most ? r->rows : most) * V *
                                    sizeof(*logits));
    for (int first = 0; first < r->rows; first += most) {
        int rows = r->rows - first < most ? r->rows - first : most;
        profile_enter(g->profile, "output logits", PROFILE_FORWARD);
        profile_work(g->profile, 2.0 * rows * V * r->cols);
        chunk_logits(g, r, first, rows, w, b, config->transposed, logits);
        profile_enter(g->profile, "softmax and loss", PROFILE_FORWARD);
        for (int i = 0; i < rows; i++) {
            struct loss one = row_loss(logits + (size_t)i * V, V,
                                       gold[first + i], config, g->training);
            total.smoothed += one.smoothed;
            total.nll += one.nll;
            if (row_nll)
                row_nll[first + i] = (float)one.nll;
        }
        if (!g->training)
            continue;
        profile_enter(g->profile, "output gradients", PROFILE_BACKWARD);
        profile_work(g->profile, 4.0 * rows * V * r->cols);
        chunk_gradients(r, first, rows, w, b, config->transposed, logits);
    }
    arena_rewind(&g->arena, mark);
    return total;
}
