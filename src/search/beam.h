/* Beam search over a batch of sentences.
 *
 *     struct beam *b = beam_new(model);
 *     beam_search(b, &source, &config, results);      results[B]
 *     … results[i].best[0] … valid until the next search
 *     beam_free(b);
 *
 * Each step keeps, for each sentence, its K best hypotheses; one that ends
 * leaves the beam, which shrinks by it, and a sentence with K ended ones (or
 * with none left) leaves the batch. Hypotheses are ranked by
 *     log p(y | x) / |y|^normalize,  |y| with </s>.
 * <s> is never put out, and <unk> only when allowed. The result for a sentence
 * does not depend, to the bit, on the others in its batch. Memory is
 * O(K (state + output length)) a sentence.
 *
 * One thread at a time for a beam; any number of beams for a model, which must
 * have been prepared (model_prepare). */
#ifndef ATTN_SEARCH_BEAM_H
#define ATTN_SEARCH_BEAM_H

#include <stdbool.h>
#include <stddef.h>

#include "corpus/batch.h"

struct model;
struct profile;
struct shortlist;
struct beam;

struct beam_config {
    int size; /* K */
    float normalize;
    float length_factor; /* at most factor * |x| + 5 words, |x| with </s> */
    bool allow_unk;
    bool weights; /* keep the attention of each word */

    /* NULL, or which words a sentence may have; probabilities are then among
     * these words. The model is ready for it (model_prepare_gather). */
    const struct shortlist *shortlist;
};

struct hypothesis {
    const int *ids; // [len], </s> not included
    int len;
    bool ended;                  /* with </s>, not by the limit */
    double log_probability;      /* of the words and </s> */
    double score;                /* normalised */
    const float *const *weights; // [len + ended] of [|x|], or NULL
};

struct beam_result {
    const struct hypothesis *best; // [count] by falling score
    int count;                     /* at least 1, at most K */
};

struct beam *beam_new(const struct model *model);
void beam_free(struct beam *b);

/* Where the times of its searches go; NULL: nowhere. */
void beam_set_profile(struct beam *b, struct profile *profile);

/* The source's sentences end in </s>. results[source->sentences]. */
void beam_search(struct beam *b, const struct side *source,
                 const struct beam_config *config, struct beam_result *results);

/* Most bytes a search has used. */
size_t beam_peak(const struct beam *b);

#endif
