/* The measurements of attn-bench, one after the other. */
#ifndef ATTN_CLI_BENCH_H
#define ATTN_CLI_BENCH_H

enum {
    BENCH_LIST = 16,        /* most items of a list */
    BENCH_VOCABULARY = 8000 /* entries of a vocabulary, at most */
};

struct bench_report;

struct bench_size {
    int embedding, hidden; /* E, H */
};

struct bench_list {
    int item[BENCH_LIST], count;
};

struct bench_settings {
    const char *source, *target; /* files to train on */
    const char *test;            /* to translate; NULL: nothing is */
    const char *model;           /* translates; NULL: one made on the way */

    struct bench_list threads, beams;
    struct bench_size size[BENCH_LIST]; /* of models to train */
    int sizes;
    struct bench_size translation; /* of the model made to translate */

    int rounds;          /* of every measurement */
    int updates, warmup; /* of a round; before the first */
    int train_for;       /* updates of that model */
    int shards;          /* 0: as many as threads, 2 at least */
    double seconds;      /* of a measurement of products */
};

/* 0, or -1 after reporting. */
int bench_run(const struct bench_settings *settings, struct bench_report *r);

#endif
