/* Loops over float32 vectors: y is written or added to, x is read, n >= 0.
 * Vectors may not overlap. Every result is the same on every instruction set
 * and for every alignment (kernel.h). All functions are pure: any thread. */
#ifndef ATTN_TENSOR_VEC_H
#define ATTN_TENSOR_VEC_H

#include <stddef.h>

void vec_zero(float *y, size_t n);
void vec_copy(float *y, const float *x, size_t n);
void vec_add(float *y, const float *x, size_t n);           /* y += x */
void vec_axpy(float *y, float a, const float *x, size_t n); /* y += a x */
void vec_scale(float *y, float a, size_t n);                /* y *= a */
void vec_tanh(float *y, const float *x, size_t n);          /* y = tanh x */
void vec_sigmoid(float *y, const float *x, size_t n);       /* y = sigma x */
void vec_affine(float *y, float a, float b, size_t n);      /* y = a y + b */
float vec_sum(const float *x, int n);
float vec_dot(const float *a, const float *b, int n);
float vec_max(const float *x, int n); /* n >= 1 */

/* The same of each block of VEC_BLOCK, and of all of them. */
enum { VEC_BLOCK = 128 };
float vec_block_max(float *best, const float *x, int n);

/* y[cols,rows] = x[rows,cols]^T */
void vec_transpose(float *y, const float *x, int rows, int cols);

/* Sum of squares in double; the order of the additions is fixed. */
double vec_square_sum(const float *x, size_t n);

/* y_i = exp(x_i - shift); returns the sum of the y_i. y may be x. */
float vec_exp_sum(float *y, const float *x, float shift, int n);

/* The same sum, to the bit, without keeping what is summed. */
float vec_exp_total(const float *x, float shift, int n);

#endif
