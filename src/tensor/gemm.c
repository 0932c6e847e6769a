#include "tensor/gemm.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#ifdef ATTN_ONEDNN

#include <dnnl.h>
#include <omp.h>
#include <stdio.h>

const char *gemm_library(void)
{
    static __thread char name[64];
    const dnnl_version_t *v = dnnl_version();
    snprintf(name, sizeof(name), "oneDNN %d.%d.%d", v->major, v->minor,
             v->patch);
    return name;
}

void gemm_thread_init(void)
{
    omp_set_num_threads(1);
}

static void product(char tx, char tw, int m, int n, int k, const float *x,
                    const float *w, bool add, float *y)
{
    if (m == 0 || n == 0)
        return;
    dnnl_status_t status = dnnl_sgemm(tx, tw, m, n, k, 1.0f, x,
                                      tx == 'N' ? k : m, w, tw == 'N' ? n : k,
                                      add ? 1.0f : 0.0f, y, n);
    if (status != dnnl_success)
        abort(); /* shapes are asserted by the callers: cannot happen */
}

#else

#include "tensor/kernel.h"

const char *gemm_library(void)
{
    return "portable";
}

void gemm_thread_init(void)
{
}

/* y[j] += x * w[j], four rows of w at a time to spare traffic on y. */
KERNEL static void row_times_matrix(int n, int k, const float *x, int x_step,
                                    const float *w, float *restrict y)
{
    int p = 0;
    for (; p + 4 <= k; p += 4) {
        const float *w0 = w + (size_t)p * n, *w1 = w0 + n, *w2 = w1 + n,
                    *w3 = w2 + n;
        float a = x[(size_t)p * x_step], b = x[(size_t)(p + 1) * x_step],
              c = x[(size_t)(p + 2) * x_step], d = x[(size_t)(p + 3) * x_step];
        for (int j = 0; j < n; j++)
            y[j] = fma32(d, w3[j],
                         fma32(c, w2[j],
                               fma32(b, w1[j], fma32(a, w0[j], y[j]))));
    }
    for (; p < k; p++) {
        const float *w0 = w + (size_t)p * n;
        float a = x[(size_t)p * x_step];
        for (int j = 0; j < n; j++)
            y[j] = fma32(a, w0[j], y[j]);
    }
}

KERNEL static void rows_dot_rows(int m, int n, int k, const float *x,
                                 const float *w, float *y)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            y[(size_t)i * n + j] += inline_dot(x + (size_t)i * k,
                                               w + (size_t)j * k, k);
}

static void product(char tx, char tw, int m, int n, int k, const float *x,
                    const float *w, bool add, float *y)
{
    if (!add)
        memset(y, 0, (size_t)m * n * sizeof(*y));
    if (tw == 'T') {
        rows_dot_rows(m, n, k, x, w, y);
        return;
    }
    for (int i = 0; i < m; i++)
        row_times_matrix(n, k, tx == 'N' ? x + (size_t)i * k : x + i,
                         tx == 'N' ? 1 : m, w, y + (size_t)i * n);
}

#endif

void gemm_nn(int m, int n, int k, const float *x, const float *w, bool add,
             float *y)
{
    product('N', 'N', m, n, k, x, w, add, y);
}

void gemm_nt(int m, int n, int k, const float *x, const float *w, bool add,
             float *y)
{
    product('N', 'T', m, n, k, x, w, add, y);
}

void gemm_tn(int m, int n, int k, const float *x, const float *w, bool add,
             float *y)
{
    product('T', 'N', m, n, k, x, w, add, y);
}

/* How many rows to multiply so that m of them come out with the same bits as
 * in any other product. On AVX2 the library takes six rows at a time, and a
 * last group of one, two or three sums in an order of its own; elsewhere only
 * a single row does. */
static int stable_rows(int m)
{
    int left = m % 6;
    return left == 0 || left > 3 ? m : m - left + 4;
}

/* A product filled up with rows of zeros. */
static void filled_product(int m, int rows, int n, int k, const float *x,
                           const float *w, bool add, float *y)
{
    size_t in = (size_t)m * k, out = (size_t)m * n;
    float *filled = xcalloc((size_t)rows * ((size_t)k + n), sizeof(*filled));
    float *to = filled + (size_t)rows * k;
    memcpy(filled, x, in * sizeof(*x));
    if (add)
        memcpy(to, y, out * sizeof(*y));
    product('N', 'N', rows, n, k, filled, w, add, to);
    memcpy(y, to, out * sizeof(*y));
    free(filled);
}

void gemm_rows(int m, int n, int k, const float *x, const float *w, bool add,
               float *y)
{
    enum { TILE = 60 };
    for (; m >= TILE; m -= TILE) {
        product('N', 'N', TILE, n, k, x, w, add, y);
        x += (size_t)TILE * k;
        y += (size_t)TILE * n;
    }
    int rows = stable_rows(m);
    if (rows == m)
        product('N', 'N', m, n, k, x, w, add, y);
    else
        filled_product(m, rows, n, k, x, w, add, y);
}
