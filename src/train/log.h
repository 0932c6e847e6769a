/* The log of a training run.
 *
 * On stderr lines of Marian's shape, which many scripts read, and log.tsv in
 * the model's folder with exact numbers. A resumed run takes the rows behind
 * its checkpoint out of log.tsv and goes on from there. */
#ifndef ATTN_TRAIN_LOG_H
#define ATTN_TRAIN_LOG_H

#include <stdio.h>

#include "base/progress.h"

struct position;
struct update_result;

struct log {
    FILE *file;
    char *path;
    struct progress progress;
    double since; /* clock at the last line */
    long tokens;  /* target tokens since then */
};

/* Opens `path`; rows of updates beyond the position's go. */
int log_open(struct log *l, const char *path, const struct position *p);

/* After each update: shows progress, and tallies for the speed. */
void log_update(struct log *l, const struct position *p,
                const struct update_result *r, long batches);

/* A line for the updates since the last one, whose tallies are in the
 * position and are cleared. */
void log_training(struct log *l, struct position *p, double rate);

/* A line for a validation. bleu < 0: not measured. */
void log_validation(struct log *l, const struct position *p, double bleu,
                    double seconds, bool best);

/* 0, or -1 after reporting that the file could not be written. */
int log_close(struct log *l);

#endif
