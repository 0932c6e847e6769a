/* Matrix products of training, on weights as they are.
 *
 * Row-major float32, no strides: y[m,n] = start + x w; start is NULL for 0, y
 * itself, or a row [n], as a bias is, for every row of y. On processors with
 * AVX-512 by panels (tensor/panel.h), else in the matrix library
 * (tensor/gemm.h). In bf16, where product_missing() (tensor/product.h) has
 * nothing against it, x and w are rounded on the way. The bits do not depend
 * on the thread, nor on the multiplier, which lends the room. */
#ifndef ATTN_TENSOR_MATMUL_H
#define ATTN_TENSOR_MATMUL_H

#include "tensor/multiplier.h"
#include "tensor/precision.h"

typedef void matmul_fn(struct multiplier *mu, enum precision precision, int m,
                       int n, int k, const float *x, const float *w,
                       const float *start, float *y);

matmul_fn matmul_nn; // x[m,k] w[k,n]
matmul_fn matmul_nt; // x[m,k] w[n,k]^T
matmul_fn matmul_tn; // x[k,m]^T w[k,n]

/* matmul_nn where the bits of a row of y depend on that row of x and on w
 * alone (gemm_rows). */
matmul_fn matmul_alone;

/* matmul_tn of rows that stand anywhere: x[0 … k-1] of m, w[0 … k-1] of n. */
void matmul_rows(struct multiplier *mu, enum precision precision, int m, int n,
                 int k, const float *const *x, const float *const *w,
                 const float *start, float *y);

#endif
