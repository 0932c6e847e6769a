/* Precisions of products, and the roundings that belong to them.
 *
 *   bf16  the upper 16 bits of a float32, rounded to the nearest, ties to even
 *   int8  weights: column j of w has the scale s_j = max_i |w_ij| / 127 and
 *         q_ij = round(w_ij / s_j);  inputs: row i of x has t_i = max_j |x_ij|
 *         / 127 and p_ij = round(x_ij / t_i) + 128, in a byte without sign.
 *         sum_k x_ik w_kj ~ t_i s_j (sum_k p_ik q_kj - 128 sum_k q_kj), and the
 *         sums are exact. */
#ifndef ATTN_TENSOR_PRECISION_H
#define ATTN_TENSOR_PRECISION_H

#include <stddef.h>
#include <stdint.h>

enum precision { PRECISION_FP32, PRECISION_BF16, PRECISION_INT8, PRECISIONS };

/* "fp32", "bf16", "int8"; NULL after the last. */
extern const char *const precision_names[PRECISIONS + 1];

void bf16_from_floats(uint16_t *to, const float *from, size_t n);

/* One row; returns its t. */
float int8_from_row(uint8_t *to, const float *x, int n);

/* w[k,n] -> q[k,n] and s[n]. */
void int8_from_weights(int8_t *q, float *s, const float *w, int k, int n);

/* sum[n] = 128 sum_k q_kj */
void int8_offsets(int32_t *sum, const int8_t *q, int k, int n);

/* y_j = t s_j (sums_j - offset_j), + add_j where that is not NULL; add may be
 * y. */
void int8_to_row(float *y, const float *add, float t, const float *s,
                 const int32_t *sums, const int32_t *offset, int n);

#endif
