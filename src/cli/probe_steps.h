/* Steps of decoding that attn-bench measures: sentences of one length, of
 * words without meaning, and a model that was never trained. */
#ifndef ATTN_CLI_PROBE_STEPS_H
#define ATTN_CLI_PROBE_STEPS_H

#include "cli/bench.h"
#include "cli/probe.h"

struct steps_setup {
    const char *kind; /* of attention */
    struct bench_size size;
    int vocabulary; /* of both sides */
    int sentences;  /* decoded together, one hypothesis each */
};

struct steps_question {
    int length; /* source words of each, with </s> */
    int steps;
    bool encode; /* anew, even if the last question had this length */
};

struct steps_answer {
    double encode; /* seconds, of all words; 0: not done */
    double decode; /* seconds, of all steps */
};

extern const struct probe_kind steps_probe; /* setup: steps_setup */

#endif
