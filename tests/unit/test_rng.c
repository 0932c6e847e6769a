/* Random numbers: fixed for ever, even, independent of each other. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

enum { N = 200000 };

/* Results of training depend on these numbers: they may never change. The
 * values here come from a second implementation, of long integers. */
static void test_numbers_are_fixed(void **state)
{
    static const struct {
        uint64_t seed;
        enum rng_stream stream;
        uint64_t update, index, bits;
    } cases[] = {
        { UINT64_C(1), RNG_INIT, UINT64_C(0), UINT64_C(0),
          UINT64_C(0xe810ce8467d5d78c) },
        { UINT64_C(1), RNG_INIT, UINT64_C(0), UINT64_C(1),
          UINT64_C(0x4ef344b32ea9835c) },
        { UINT64_C(1), RNG_ORDER, UINT64_C(7), UINT64_C(123456789),
          UINT64_C(0x30d5ab9c56339c6c) },
        { UINT64_C(18446744073709551615), RNG_DROPOUT, UINT64_C(1099511627776),
          UINT64_C(9223372036854775813), UINT64_C(0xe190ffe2c3650091) },
        { UINT64_C(42), RNG_SAMPLE, UINT64_C(1000), UINT64_C(0),
          UINT64_C(0x245a91150d27f5e7) },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(rng_bits(cases[i].seed, cases[i].stream,
                                  cases[i].update, cases[i].index),
                         cases[i].bits);
    assert_true(rng_uniform(1, RNG_INIT, 0, 0) ==
                (float)(cases[0].bits >> 40) / 16777216);
}

/* The streams' numbers are part of the results, too. */
static void test_stream_numbers(void **state)
{
    (void)state;
    assert_int_equal(RNG_INIT, 0);
    assert_int_equal(RNG_ORDER, 1);
    assert_int_equal(RNG_DROPOUT, 2);
    assert_int_equal(RNG_SAMPLE, 3);
    assert_int_equal(RNG_DEMO, 4);
}

static void test_key_is_the_same_function(void **state)
{
    struct rng_key key = rng_key(3, RNG_DROPOUT, 17);
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(rng_key_bits(key, i), rng_bits(3, RNG_DROPOUT, 17, i));
        assert_true(rng_key_uniform(key, i) ==
                    rng_uniform(3, RNG_DROPOUT, 17, i));
        assert_true(rng_key_normal(key, i) ==
                    rng_normal(3, RNG_DROPOUT, 17, i));
    }
}

static void test_every_word_matters(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t x = rng_bits(i, RNG_INIT, i, i);
        assert_int_not_equal(x, rng_bits(i + 1, RNG_INIT, i, i));
        assert_int_not_equal(x, rng_bits(i, RNG_ORDER, i, i));
        assert_int_not_equal(x, rng_bits(i, RNG_INIT, i + 1, i));
        assert_int_not_equal(x, rng_bits(i, RNG_INIT, i, i + 1));
        assert_int_not_equal(x,
                             rng_bits(i ^ (UINT64_C(1) << i), RNG_INIT, i, i));
    }
}

static void test_uniform_range_and_moments(void **state)
{
    double sum = 0, squares = 0;
    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        float u = rng_uniform(5, RNG_SAMPLE, 9, i);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += (double)u * u;
    }
    /* five standard deviations of the mean */
    assert_true(fabs(sum / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(squares / N - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N));
}

static void test_normal_moments(void **state)
{
    double sum = 0, squares = 0, cubes = 0, fourth = 0;
    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        double x = rng_normal(5, RNG_INIT, 9, i);
        assert_true(isfinite(x));
        sum += x;
        squares += x * x;
        cubes += x * x * x;
        fourth += x * x * x * x;
    }
    assert_true(fabs(sum / N) < 5 / sqrt(N));
    assert_true(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(cubes / N) < 5 * sqrt(15.0 / N));
    assert_true(fabs(fourth / N - 3) < 5 * sqrt(96.0 / N));
}

static void test_every_bit_is_even(void **state)
{
    int ones[64] = { 0 }, same[64] = { 0 };
    uint64_t last = 0;
    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        uint64_t x = rng_bits(11, RNG_DROPOUT, 1, i);
        for (int b = 0; b < 64; b++) {
            ones[b] += (int)(x >> b & 1);
            same[b] += (int)(~(x ^ last) >> b & 1);
        }
        last = x;
    }
    double bound = 5 * sqrt(N) / 2;
    for (int b = 0; b < 64; b++) {
        assert_true(fabs(ones[b] - N / 2.0) < bound);
        assert_true(fabs(same[b] - N / 2.0) < bound);
    }
}

/* Numbers of neighbouring keys must not go together. */
static void test_streams_are_uncorrelated(void **state)
{
    struct rng_key keys[4] = { rng_key(1, RNG_DROPOUT, 0),
                               rng_key(1, RNG_DROPOUT, 1),
                               rng_key(2, RNG_DROPOUT, 0),
                               rng_key(1, RNG_SAMPLE, 0) };
    (void)state;
    for (int a = 0; a < 4; a++) {
        for (int b = 0; b < a; b++) {
            double sum = 0;
            for (uint64_t i = 0; i < N; i++)
                sum += ((double)rng_key_uniform(keys[a], i) - 0.5) *
                       ((double)rng_key_uniform(keys[b], i) - 0.5);
            assert_true(fabs(sum / N) < 5.0 / 12 / sqrt(N));
        }
    }
}

static void test_below(void **state)
{
    struct rng_key key = rng_key(1, RNG_ORDER, 0);
    int seen[7] = { 0 };
    (void)state;
    for (uint64_t i = 0; i < 70000; i++) {
        uint64_t x = rng_below(7, key, i);
        assert_true(x < 7);
        seen[x]++;
    }
    for (int i = 0; i < 7; i++)
        assert_true(abs(seen[i] - 10000) < 5 * 93);
    assert_int_equal(rng_below(1, key, 3), 0);
    assert_true(rng_below(UINT64_MAX, key, 3) < UINT64_MAX);
}

static void test_shuffle_is_a_permutation(void **state)
{
    uint32_t items[1000], again[1000];
    char seen[1000] = { 0 };
    int fixed = 0;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        items[i] = again[i] = i;
    rng_shuffle(items, 1000, 4, RNG_ORDER, 2);
    rng_shuffle(again, 1000, 4, RNG_ORDER, 2);
    assert_memory_equal(items, again, sizeof items);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_false(seen[items[i]]);
        seen[items[i]] = 1;
        fixed += items[i] == i;
    }
    assert_true(fixed < 10);
    rng_shuffle(again, 1000, 4, RNG_ORDER, 3);
    assert_memory_not_equal(items, again, sizeof items);
    rng_shuffle(NULL, 0, 4, RNG_ORDER, 2);
    rng_shuffle(items, 1, 4, RNG_ORDER, 2);
}

/* All 24 orders of four things come equally often. */
static void test_shuffle_is_even(void **state)
{
    int seen[256] = { 0 }, orders = 0;
    (void)state;
    for (uint64_t round = 0; round < 24000; round++) {
        uint32_t items[4] = { 0, 1, 2, 3 };
        rng_shuffle(items, 4, 1, RNG_ORDER, round);
        seen[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
    }
    for (int i = 0; i < 256; i++) {
        orders += seen[i] > 0;
        if (seen[i] > 0)
            assert_true(abs(seen[i] - 1000) < 160);
    }
    assert_int_equal(orders, 24);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_fixed),
        cmocka_unit_test(test_stream_numbers),
        cmocka_unit_test(test_key_is_the_same_function),
        cmocka_unit_test(test_every_word_matters),
        cmocka_unit_test(test_uniform_range_and_moments),
        cmocka_unit_test(test_normal_moments),
        cmocka_unit_test(test_every_bit_is_even),
        cmocka_unit_test(test_streams_are_uncorrelated),
        cmocka_unit_test(test_below),
        cmocka_unit_test(test_shuffle_is_a_permutation),
        cmocka_unit_test(test_shuffle_is_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
