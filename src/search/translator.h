/* Lines in, translations out, in the order of the lines.
 *
 * Lines are read until a window is full or no more are there at the moment,
 * sorted by length into batches, translated by all threads, and written in
 * input order; so a dialogue over a pipe is answered line by line, and a file
 * is translated in full batches. Every line has its line, an empty one an
 * empty one. */
#ifndef ATTN_SEARCH_TRANSLATOR_H
#define ATTN_SEARCH_TRANSLATOR_H

#include <stdio.h>

#include "corpus/corpus.h"
#include "corpus/vocab.h"
#include "search/alignment.h"
#include "search/beam.h"

struct lines;
struct workers;

struct translator_config {
    struct beam_config beam;
    int mini_batch; /* sentences translated together */
    int max_length; /* longer lines are cut, with a warning */
    int n_best;     /* hypotheses put out; 0: plain lines */

    /* Alignments: NULL for none. */
    FILE *alignment;
    const struct alignment_format *format;
    bool alignment_eos; /* keep the row and column of </s> */
    bool colour;
};

struct translator_counts {
    long lines, words_in, words_out;
    long unended;   /* stopped by the limit, without </s> */
    double seconds; /* of searching */
    size_t peak;    /* bytes of the searches' memory */
};

struct translator;

/* All arguments are borrowed; the model must have been prepared. */
struct translator *translator_new(const struct model *model,
                                  const struct vocab *source,
                                  const struct vocab *target,
                                  struct workers *workers,
                                  const struct translator_config *config);
void translator_free(struct translator *t);

/* Translates all lines of `in` to `out`. 0, or -1 after reporting what could
 * not be read; errors of the streams are the caller's. */
int translator_run(struct translator *t, struct lines *in, FILE *out);

const struct translator_counts *translator_counts(const struct translator *t);

/* The target-side ids of a corpus' source sides: for validation. Calls
 * take(arg, pair, hypothesis) for every pair, in order. */
typedef void translator_take_fn(void *arg, size_t pair,
                                const struct hypothesis *best);
void translator_corpus(struct translator *t, const struct corpus *corpus,
                       translator_take_fn *take, void *arg);

#endif
