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
    if (packed) {
        packed_product(packed, graph_multiplier(c->g), rows, x, c->b->value,
                       false, c->logits);
        return;
    }
    for (int i = 0; i < rows; i++)
        vec_copy(chunk_row(c, i), c->b->value, (size_t)V);
    if (transposed)
        matmul_nt(graph_multiplier(c->g), rows, V, E, x, w, true, c->logits);
    else if (c->g->training)
        matmul_nn(graph_multiplier(c->g), rows, V, E, x, w, true, c->logits);
    else
        matmul_alone(graph_multiplier(c->g), rows, V, E, x, w, true, c->logits);
}

/* Row i of the gradient of the logits: db += d, and it is rounded for the
 * products in bf16. */
static void take_gradient(const struct chunk *c, int i)
{
    const float *d = chunk_row(c, i), *x = node_row(c->r, c->first + i);
    bool transposed = c->config->transposed;
    if (c->b->grad)
        vec_add(c->b->grad, d, (size_t)c->b->cols);
    if (node_in_bf16(c->w))
        gradient_rows(graph_multiplier(c->g), transposed ? d : x,
                      transposed ? x : d, 1);
}

static struct loss chunk_loss(const struct chunk *c)
{
    struct loss total = { 0, 0 };
    bool training = c->g->training;
    profile_enter(c->g->profile, "softmax and loss", PROFILE_FORWARD);
    if (training && node_in_bf16(c->w))
        gradient_begin(graph_multiplier(c->g), c->w->rows, c->w->cols, c->rows,
                       !c->w->blank, c->w->grad);
    for (int i = 0; i < c->rows; i++) {
        struct loss one = row_loss(chunk_row(c, i), c->b->cols,
                                   c->gold[c->first + i], c->config, training);
        total.smoothed += one.smoothed;
        total.nll += one.nll;
        if (c->row_nll)
            c->row_nll[c->first + i] = (float)one.nll;
        if (training)
            take_gradient(c, i);
    }
    return total;
}

/* dr += d w^T, dw += r^T d, d[rows,V] the gradient of logits */
static void plain_gradients(const struct chunk *c)
{
    struct node *r = c->r, *w = c->w;
    int V = c->b->cols, E = r->cols, rows = c->rows;
    const float *x = node_row(r, c->first), *d = c->logits;
    float *dx = r->grad ? node_grad_row(r, c->first) : NULL;
    if (c->config->transposed) {
        if (dx)
            matmul_nn(graph_multiplier(c->g), rows, E, V, d, w->value, true,
                      dx);
        if (w->grad)
            matmul_tn(graph_multiplier(c->g), V, E, rows, d, x, !w->blank,
                      w->grad);
        return;
    }
    if (dx)
        matmul_nt(graph_multiplier(c->g), rows, E, V, d, w->value, true, dx);
    if (w->grad)
        matmul_tn(graph_multiplier(c->g), E, V, rows, x, d, !w->blank, w->grad);
}

static void chunk_gradients(const struct chunk *c)
{
    struct node *r = c->r, *w = c->w;
    bool transposed = c->config->transposed;
    profile_enter(c->g->profile, "output gradients", PROFILE_BACKWARD);
    profile_work(c->g->profile, 4.0 * c->rows * c->b->cols * r->cols);
    if (!node_in_bf16(w)) {
        plain_gradients(c);
        return;
    }
    if (r->grad)
        gradient_input(graph_multiplier(c->g),
                       transposed ? w->packed : w->packed_turned, transposed,
                       node_grad_row(r, c->first));
    gradient_end(graph_multiplier(c->g));
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
