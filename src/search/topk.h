/* The k largest of n numbers. */
#ifndef ATTN_SEARCH_TOPK_H
#define ATTN_SEARCH_TOPK_H

struct topk_entry {
    float value;
    int index;
};

/* Writes the k largest of x[n] (all, when n < k), largest first, ties by
 * rising index; returns how many. NaN are passed over. `best` are bounds for
 * the blocks of x, as vec_block_max() finds them: what is not larger than the
 * k found so far is not looked at. */
int topk(struct topk_entry *top, int k, const float *x, const float *best,
         int n);

#endif
