/* Where a training run stands: all that is not an array.
 *
 * Together with the arrays of a checkpoint it is enough to go on as if never
 * stopped; randomness needs nothing, being a function of seed and update. As
 * text it is progress.yaml of a model file: `key: value` lines, numbers exact. */
#ifndef ATTN_TRAIN_POSITION_H
#define ATTN_TRAIN_POSITION_H

#include <stddef.h>
#include <stdint.h>

struct config;

struct position {
    uint64_t update;             /* updates done */
    int epoch;                   /* epochs done */
    uint64_t batch;              /* batches done of the one at hand */
    uint64_t corpus, vocabulary; /* hashes of what it is trained on */

    int validations;
    uint64_t validated; /* update of the last validation */
    int stalled;        /* validations without improvement */
    int since_decay;    /* the same since the step size fell */
    double factor;      /* of the step size, by decay */
    double best;        /* metric of best.npz; see has_best */
    int has_best;
    uint64_t best_update;
    double perplexity, bleu; /* of the last validation */

    double seconds; /* of training, if minutes are limited */

    /* Tallies since the last line of the log. */
    double nll, norm;
    uint64_t sentences, tokens, updates;
};

/* Owned by the caller. */
char *position_text(const struct position *p, size_t *len);

/* 0, or -1 after reporting what of `name` cannot be understood. */
int position_parse(struct position *p, const char *name, const char *text,
                   size_t len);

#endif
