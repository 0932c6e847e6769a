/* Products of training: each entry is one chain of fused multiply-adds in the
 * order of k, to the last bit where the processor has AVX-512, and right to the
 * last place that float32 can give where the matrix library multiplies. */
#include "tensor/matmul.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "numbers.h"
#include "tensor/gemm.h"
#include "tensor/packed.h"

typedef void matmul_fn(struct multiplier *mu, int m, int n, int k,
                       const float *x, const float *w, bool add, float *y);

static void by_rows(struct multiplier *mu, int m, int n, int k, const float *x,
                    const float *w, bool add, float *y)
{
    const float **left = ARRAY_ZERO(left, (size_t)k + 1);
    const float **right = ARRAY_ZERO(right, (size_t)k + 1);
    for (int q = 0; q < k; q++) {
        left[q] = x + (size_t)q * (size_t)m;
        right[q] = w + (size_t)q * (size_t)n;
    }
    matmul_rows(mu, m, n, k, left, right, add, y);
    free(left);
    free(right);
}

/* w as it is, and its transpose, laid out before. */
static void laid_out(struct multiplier *mu, int m, int n, int k, const float *x,
                     const float *w, bool turned, bool add, float *y)
{
    struct packed *p = packed_new(PRECISION_FP32, k, n);
    packed_fill(p, w, turned);
    packed_product(p, mu, m, x, NULL, add, y);
    packed_free(p);
}

static void packed_nn(struct multiplier *mu, int m, int n, int k,
                      const float *x, const float *w, bool add, float *y)
{
    laid_out(mu, m, n, k, x, w, false, add, y);
}

static void packed_nt(struct multiplier *mu, int m, int n, int k,
                      const float *x, const float *w, bool add, float *y)
{
    laid_out(mu, m, n, k, x, w, true, add, y);
}

static const struct form {
    const char *name;
    matmul_fn *multiply;
    bool turned_x, turned_w;
} forms[] = {
    { "matmul_nn", matmul_nn, false, false },
    { "matmul_alone", matmul_alone, false, false },
    { "matmul_nt", matmul_nt, false, true },
    { "matmul_tn", matmul_tn, true, false },
    { "matmul_rows", by_rows, true, false },
    { "packed", packed_nn, false, false },
    { "packed, turned", packed_nt, false, true },
};

enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* y_ij = fma(x_i(k-1), w_(k-1)j, … fma(x_i0, w_0j, start)), the exact sum, and
 * that of the sizes of its terms. */
struct entry {
    float chain;
    double sum, size;
};

static struct entry entry(const struct form *f, int m, int n, int k,
                          const float *x, const float *w, int i, int j,
                          float start)
{
    struct entry e = { start, (double)start, fabs((double)start) };
    for (int q = 0; q < k; q++) {
        float a = f->turned_x ? x[(size_t)q * m + i] : x[(size_t)i * k + q];
        float b = f->turned_w ? w[(size_t)j * k + q] : w[(size_t)q * n + j];
        e.chain = fmaf(a, b, e.chain);
        e.sum += (double)a * (double)b;
        e.size += fabs((double)a * (double)b);
    }
    return e;
}

static void check_entry(const struct form *f, int m, int n, int k, int at,
                        const struct entry *e, float got)
{
    double bound = (2 + sqrt((double)k)) * 1.2e-7 * e->size;
    bool exact = packed_lays_out(PRECISION_FP32);
    if (exact ? got == e->chain : fabs((double)got - e->sum) <= bound)
        return;
    fail_msg("%s of %d x %d x %d, entry %d: %.9g instead of %.9g", f->name, m,
             n, k, at, (double)got, exact ? (double)e->chain : e->sum);
}

/* Around the product stand numbers that nobody may touch. */
enum { EDGE = 64 };

static void check_product(const struct form *f, struct multiplier *mu, int m,
                          int n, int k, bool add)
{
    size_t size = (size_t)m * (size_t)n;
    float *x = numbers_new((size_t)m * (size_t)k + 1, 1, 1);
    float *w = numbers_new((size_t)k * (size_t)n + 1, 1, 2);
    float *start = numbers_new(size + 2 * EDGE, 1, 3);
    float *y = ARRAY_ALLOC(y, size + 2 * EDGE);
    memcpy(y, start, (size + 2 * EDGE) * sizeof(*y));
    f->multiply(mu, m, n, k, x, w, add, y + EDGE);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            int at = i * n + j;
            struct entry e = entry(f, m, n, k, x, w, i, j,
                                   add ? start[EDGE + at] : 0);
            check_entry(f, m, n, k, at, &e, y[EDGE + at]);
        }
    assert_memory_equal(y, start, EDGE * sizeof(*y));
    assert_memory_equal(y + EDGE + size, start + EDGE + size,
                        EDGE * sizeof(*y));
    free(x);
    free(w);
    free(start);
    free(y);
}

static void check_forms(int m, int n, int k)
{
    struct multiplier *mu = multiplier_new();
    for (int f = 0; f < FORMS; f++) {
        check_product(&forms[f], mu, m, n, k, false);
        check_product(&forms[f], mu, m, n, k, true);
    }
    multiplier_free(mu);
}

/* Every number of rows of a tile, and lanes of every rest of a panel. */
static void test_rows_and_columns(void **state)
{
    (void)state;
    for (int m = 1; m <= 17; m++)
        for (int n = 1; n <= 65; n += m % 3 + 1)
            check_forms(m, n, 5);
    check_forms(3, 48, 7);
    check_forms(9, 96, 33);
    check_forms(8, 192, 17);
    check_forms(5, 193, 16);
    check_forms(33, 400, 40);
}

/* Sums of every rest of eighths and squares, and longer than a block. */
static void test_depths(void **state)
{
    static const int depths[] = { 511, 512, 513, 1024, 1100 };
    (void)state;
    for (int k = 1; k <= 40; k++)
        check_forms(10, 51, k);
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        check_forms(19, 70, depths[i]);
}

/* The bias stands in for the sum so far. */
static void test_bias(void **state)
{
    enum { M = 11, N = 67, K = 9 };
    static const struct form plain = { "bias", NULL, false, false };
    (void)state;
    float *x = numbers_new(M * K, 1, 4), *w = numbers_new(K * N, 1, 5),
          *b = numbers_new(N, 1, 6);
    float y[M * N];
    struct multiplier *mu = multiplier_new();
    struct packed *p = packed_new(PRECISION_FP32, K, N);
    packed_fill(p, w, false);
    packed_product(p, mu, M, x, b, false, y);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            struct entry e = entry(&plain, M, N, K, x, w, i, j, b[j]);
            check_entry(&plain, M, N, K, i * N + j, &e, y[i * N + j]);
        }
    packed_free(p);
    multiplier_free(mu);
    free(x);
    free(w);
    free(b);
}

/* No rows, no columns: nothing happens. */
static void test_empty(void **state)
{
    float y[4] = { 1, 2, 3, 4 };
    const float nothing[4] = { 0 };
    struct multiplier *mu = multiplier_new();
    (void)state;
    matmul_nn(mu, 0, 2, 2, nothing, nothing, false, y);
    matmul_nt(mu, 2, 0, 2, nothing, nothing, false, y);
    matmul_tn(mu, 0, 2, 2, nothing, nothing, false, y);
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 3 && y[3] == 4);
    multiplier_free(mu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_columns),
        cmocka_unit_test(test_depths),
        cmocka_unit_test(test_bias),
        cmocka_unit_test(test_empty),
    };
    gemm_thread_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
