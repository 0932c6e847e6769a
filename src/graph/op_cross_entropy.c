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
#include "tensor/kernel.h"
#include "tensor/matmul.h"
#include "tensor/packed.h"
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

/* Some rows of r on their way, and what is computed of them. */
struct chunk {
    struct graph *g;
    struct node *r, *w, *b;
    const int *gold;
    const struct loss_config *config;
    float *row_nll;
    int first, rows;
    float *logits; // [rows,V]
};

static float *chunk_row(const struct chunk *c, int i)
{
    return c->logits + (size_t)i * (size_t)c->b->cols;
}

static void chunk_logits(const struct chunk *c)
{
    int V = c->b->cols, E = c->r->cols, rows = c->rows;
    const float *x = node_row(c->r, c->first), *w = c->w->value;
    bool transposed = c->config->transposed;
    const struct packed *packed = transposed ? c->w->packed_turned
                                             : c->w->packed;
    profile_enter(c->g->profile, "output logits", PROFILE_FORWARD);
    profile_work(c->g->profile, 2.0 * rows * V * E);
    matmul_fn *multiply = transposed       ? matmul_nt
                          : c->g->training ? matmul_nn
                                           : matmul_alone;
    if (packed)
        packed_product(packed, graph_multiplier(c->g), rows, x, c->b->value,
                       c->logits);
    else
        multiply(graph_multiplier(c->g), c->w->precision, rows, V, E, x, w,
                 c->b->value, c->logits);
}

static struct loss chunk_loss(const struct chunk *c)
{
    struct loss total = { 0, 0 };
    bool training = c->g->training;
    profile_enter(c->g->profile, "softmax and loss", PROFILE_FORWARD);
    for (int i = 0; i < c->rows; i++) {
        struct loss one = row_loss(chunk_row(c, i), c->b->cols,
                                   c->gold[c->first + i], c->config, training);
        total.smoothed += one.smoothed;
        total.nll += one.nll;
        if (c->row_nll)
            c->row_nll[c->first + i] = (float)one.nll;
        if (training && c->b->grad)
            vec_add(c->b->grad, chunk_row(c, i), (size_t)c->b->cols);
    }
    return total;
}

/* dr += d w^T, dw += r^T d, d[rows,V] the gradient of logits */
static void chunk_gradients(const struct chunk *c)
{
    struct node *r = c->r, *w = c->w;
    struct multiplier *mu = graph_multiplier(c->g);
    int V = c->b->cols, E = r->cols, rows = c->rows;
    bool transposed = c->config->transposed;
    const float *x = node_row(r, c->first), *d = c->logits;
    float *dx = r->grad ? node_grad_row(r, c->first) : NULL;
    float *start = w->blank ? NULL : w->grad;
    profile_enter(c->g->profile, "output gradients", PROFILE_BACKWARD);
    profile_work(c->g->profile, 4.0 * rows * V * E);
    if (dx)
        (transposed ? matmul_nn : matmul_nt)(mu, w->precision, rows, E, V, d,
                                             w->value, dx, dx);
    if (w->grad && transposed)
        matmul_tn(mu, w->precision, V, E, rows, d, x, start, w->grad);
    else if (w->grad)
        matmul_tn(mu, w->precision, E, V, rows, x, d, start, w->grad);
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
    struct chunk c = { g, r, w, b, gold, config, row_nll, 0, 0, NULL };
    c.logits = arena_alloc(&g->arena,
                           (size_t)(r->rows < most ? r->rows : most) *
                               (size_t)V * sizeof(*c.logits));
    for (; c.first < r->rows; c.first += most) {
        c.rows = r->rows - c.first < most ? r->rows - c.first : most;
        chunk_logits(&c);
        struct loss one = chunk_loss(&c);
        total.smoothed += one.smoothed;
        total.nll += one.nll;
        if (g->training) {
            chunk_gradients(&c);
            w->blank = false;
        }
    }
    arena_rewind(&g->arena, mark);
    return total;
}
