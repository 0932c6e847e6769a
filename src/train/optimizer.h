/* Optimisers: a plug-in table, one file optimizer_*.c each.
 *
 * An update is one pass over a stretch of parameters: clipped gradient,
 * moments and step together. Rows of tables (embeddings) that no word of the
 * batch has touched are passed over, moments and all, as in PyTorch's
 * SparseAdam: a pass over an update costs what its words cost. */
#ifndef ATTN_TRAIN_OPTIMIZER_H
#define ATTN_TRAIN_OPTIMIZER_H

#include <stddef.h>

struct config;

enum { OPTIMIZER_SLOTS = 2 };

/* What an update needs to know, the same for all parameters. */
struct update {
    float rate;     /* step size, already scheduled */
    float gradient; /* factor of the gradient (clipping) */
    float momentum, beta1, beta2, epsilon;
    float correction1, correction2; /* adam: 1 - beta^t */
};

struct optimizer {
    const char *name;
    int slots; /* floats kept for each parameter */
    const char *slot_name[OPTIMIZER_SLOTS];

    /* w[n] and the slots [n] are changed by the gradient g[n]. */
    void (*apply)(const struct update *u, size_t n, float *w, const float *g,
                  float *slot0, float *slot1);
};

extern const struct optimizer *const optimizers[];

/* The optimiser of training.optimizer, or NULL after reporting. */
const struct optimizer *optimizer_named(const struct config *cfg);

/* Constants of update number t (from 1). */
struct update optimizer_update(const struct config *cfg, double t, double rate);

#endif
