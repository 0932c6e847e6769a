/* The training that attn-bench measures, and the model it makes on the way. */
#ifndef ATTN_CLI_BENCH_TRAINING_H
#define ATTN_CLI_BENCH_TRAINING_H

#include "cli/arithmetic.h"
#include "cli/probe.h"

struct corpus;
struct vocab;

enum { BENCH_MAX_LENGTH = 50 }; /* words a side of what is trained on */

struct training_setup {
    const struct corpus *corpus;
    const struct vocab *source, *target;
    int embedding, hidden, threads, shards;
};

/* The next so many updates; then, if a file is named, saves the model. */
struct training_question {
    int updates;
    char save[512]; /* empty: no */
};

struct training_answer {
    double seconds; /* of the updates */
    struct arithmetic_tokens tokens;
    double loss; /* mean of a target token */
    double peak; /* MiB, so far */
};

extern const struct probe_kind training_probe; /* setup: training_setup */

#endif
