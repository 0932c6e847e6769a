/* Sentences that are searched together: sorted by length, cut into batches,
 * the batches searched by all threads. */
#ifndef ATTN_SEARCH_WINDOW_H
#define ATTN_SEARCH_WINDOW_H

#include "search/beam.h"

struct workers;

struct window_sentence {
    const int *ids; /* with </s> */
    int len;        /* 0: not searched */
};

/* What became of a sentence; memory of the window until the next search. */
struct window_result {
    struct hypothesis *best;
    int count;
};

struct window;

struct window *window_new(const struct model *model, struct workers *workers);
void window_free(struct window *w);

/* Searches n sentences in batches of `batch`; results[n]. */
void window_search(struct window *w, const struct window_sentence *sentences,
                   int n, int batch, const struct beam_config *config,
                   struct window_result *results);

size_t window_peak(const struct window *w);

#endif
