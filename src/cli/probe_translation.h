/* The translation that attn-bench measures: a file, from lines to lines. */
#ifndef ATTN_CLI_PROBE_TRANSLATION_H
#define ATTN_CLI_PROBE_TRANSLATION_H

#include "cli/probe.h"
#include "tensor/precision.h"

struct model_file;

struct translation_setup {
    struct model_file *model; /* prepared in the process */
    const char *test;         /* a file */
    int sentences;            /* of it, from the first on; 0: all */
    int threads, beam, batch;
    enum precision precision;
};

/* Nothing to say: the whole text, again. */
struct translation_question {
    char unused;
};

struct translation_answer {
    double seconds, sentences;
    double words_in, words; /* put out; both with </s> */
    double peak;            /* MiB */
};

extern const struct probe_kind translation_probe; /* setup: translation_setup */

#endif
