/* What attn-bench measures of a start: a model is read, prepared, and
 * translates a sentence. A process can start once only. */
#ifndef ATTN_CLI_PROBE_START_UP_H
#define ATTN_CLI_PROBE_START_UP_H

#include "cli/probe.h"
#include "tensor/precision.h"

struct start_up_setup {
    const char *model; /* file */
    int threads;       /* that read it; one translates */
    int words, beam;   /* of the sentence, any words */
    enum precision precision;
};

/* Nothing to say. */
struct start_up_question {
    char unused;
};

struct start_up_answer {
    double load, translate; /* seconds */
    double peak;            /* MiB */
};

extern const struct probe_kind start_up_probe; /* setup: start_up_setup */

#endif
