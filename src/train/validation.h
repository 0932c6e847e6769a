/* Validation: how well the weights do on text they are not trained on. */
#ifndef ATTN_TRAIN_VALIDATION_H
#define ATTN_TRAIN_VALIDATION_H

#include <stdbool.h>

#include "corpus/corpus.h"
#include "corpus/vocab.h"

struct config;
struct model;
struct workers;

struct validation {
    const struct config *cfg;
    const struct model *model;
    const struct vocab *source, *target;
    struct workers *workers;
    struct corpus corpus;
    char **reference; // [pairs] the words of the target lines
    double *nll;      // [pairs]; NULL: there is no validation text
};

struct validation_result {
    double perplexity; /* exp of the mean -log p of a word */
    double bleu;       /* -1: not measured */
};

/* Metrics that may decide on the best model: a table. */
struct validation_metric {
    const char *name;
    bool larger_is_better;
    double (*value)(const struct validation_result *r);
    bool needs_bleu;
};

extern const struct validation_metric validation_metrics[];
const struct validation_metric *validation_metric_named(
    const struct config *cfg);

/* Reads the validation text, if the configuration names one. All arguments
 * are borrowed. 0, or -1 after reporting. */
int validation_init(struct validation *v, const struct config *cfg,
                    const struct model *model, const struct vocab *source,
                    const struct vocab *target, struct workers *workers);
void validation_release(struct validation *v);

/* The model must have been prepared. No memory is kept from time to time. */
void validation_run(struct validation *v, struct validation_result *r);

#endif
