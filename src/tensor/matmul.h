/* Matrix products of training, on weights as they are.
 *
 * Row-major float32, no strides: y[m,n] = x w, or += with `add`. On processors
 * with AVX-512 by panels (tensor/panel.h), else in the matrix library
 * (tensor/gemm.h). The bits do not depend on the thread, nor on the multiplier
 * (tensor/packed.h), which lends the room. */
#ifndef ATTN_TENSOR_MATMUL_H
#define ATTN_TENSOR_MATMUL_H

#include <stdbool.h>

struct multiplier;

void matmul_nn(struct multiplier *mu, int m, int n, int k, const float *x,
               const float *w, bool add, float *y); // x[m,k] w[k,n]
void matmul_nt(struct multiplier *mu, int m, int n, int k, const float *x,
               const float *w, bool add, float *y); // x[m,k] w[n,k]^T
void matmul_tn(struct multiplier *mu, int m, int n, int k, const float *x,
               const float *w, bool add, float *y); // x[k,m]^T w[k,n]

/* matmul_nn where the bits of a row of y depend on that row of x and on w
 * alone (gemm_rows). */
void matmul_alone(struct multiplier *mu, int m, int n, int k, const float *x,
                  const float *w, bool add, float *y);

/* matmul_tn of rows that stand anywhere: x[0 … k-1] of m, w[0 … k-1] of n. */
void matmul_rows(struct multiplier *mu, int m, int n, int k,
                 const float *const *x, const float *const *w, bool add,
                 float *y);

#endif
