/* The training that attn-bench measures, and the model it makes on the way. */
#ifndef ATTN_CLI_PROBE_TRAINING_H
#define ATTN_CLI_PROBE_TRAINING_H

#include <stdbool.h>

#include "cli/arithmetic.h"
#include "cli/bench.h"
#include "cli/probe.h"

struct training_setup {
    const struct corpus *corpus;
    const struct vocab *source, *target;
    struct bench_size size;
    int threads, shards;
    enum precision precision;
    const char *score, *kind; /* of the attention; NULL: additive, global */
    bool narrow;              /* an encoder of H / 2 units a direction */
};

/* The next so many updates, or those from a batch of the first pass on; then,
 * if a file is named, saves the model. */
struct training_question {
    int updates;
    int first;      /* batch; -1: the next one */
    char save[512]; /* empty: no */
};

struct training_answer {
    double seconds; /* of the updates */
    struct arithmetic_tokens tokens;
    double loss; /* mean of a target token */
    double peak; /* MiB, so far */
};

extern const struct probe_kind training_probe; /* setup: training_setup */

/* The next updates. 0, or -1 after reporting. */
int training_ask(struct probe *p, int updates, struct training_answer *answer);

#endif
