#include "search/topk.h"

#include <math.h>

#include "tensor/vec.h"

/* Inserts into the sorted entries; the last one falls off when it is full. */
static int insert(struct topk_entry *top, int count, int k, float value,
                  int index)
{
    int at = count < k ? count : k - 1;
    while (at > 0 && top[at - 1].value < value) {
        top[at] = top[at - 1];
        at--;
    }
    top[at] = (struct topk_entry){ value, index };
    return count < k ? count + 1 : k;
}

int topk(struct topk_entry *top, int k, const float *x, const float *best,
         int n)
{
    int count = 0;
    for (int from = 0; from < n; from += VEC_BLOCK) {
        int size = n - from < VEC_BLOCK ? n - from : VEC_BLOCK;
        if (count == k && !(best[from / VEC_BLOCK] > top[k - 1].value))
            continue;
        for (int i = from; i < from + size; i++)
            if (!isnan(x[i]) && (count < k || x[i] > top[k - 1].value))
                count = insert(top, count, k, x[i], i);
    }
    return count;
}
