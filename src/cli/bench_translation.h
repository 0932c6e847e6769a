/* The translation that attn-bench measures: a file, from lines to lines. */
#ifndef ATTN_CLI_BENCH_TRANSLATION_H
#define ATTN_CLI_BENCH_TRANSLATION_H

#include "cli/probe.h"

struct translation_setup {
    const char *model, *test; /* files */
    int threads, beam;
};

/* Nothing to say: the whole file, again. */
struct translation_question {
    char unused;
};

struct translation_answer {
    double seconds, sentences;
    double words;          /* put out, with </s> */
    double peak;           /* MiB */
    int embedding, hidden; /* of the model */
};

extern const struct probe_kind translation_probe; /* setup: translation_setup */

#endif
