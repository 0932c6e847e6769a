/* Translations that are measured in turn: sections translation and single. */
#ifndef ATTN_CLI_BENCH_SEARCHES_H
#define ATTN_CLI_BENCH_SEARCHES_H

struct bench;

struct searches_config {
    const char *what; /* in the CSV */
    int batch;        /* sentences */
    int sentences;    /* the first ones of the text; 0: all */
    int threads;      /* 0: the numbers that are set */
};

/* Every beam, precision and number of threads, in turn; prints the table. 0,
 * or -1 after reporting. */
int searches_measure(struct bench *b, const struct searches_config *config);

#endif
