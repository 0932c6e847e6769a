/* What tests of arithmetic share: numbers to compute with, and comparing. */
#ifndef ATTN_UNIT_NUMBERS_H
#define ATTN_UNIT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Uniform in +- bound, a function of seed and place. */
void numbers_fill(float *x, size_t n, float bound, uint64_t seed);

/* The same in new memory at a multiple of 64 bytes, to be freed. */
float *numbers_new(size_t n, float bound, uint64_t seed);

/* Uniform among 0 … n - 1, a function of seed and index. */
int numbers_pick(int n, uint64_t seed, uint64_t index);

bool same_bits(const float *a, const float *b, size_t n);

#endif
