/* Matrix products: the only door to the matrix library.
 *
 * Row-major float32, no strides: x[m,k] w[k,n] -> y[m,n]. `add` says whether
 * the product is added to y or replaces it. Each call runs on the calling
 * thread alone; a worker thread calls gemm_thread_init() once before its first
 * product. The library is oneDNN, or plain C with `make ONEDNN=0`. */
#ifndef ATTN_TENSOR_GEMM_H
#define ATTN_TENSOR_GEMM_H

#include <stdbool.h>

/* Name and version of the library behind the door. */
const char *gemm_library(void);

/* Keeps the matrix library from starting threads of its own; any thread that
 * multiplies calls it first. Has the type of a worker's start hook. */
void gemm_thread_init(void);

void gemm_nn(int m, int n, int k, const float *x, const float *w, bool add,
             float *y); // x[m,k] w[k,n]
void gemm_nt(int m, int n, int k, const float *x, const float *w, bool add,
             float *y); // x[m,k] w[n,k]^T
void gemm_tn(int m, int n, int k, const float *x, const float *w, bool add,
             float *y); // x[k,m]^T w[k,n]

/* gemm_nn for translation: the bits of a row of y depend on that row of x and
 * on w alone, not on m nor on its place (tests/unit/test_gemm.c holds it on
 * the machine at hand). Works in tiles of 60 rows, and fills up a last tile
 * where the library would treat its rows otherwise. */
void gemm_rows(int m, int n, int k, const float *x, const float *w, bool add,
               float *y);

#endif
