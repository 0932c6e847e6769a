/* Packed weights: products in every precision, and that a row's bits depend on
 * the row alone. */
#include "tensor/packed.h"

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

struct shape {
    int k, n;
};

static const struct shape shapes[] = { { 1, 1 },     { 3, 5 },    { 16, 64 },
                                       { 128, 384 }, { 100, 70 }, { 512, 1536 },
                                       { 130, 1000 } };

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]), ROWS = 101 };

/* Largest error of a product, as a share of sqrt(k), inputs uniform in +-1. */
static const double bounds[PRECISIONS] = { 4e-6, 8e-3, 12e-3 };

static double entry(const float *x, const float *w, const struct shape *s,
                    int row, int col)
{
    double sum = 0;
    for (int p = 0; p < s->k; p++)
        sum += (double)x[row * s->k + p] * (double)w[p * s->n + col];
    return sum;
}

static float *turn(const float *w, const struct shape *s)
{
    float *t = ARRAY_ALLOC(t, (size_t)s->k * (size_t)s->n);
    for (int i = 0; i < s->k; i++)
        for (int j = 0; j < s->n; j++)
            t[j * s->k + i] = w[i * s->n + j];
    return t;
}

static void check_values(const struct shape *s, enum precision precision)
{
    struct multiplier *mu = multiplier_new();
    float *x = numbers_new((size_t)ROWS * (size_t)s->k, 1, 1);
    float *w = numbers_new((size_t)s->k * (size_t)s->n, 1, 2);
    float *turned = turn(w, s);
    size_t size = (size_t)ROWS * (size_t)s->n;
    float *y = ARRAY_ALLOC(y, size), *z = ARRAY_ALLOC(z, size);
    struct packed *p = packed_new(precision, s->k, s->n);
    struct packed *q = packed_new(precision, s->k, s->n);
    packed_fill(p, w, false);
    packed_fill(q, turned, true);
    for (size_t i = 0; i < size; i++)
        z[i] = 1;
    packed_product(p, mu, ROWS, x, w, y);
    packed_product(q, mu, ROWS, x, z, z);
    double bound = bounds[precision] * sqrt(s->k) + 1e-6;
    for (int i = 0; i < ROWS; i += 7)
        for (int j = 0; j < s->n; j += 3) {
            double want = entry(x, w, s, i, j);
            assert_true(fabs((double)y[i * s->n + j] - (double)w[j] - want) <=
                        bound);
            assert_true(fabs((double)z[i * s->n + j] - 1 - want) <= bound);
        }
    packed_free(p);
    packed_free(q);
    multiplier_free(mu);
    free(x), free(w), free(turned), free(y), free(z);
}

/* Rows first … first + m - 1 by themselves are the same bits as in the whole. */
static void check_rows(const struct shape *s, enum precision precision)
{
    struct multiplier *mu = multiplier_new();
    float *x = numbers_new((size_t)ROWS * (size_t)s->k, 1, 3);
    float *w = numbers_new((size_t)s->k * (size_t)s->n, 1, 4);
    size_t size = (size_t)ROWS * (size_t)s->n;
    float *all = ARRAY_ALLOC(all, size), *part = ARRAY_ALLOC(part, size);
    struct packed *p = packed_new(precision, s->k, s->n);
    packed_fill(p, w, false);
    for (int add = 0; add < 3; add++) {
        memset(all, 0, size * sizeof(*all));
        packed_product(p, mu, ROWS, x, add == 2 ? w : add ? all : NULL, all);
        for (int m = 1; m <= 70; m++) {
            int first = m * 13 % (ROWS - m);
            memset(part, 0, size * sizeof(*part));
            packed_product(p, mu, m, x + (size_t)first * s->k,
                           add == 2 ? w
                           : add    ? part
                                    : NULL,
                           part);
            assert_memory_equal(part, all + (size_t)first * s->n,
                                (size_t)m * s->n * sizeof(*part));
        }
    }
    packed_free(p);
    multiplier_free(mu);
    free(x), free(w), free(all), free(part);
}

static void test_values(void **state)
{
    (void)state;
    for (int p = 0; p < PRECISIONS; p++)
        for (int i = 0; i < SHAPES && !packed_missing(p); i++)
            check_values(&shapes[i], p);
}

static void test_rows(void **state)
{
    (void)state;
    for (int p = 0; p < PRECISIONS; p++)
        for (int i = 0; i < SHAPES && !packed_missing(p); i++)
            check_rows(&shapes[i], p);
}

/* Rounded to the nearest, ties to even; infinities and NaN stay. */
static void test_bf16(void **state)
{
    (void)state;
    const float from[] = { 1.0f,    -2.5f,    1.00390625f, 1.01171875f,
                           3.4e38f, INFINITY, 0.0f,        1e-40f };
    const uint16_t want[] = { 0x3f80, 0xc020, 0x3f80, 0x3f82,
                              0x7f80, 0x7f80, 0,      0x0001 };
    uint16_t to[8];
    bf16_from_floats(to, from, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(to[i], want[i]);
}

/* What int8 stands for is a fixed point: rounding it again changes nothing. */
static void test_int8(void **state)
{
    (void)state;
    enum { K = 37, N = 23 };
    float *w = numbers_new(K * N, 1, 9), s[N], again_s[N];
    int8_t q[K * N], again[K * N];
    for (int i = 0; i < K; i++)
        w[i * N + 5] = 0;
    int8_from_weights(q, s, w, K, N);
    for (int i = 0; i < K * N; i++) {
        assert_true(fabsf((float)q[i] * s[i % N] - w[i]) <= 0.501f * s[i % N]);
        w[i] = (float)q[i] * s[i % N];
    }
    assert_true(s[5] == 0);
    int8_from_weights(again, again_s, w, K, N);
    assert_memory_equal(q, again, sizeof(q));
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_int8),
    };
    gemm_thread_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
