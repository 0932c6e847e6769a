/* attn-bench: what is measured, section by section.
 *
 * A section (bench_NAME.c) measures one thing, every round in turn with what
 * it is compared with, and prints a table of it. What runs long, with threads
 * and memory of its own, is measured in probes (probe_NAME.c). */
#ifndef ATTN_CLI_BENCH_H
#define ATTN_CLI_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "corpus/corpus.h"
#include "corpus/vocab.h"
#include "model/model_file.h"
#include "tensor/precision.h"

enum {
    BENCH_LIST = 16,         /* most items of a list */
    BENCH_VOCABULARY = 8000, /* entries of a vocabulary, at most */
    BENCH_MAX_LENGTH = 50,   /* words a side of what is trained on */
    BENCH_BATCH = 64         /* sentences */
};

struct bench_report;
struct probe;
struct training_setup;

struct bench_size {
    int embedding, hidden; /* E, H */
};

struct bench_list {
    int item[BENCH_LIST], count;
};

struct bench_sizes {
    struct bench_size item[BENCH_LIST];
    int count;
};

struct bench_settings {
    const char *source, *target; /* files to train on */
    const char *test;            /* to translate, or NULL */
    const char *model;           /* translates; NULL: one made on the way */
    const char *growth;          /* folder of a larger text, or NULL */

    struct bench_list sections;   /* in bench_sections; none: what can be */
    struct bench_list precisions; /* enum precision; none: what can be */
    struct bench_list threads, beams;
    struct bench_sizes sizes; /* of models to train */

    struct bench_size translation; /* the model that translates */
    int train_for;                 /* for so many updates before */
    int sentences;                 /* translated one at a time */
    struct bench_list lengths;     /* of sources that are decoded */
    struct bench_size start_up;    /* the model that is loaded */
    struct bench_size attention;   /* of the sections attention and growth */
    struct bench_list pairs, vocabularies; /* of the section growth */

    int rounds;          /* of every measurement */
    int updates, warmup; /* of a round; before the first */
    int shards;          /* 0: as many as threads, 2 at least */
    double seconds;      /* of a measurement of products */
};

/* Parallel text as it is trained on. */
struct bench_text {
    struct vocab source, target;
    struct corpus corpus;
};

/* With vocabularies of so many entries at most. 0, or -1 after reporting;
 * release in both cases. */
int bench_text_read(struct bench_text *t, const char *source,
                    const char *target, int vocabulary);
void bench_text_release(struct bench_text *t);

struct bench {
    struct bench_settings set;
    struct bench_report *report;
    struct bench_text text;
    struct probe *limit;
    struct model_file model; /* that translates; see bench_model() */
};

struct bench_section {
    const char *name;
    bool translates; /* needs text to translate */
    bool grows;      /* needs the larger text */
    int (*run)(struct bench *b);
};

/* In the order in which they are measured, NULL after the last. */
extern const struct bench_section *const bench_sections[];

/* 0, or -1 after reporting. */
int bench_run(const struct bench_settings *settings, struct bench_report *r);

/* --- for sections --------------------------------------------------------- */

/* The most threads. */
int bench_threads(const struct bench *b);

/* Training of a model of this size on the text, in fp32; callers change what
 * is to be otherwise. */
struct training_setup bench_training_setup(const struct bench *b,
                                           const struct bench_size *size,
                                           int threads);

/* An empty file with a name of its own; NULL after reporting. */
char *bench_temporary(const char *ending);

/* The limit: GFLOP/s of products of so many threads in a precision, the faster
 * of a large one and one of a recurrence. 0, or -1 after reporting. */
int bench_limit(struct bench *b, int threads, enum precision precision,
                double *gflops);

/* The model that translates, in memory: what was given, or else trained when
 * it is first needed. NULL after reporting. */
struct model_file *bench_model(struct bench *b);

#endif
