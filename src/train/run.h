/* Everything a training run holds, and how it comes from and goes to files. */
#ifndef ATTN_TRAIN_RUN_H
#define ATTN_TRAIN_RUN_H

#include <stdbool.h>

#include "base/workers.h"
#include "corpus/batch.h"
#include "corpus/corpus.h"
#include "corpus/vocab.h"
#include "model/model.h"
#include "train/learner.h"
#include "train/log.h"
#include "train/position.h"
#include "train/saver.h"
#include "train/schedule.h"
#include "train/validation.h"

struct config;

struct run {
    const struct config *cfg;
    const struct schedule *schedule;
    const struct validation_metric *metric;
    struct workers *workers;
    struct vocab source, target;
    struct corpus corpus;
    struct batches *batches;
    struct model *model;
    struct learner learner;
    struct validation validation;
    struct position position;
    struct saver *saver;
    struct log log;
    double loading; /* seconds: vocabularies, corpus, the first order */
};

/* Reads the corpora, makes or restores the model. 0, or -1 after reporting;
 * release in both cases. */
int run_init(struct run *r, const struct config *cfg, bool restart);
void run_release(struct run *r);

/* Start saving checkpoint.npz and best.npz. */
int run_save_checkpoint(struct run *r);
int run_save_best(struct run *r);

/* Waits until all is saved, closes the log. */
int run_finish(struct run *r);

#endif
