/* How likely a model holds given translations: log p(target | source) by
 * teacher forcing, on all threads.
 *
 * The decoder's attention, as it is led through a given translation, is a
 * forced alignment of the pair.
 *
 * The numbers do not depend on the number of threads, and a pair's not on the
 * others in its batch. */
#ifndef ATTN_SEARCH_SCORER_H
#define ATTN_SEARCH_SCORER_H

#include "corpus/corpus.h"

struct model;
struct workers;
struct scorer;

/* Both are borrowed. */
struct scorer *scorer_new(const struct model *model, struct workers *workers);
void scorer_free(struct scorer *s);

/* nll[pairs] gets -log p of each pair, </s> included, in batches of
 * `mini_batch` sentences. The model must have been prepared (model_prepare)
 * since its weights last changed. */
void scorer_corpus(struct scorer *s, const struct corpus *corpus,
                   int mini_batch, double *nll);

/* The same with the weights of attention: weights[pairs] gets a matrix
 * [targets,sources] for each pair, </s> on both sides included, zeros for a
 * model without attention. Row t holds the weights that word t was predicted
 * with. The caller frees each matrix. */
void scorer_align(struct scorer *s, const struct corpus *corpus, int mini_batch,
                  double *nll, float **weights);

/* Most bytes the graphs have used. */
size_t scorer_peak(const struct scorer *s);

#endif
