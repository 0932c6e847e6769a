/* The learner: weights, gradients, moments and average, and one update.
 *
 * An update is
 *     as many shards at a time as there are threads, each on one of them:
 *         batch -> loss -> back through the tape
 *         products of the notes on each weight: its gradient, shard after shard
 *     add the shards' other gradients, in a fixed tree
 *     clip by the norm of all of them
 *     optimiser and average, one pass
 * Which thread does what does not matter to a bit of the result: shards and
 * stretches of parameters are cut by the configuration, not by the number of
 * threads, and what they sum is added in their order. */
#ifndef ATTN_TRAIN_LEARNER_H
#define ATTN_TRAIN_LEARNER_H

#include <stdint.h>

#include "corpus/batch.h"
#include "graph/ops.h"
#include "nn/params.h"
#include "tensor/precision.h"
#include "train/optimizer.h"

struct config;
struct model;
struct workers;

struct learner {
    struct model *model;
    struct workers *workers;
    const struct config *cfg;
    const struct optimizer *optimizer;
    float *slot[OPTIMIZER_SLOTS]; /* blocks of the layout of the weights */
    float *average;               /* the same, NULL: off */
    int shards;
    enum precision precision;    /* of products */
    struct gradients *gradients; // [shards]; the first takes the sum
    bool *noted;                 // [parameters]: there by products of notes
    const struct param **order;  // [parameters]: the largest first
    int wave;                    /* shards at a time */
    struct graph *graph;         // [wave]
    struct graph *tool;          // [workers], for products of notes
    size_t graph_bytes; /* the most of `graph`, before it was released */
    struct stretch *stretch;
    int stretches;
    double *square_sum; // [stretches]
};

/* What an update did. */
struct update_result {
    struct loss loss;
    long sentences, source_tokens, target_tokens; /* with </s> */
    double gradient_norm;
};

/* The weights must stand already. The average starts as a copy of them. */
int learner_init(struct learner *l, struct model *model,
                 struct workers *workers, const struct config *cfg);
void learner_release(struct learner *l);

/* Update number `update` (from 1) on batch i, with this step size. 0, or -1
 * after reporting that loss or gradient is not finite; the weights are then
 * as they were. */
int learner_update(struct learner *l, const struct batches *batches, size_t i,
                   uint64_t update, double rate, struct update_result *result);

/* 0 when all weights are finite, else -1 after reporting: then nothing may be
 * saved. */
int learner_check_weights(const struct learner *l, uint64_t update);

/* Puts the average in the place of the weights and prepares the model for
 * search, which gets the memory that only updates need; and back. */
void learner_pause(struct learner *l);
void learner_go_on(struct learner *l);

/* Bytes of all that is held, and the most the graphs have used. */
size_t learner_bytes(const struct learner *l);

#endif
