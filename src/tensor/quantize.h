/* Weights as they are stored in fewer bits (products: tensor/precision.h).
 *
 * int8 is a whole number q in -127 … 127 which stands for q s, with a scale
 * s >= 0 for each column of a matrix, or for each row of one whose rows are
 * looked up, as embeddings are:
 *
 *     s = max |w| / 127      q = w / s, rounded to the nearest, half to even
 *
 * s is cut to 17 significant bits, so that the products q s are exact. Hence
 * rounding what a stored matrix stands for, by these functions or for products
 * (int8_from_weights), gives the same q and s again.
 *
 * Weights are finite. All functions are pure: any thread. */
#ifndef ATTN_TENSOR_QUANTIZE_H
#define ATTN_TENSOR_QUANTIZE_H

#include <stddef.h>
#include <stdint.h>

/* The way back from bf16_from_floats(). */
void bf16_to_floats(float *y, const uint16_t *x, size_t n);

/* s of the largest |w|; 0 where that is too small for a scale. */
float quantize_scale(float largest);

/* q[rows,cols] and scale[cols] of w[rows,cols], and w = q s. */
void quantize_columns(int8_t *q, float *scale, const float *w, int rows,
                      int cols);
void dequantize_columns(float *w, const int8_t *q, const float *scale, int rows,
                        int cols);

/* The same with scale[rows]. */
void quantize_rows(int8_t *q, float *scale, const float *w, int rows, int cols);
void dequantize_rows(float *w, const int8_t *q, const float *scale, int rows,
                     int cols);

#endif
