/* Weights in fewer bits: near the true ones, and the same when rounded again. */
#include "tensor/quantize.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "tensor/precision.h"

enum { ROWS = 37, COLUMNS = 53, SIZE = ROWS * COLUMNS };

/* Rows and columns of very different sizes, one of each all zeros. */
static void fill(float *w, uint64_t seed)
{
    struct rng_key key = rng_key(seed, RNG_INIT, 0);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int k = i * COLUMNS + j;
            float size = ldexpf(1, (i * 7 + j * 5) % 40 - 20);
            bool zero = i == 3 || j == 5;
            w[k] = zero ? 0 : size * rng_key_normal(key, (uint64_t)k);
        }
}

static void test_bf16(void **state)
{
    static const struct {
        float x;
        uint16_t bits;
    } row[] = {
        { 0.0f, 0x0000 },        { -0.0f, 0x8000 },
        { 1.0f, 0x3F80 },        { -2.5f, 0xC020 },
        { 0x1.01p0f, 0x3F80 },   { 0x1.03p0f, 0x3F82 }, /* halves: to even */
        { 0x1.0102p0f, 0x3F81 }, { 0x1.00FEp0f, 0x3F80 },
        { 0x1p-149f, 0x0000 },   { 0x1.FEp127f, 0x7F7F },
    };
    float back[1];
    uint16_t bits[1];
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        bf16_from_floats(bits, &row[i].x, 1);
        assert_int_equal(bits[0], row[i].bits);
    }
    for (int i = 0; i < 1 << 16; i++) {
        uint16_t again, half = (uint16_t)i;
        bf16_to_floats(back, &half, 1);
        if (isnan(back[0]))
            continue;
        bf16_from_floats(&again, back, 1);
        assert_int_equal(again, half);
    }
}

static void assert_near(const float *w, const int8_t *q, const float *scale,
                        bool by_rows)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int k = i * COLUMNS + j;
            double s = scale[by_rows ? i : j];
            assert_true(q[k] >= -127);
            assert_true(fabs(w[k] - q[k] * s) <= s * (0.5 + 127 * 0x1p-16));
        }
}

/* Each row or column has a number of full size. */
static void assert_full(const int8_t *q, const float *scale, bool by_rows)
{
    for (int i = 0; i < (by_rows ? ROWS : COLUMNS); i++) {
        int most = 0;
        for (int j = 0; j < (by_rows ? COLUMNS : ROWS); j++) {
            int here = abs(q[by_rows ? i * COLUMNS + j : j * COLUMNS + i]);
            most = here > most ? here : most;
        }
        assert_int_equal(most, scale[i] > 0 ? 127 : 0);
    }
}

/* fp32 -> int8 -> fp32 -> int8: nothing changes the second time. */
static void check_int8(uint64_t seed, bool by_rows)
{
    float w[SIZE], back[SIZE], scale[COLUMNS], scale2[COLUMNS];
    int8_t q[SIZE], q2[SIZE];
    int n = by_rows ? ROWS : COLUMNS;
    fill(w, seed);
    (by_rows ? quantize_rows : quantize_columns)(q, scale, w, ROWS, COLUMNS);
    assert_near(w, q, scale, by_rows);
    assert_full(q, scale, by_rows);
    (by_rows ? dequantize_rows : dequantize_columns)(back, q, scale, ROWS,
                                                     COLUMNS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            int k = i * COLUMNS + j;
            double s = scale[by_rows ? i : j];
            assert_true(back[k] == q[k] * s); /* exact */
        }
    (by_rows ? quantize_rows : quantize_columns)(q2, scale2, back, ROWS,
                                                 COLUMNS);
    assert_memory_equal(q2, q, sizeof q);
    assert_memory_equal(scale2, scale, (size_t)n * sizeof *scale);
    if (by_rows)
        return;
    int8_from_weights(q2, scale2, back, ROWS, COLUMNS); /* for products */
    assert_memory_equal(q2, q, sizeof q);
    assert_memory_equal(scale2, scale, (size_t)n * sizeof *scale);
}

static void test_int8(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        check_int8(seed, false);
        check_int8(seed, true);
    }
}

static void test_scale(void **state)
{
    struct rng_key key = rng_key(3, RNG_INIT, 0);
    (void)state;
    assert_true(quantize_scale(0) == 0);
    assert_true(quantize_scale(FLT_MIN) == 0); /* no weights have this size */
    assert_true(quantize_scale(127) == 1);
    assert_true(127 * quantize_scale(FLT_MAX) <= FLT_MAX);
    for (uint64_t i = 0; i < 100000; i++) {
        float s = quantize_scale(1 + rng_key_uniform(key, i));
        assert_true(127.0f * s == 127.0 * s);
        assert_true(127.0f * s / 127.0f == s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_int8),
        cmocka_unit_test(test_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
