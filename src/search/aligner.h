/* Forced alignments of given pairs: what the decoder looks at while it is led
 * through the translations, printed in the order of the pairs.
 *
 * A part of the corpus is aligned at a time, so that the memory for weights
 * does not grow with it. */
#ifndef ATTN_SEARCH_ALIGNER_H
#define ATTN_SEARCH_ALIGNER_H

#include <stdbool.h>

struct alignment_writer;
struct corpus;
struct scorer;

/* All borrowed. */
struct aligner {
    struct scorer *scorer;
    const char *source, *target; /* files of the corpus, read for the words */
    int mini_batch;              /* pairs scored together */
    int window;                  /* pairs aligned before any is printed */
    struct alignment_writer *writer;
    bool eos; /* keep </s>, on both sides */
    bool colour;
};

/* Prints the alignments of all pairs; nll[pairs] gets -log p of each. The
 * corpus must be as corpus_read_all() reads it from the two files. 0, or -1
 * after reporting that they cannot be read again; errors of the stream are the
 * caller's. */
int align_corpus(const struct aligner *a, const struct corpus *corpus,
                 double *nll);

#endif
