/* Products of training. In float32 each entry is one chain of fused
 * multiply-adds in the order of k, to the last bit where the processor has
 * AVX-512, and right to the last place that float32 can give where the matrix
 * library multiplies. In bf16, of whole numbers, each entry is exact. */
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
#include "tensor/quantize.h"

static void by_rows(struct multiplier *mu, enum precision precision, int m,
                    int n, int k, const float *x, const float *w,
                    const float *start, float *y)
{
    const float **left = ARRAY_ZERO(left, (size_t)k + 1);
    const float **right = ARRAY_ZERO(right, (size_t)k + 1);
    for (int q = 0; q < k; q++) {
        left[q] = x + (size_t)q * (size_t)m;
        right[q] = w + (size_t)q * (size_t)n;
    }
    matmul_rows(mu, precision, m, n, k, left, right, start, y);
    free(left);
    free(right);
}

/* w as it is, and its transpose, laid out before. */
static void laid_out(struct multiplier *mu, enum precision precision, int m,
                     int n, int k, const float *x, const float *w, bool turned,
                     const float *start, float *y)
{
    struct packed *p = packed_new(precision, k, n);
    packed_fill(p, w, turned);
    packed_product(p, mu, m, x, start, y);
    packed_free(p);
}

static void packed_nn(struct multiplier *mu, enum precision precision, int m,
                      int n, int k, const float *x, const float *w,
                      const float *start, float *y)
{
    laid_out(mu, precision, m, n, k, x, w, false, start, y);
}

static void packed_nt(struct multiplier *mu, enum precision precision, int m,
                      int n, int k, const float *x, const float *w,
                      const float *start, float *y)
{
    laid_out(mu, precision, m, n, k, x, w, true, start, y);
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

/* What a sum starts from: nothing, the sum so far, or a row. */
enum beginning { FROM_ZERO, FROM_Y, FROM_ROW, BEGINNINGS };

/* Around the product stand numbers that nobody may touch. */
enum { EDGE = 64 };

struct question {
    const struct form *form;
    enum precision precision;
    int m, n, k;
    enum beginning beginning;
    bool whole;         /* of numbers that bf16 and sums hold exactly */
    float *x, *w, *row; /* row[n] */
    float *before;      // [EDGE + m n + EDGE]
};

static float *numbers(const struct question *q, size_t n, uint64_t seed)
{
    float *x = numbers_new(n + 1, q->whole ? 8 : 1, seed);
    for (size_t i = 0; i < n && q->whole; i++)
        x[i] = rintf(x[i]);
    return x;
}

static size_t area(int rows, int cols)
{
    return (size_t)rows * (size_t)cols;
}

static void question_begin(struct question *q)
{
    q->x = numbers(q, area(q->m, q->k), 1);
    q->w = numbers(q, area(q->k, q->n), 2);
    q->row = numbers(q, (size_t)q->n, 3);
    q->before = numbers(q, area(q->m, q->n) + 2 * EDGE, 4);
}

static void question_end(struct question *q)
{
    free(q->x);
    free(q->w);
    free(q->row);
    free(q->before);
}

static float rounded(const struct question *q, float x)
{
    uint16_t half;
    if (q->precision == PRECISION_FP32)
        return x;
    bf16_from_floats(&half, &x, 1);
    bf16_to_floats(&x, &half, 1);
    return x;
}

/* y_ij = fma(x_i(k-1), w_(k-1)j, … fma(x_i0, w_0j, start)), the exact sum, and
 * that of the sizes of its terms. */
struct entry {
    float chain;
    double sum, size;
};

static struct entry entry(const struct question *q, int i, int j)
{
    const struct form *f = q->form;
    float start = q->beginning == FROM_ZERO ? 0
                  : q->beginning == FROM_Y  ? q->before[EDGE + i * q->n + j]
                                            : q->row[j];
    struct entry e = { start, (double)start, fabs((double)start) };
    for (int l = 0; l < q->k; l++) {
        float a = q->x[f->turned_x ? l * q->m + i : i * q->k + l];
        float b = q->w[f->turned_w ? j * q->k + l : l * q->n + j];
        a = rounded(q, a);
        b = rounded(q, b);
        e.chain = fmaf(a, b, e.chain);
        e.sum += (double)a * (double)b;
        e.size += fabs((double)a * (double)b);
    }
    return e;
}

static void check_entry(const struct question *q, int i, int j, float got)
{
    struct entry e = entry(q, i, j);
    double bound = (2 + sqrt((double)q->k)) * 1.2e-7 * e.size;
    bool exact = packed_lays_out(q->precision);
    if (exact ? got == e.chain : fabs((double)got - e.sum) <= bound)
        return;
    fail_msg("%s in %s of %d x %d x %d, beginning %d, entry %d, %d: %.9g "
             "instead of %.9g",
             q->form->name, precision_names[q->precision], q->m, q->n, q->k,
             q->beginning, i, j, (double)got, exact ? (double)e.chain : e.sum);
}

static void check_product(struct question *q, struct multiplier *mu)
{
    size_t size = area(q->m, q->n), all = (size + 2 * EDGE) * sizeof(float);
    float *y = ARRAY_ALLOC(y, size + 2 * EDGE);
    const float *start[BEGINNINGS] = { NULL, y + EDGE, q->row };
    memcpy(y, q->before, all);
    q->form->multiply(mu, q->precision, q->m, q->n, q->k, q->x, q->w,
                      start[q->beginning], y + EDGE);
    for (int i = 0; i < q->m; i++)
        for (int j = 0; j < q->n; j++)
            check_entry(q, i, j, y[EDGE + i * q->n + j]);
    assert_memory_equal(y, q->before, EDGE * sizeof(*y));
    assert_memory_equal(y + EDGE + size, q->before + EDGE + size,
                        EDGE * sizeof(*y));
    free(y);
}

static void check_beginnings(struct question q, struct multiplier *mu)
{
    question_begin(&q);
    for (q.beginning = FROM_ZERO; q.beginning < BEGINNINGS; q.beginning++)
        for (int f = 0; f < FORMS; f++) {
            q.form = &forms[f];
            check_product(&q, mu);
        }
    question_end(&q);
}

static void check_forms(int m, int n, int k)
{
    struct multiplier *mu = multiplier_new();
    check_beginnings((struct question){ .m = m, .n = n, .k = k }, mu);
    if (!packed_missing(PRECISION_BF16))
        check_beginnings((struct question){ .precision = PRECISION_BF16,
                                            .m = m,
                                            .n = n,
                                            .k = k,
                                            .whole = true },
                         mu);
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
    static const int depths[] = { 511, 512, 513, 1023, 1025, 1100 };
    (void)state;
    for (int k = 1; k <= 40; k++)
        check_forms(10, 51, k);
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        check_forms(19, 70, depths[i]);
}

/* A single product of bf16 fits in a float32: inputs are rounded, and only
 * they are. */
static void test_rounding(void **state)
{
    struct multiplier *mu = multiplier_new();
    (void)state;
    for (int f = 0; f < FORMS && !packed_missing(PRECISION_BF16); f++) {
        struct question q = { &forms[f], PRECISION_BF16, .m = 37, .n = 85,
                              .k = 1 };
        question_begin(&q);
        check_product(&q, mu);
        question_end(&q);
    }
    multiplier_free(mu);
}

/* No rows, no columns: nothing happens. */
static void test_empty(void **state)
{
    float y[4] = { 1, 2, 3, 4 };
    const float nothing[4] = { 0 };
    struct multiplier *mu = multiplier_new();
    (void)state;
    matmul_nn(mu, PRECISION_FP32, 0, 2, 2, nothing, nothing, NULL, y);
    matmul_nt(mu, PRECISION_FP32, 2, 0, 2, nothing, nothing, NULL, y);
    matmul_tn(mu, PRECISION_FP32, 0, 2, 2, nothing, nothing, NULL, y);
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 3 && y[3] == 4);
    multiplier_free(mu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_and_columns),
        cmocka_unit_test(test_depths),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_empty),
    };
    gemm_thread_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
