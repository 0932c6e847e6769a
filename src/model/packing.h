/* Sentences of different lengths, time-major and without padding.
 *
 * Sentences are ranked by falling length; step t has a row for each of the
 * alive[t] sentences longer than t, at rows first[t] … first[t] + alive[t] - 1
 * in the order of the ranks. So the sentences of a step are the first ones of
 * the step before, and every row is a token. */
#ifndef ATTN_MODEL_PACKING_H
#define ATTN_MODEL_PACKING_H

#include "corpus/batch.h"

struct arena;

struct packing {
    int sentences, steps, tokens; // B, T, N
    const int *order;             // [B] sentence of each rank
    const int *alive, *first;     // [T]
    const int *forward;           // [N] token (of side.ids) of each row
    const int *backward;          // [N] the same, each sentence reversed
    const int *row;               // [N] the row of each token: of forward,
    const int *back_row;          // [N] and of backward
};

/* All memory is the arena's. */
void packing_make(struct packing *p, struct arena *arena,
                  const struct side *side);

#endif
