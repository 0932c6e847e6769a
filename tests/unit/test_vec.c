/* Vector kernels: near the true functions, and the same bits on every
 * instruction set, for every alignment and in every place of a row. */
#include "tensor/vec.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "numbers.h"
#include "tensor/kernel.h"

/* --- errors ------------------------------------------------------------- */

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

typedef double error_fn(float x);

/* The largest error over the floats in [-limit, limit], every 2003rd one. */
static double worst_error(error_fn *error_at, float limit, float *where)
{
    double worst = 0;
    for (uint32_t bits = 0; bits <= bits_of(limit); bits += 2003)
        for (uint32_t sign = 0; sign < 2; sign++) {
            float x = float_of(bits | sign << 31);
            double e = error_at(x);
            if (!(e <= worst)) {
                worst = e;
                *where = x;
            }
        }
    return worst;
}

static void check_error(const char *what, error_fn *error_at, float limit,
                        double bound)
{
    float where = 0;
    double worst = worst_error(error_at, limit, &where);
    if (!(worst <= bound))
        fail_msg("%s: error %g at %g, the bound is %g", what, worst,
                 (double)where, bound);
}

static double exp_relative(float x)
{
    double y = exp((double)x);
    return fabs((double)approx_exp(x) - y) / y;
}

static double tanh_relative(float x)
{
    double y = tanh((double)x);
    return fabsf(x) < 1e-30f ? 0 : fabs(((double)approx_tanh(x) - y) / y);
}

static double tanh_absolute(float x)
{
    return fabs((double)approx_tanh(x) - tanh((double)x));
}

static double sigmoid_absolute(float x)
{
    return fabs((double)approx_sigmoid(x) - 1 / (1 + exp(-(double)x)));
}

static void test_errors(void **state)
{
    (void)state;
    check_error("exp", exp_relative, 87.0f, 3e-7);
    check_error("tanh", tanh_relative, INFINITY, 1e-6);
    check_error("tanh", tanh_absolute, INFINITY, 3e-7);
    check_error("sigmoid", sigmoid_absolute, INFINITY, 2e-7);
}

static void test_exp_up_to_88(void **state)
{
    (void)state;
    for (float x = 87.0f; x <= 88.0f; x += 1.0f / 1024)
        assert_true(exp_relative(x) <= 3e-7);
}

/* Gates and states that were outside could grow without limit. */
static double outside(float x)
{
    float t = approx_tanh(x), s = approx_sigmoid(x), e = approx_exp(x);
    return !(t >= -1.0f && t <= 1.0f) || !(s >= 0.0f && s <= 1.0f) ||
           !(e > 0.0f && e < INFINITY);
}

static void test_ranges(void **state)
{
    (void)state;
    check_error("range", outside, INFINITY, 0);
}

static void test_clamped_and_special(void **state)
{
    (void)state;
    assert_true(approx_exp(1000.0f) == approx_exp(88.0f));
    assert_true(approx_exp(INFINITY) == approx_exp(88.0f));
    assert_true(approx_exp(-1000.0f) == approx_exp(-87.0f));
    assert_true(approx_exp(-INFINITY) == approx_exp(-87.0f));
    assert_true(approx_exp(0.0f) == 1.0f);
    assert_true(approx_tanh(0.0f) == 0.0f);
    assert_true(approx_sigmoid(0.0f) == 0.5f);
}

/* A weight that is not a number must be seen in the loss. */
static void test_not_a_number_stays_so(void **state)
{
    (void)state;
    float x[37], y[37];
    for (int at = 0; at < 37; at++) {
        numbers_fill(x, 37, 1.0f, 1);
        x[at] = NAN;
        vec_tanh(y, x, 37);
        assert_true(isnan(y[at]));
        vec_sigmoid(y, x, 37);
        assert_true(isnan(y[at]));
        assert_true(isnan(vec_exp_sum(y, x, vec_max(x, 37), 37)));
        assert_true(isnan(vec_sum(x, 37)));
        assert_true(isnan(vec_square_sum(x, 37)));
    }
}

/* --- instruction sets --------------------------------------------------- */

#if defined(__x86_64__) && !defined(ATTN_SANITIZED)

#define VARIANT(suffix, set)                                     \
    __attribute__((target(set))) static void functions_##suffix( \
        float *restrict y, const float *restrict x, int n)       \
    {                                                            \
        for (int i = 0; i < n; i++)                              \
            y[i] = approx_exp(x[i]);                             \
        for (int i = 0; i < n; i++)                              \
            y[n + i] = approx_tanh(x[i]);                        \
        for (int i = 0; i < n; i++)                              \
            y[2 * n + i] = approx_sigmoid(x[i]);                 \
        y[3 * n] = inline_dot(x, y + n, n);                      \
        y[3 * n + 1] = inline_sum(x, n);                         \
    }

VARIANT(v2, "arch=x86-64-v2")
VARIANT(v3, "arch=x86-64-v3")
VARIANT(v4, "arch=x86-64-v4")

static void test_instruction_sets(void **state)
{
    (void)state;
    enum { N = 1003, OUT = 3 * N + 2 };
    float x[N], base[OUT], y[OUT];
    for (int round = 0; round < 20; round++) {
        numbers_fill(x, N, round < 10 ? 3.0f : 90.0f, (uint64_t)round);
        functions_v2(base, x, N);
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
            functions_v3(y, x, N);
            assert_true(same_bits(base, y, OUT));
        }
        if (__builtin_cpu_supports("avx512f") &&
            __builtin_cpu_supports("avx512vl") &&
            __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512bw")) {
            functions_v4(y, x, N);
            assert_true(same_bits(base, y, OUT));
        }
        vec_tanh(y, x, N);
        assert_true(same_bits(base + N, y, N));
        vec_sigmoid(y, x, N);
        assert_true(same_bits(base + 2 * N, y, N));
        assert_true(vec_dot(x, base + N, N) == base[3 * N]);
        assert_true(vec_sum(x, N) == base[3 * N + 1]);
    }
}

#else

static void test_instruction_sets(void **state)
{
    (void)state; /* there is one only */
}

#endif

/* --- places ------------------------------------------------------------- */

/* y[n] in place of what it was, x[n] */
typedef void loop_fn(float *y, const float *x, size_t n);

static void add_loop(float *y, const float *x, size_t n)
{
    vec_add(y, x, n);
}

static void axpy_loop(float *y, const float *x, size_t n)
{
    vec_axpy(y, 0.7f, x, n);
}

static void scale_loop(float *y, const float *x, size_t n)
{
    (void)x;
    vec_scale(y, 1.3f, n);
}

static void affine_loop(float *y, const float *x, size_t n)
{
    (void)x;
    vec_affine(y, 1.3f, -0.2f, n);
}

static void exp_loop(float *y, const float *x, size_t n)
{
    vec_exp_sum(y, x, 0.3f, (int)n);
}

static void zero_loop(float *y, const float *x, size_t n)
{
    (void)x;
    vec_zero(y, n);
}

/* What they must give, element by element. */
static float add_one(float y, float x)
{
    return y + x;
}

static float axpy_one(float y, float x)
{
    return fmaf(0.7f, x, y);
}

static float scale_one(float y, float x)
{
    (void)x;
    return y * 1.3f;
}

static float affine_one(float y, float x)
{
    (void)x;
    return fmaf(1.3f, y, -0.2f);
}

static float exp_one(float y, float x)
{
    (void)y;
    return approx_exp(x - 0.3f);
}

static float tanh_one(float y, float x)
{
    (void)y;
    return approx_tanh(x);
}

static float sigmoid_one(float y, float x)
{
    (void)y;
    return approx_sigmoid(x);
}

static float copy_one(float y, float x)
{
    (void)y;
    return x;
}

static float zero_one(float y, float x)
{
    (void)y;
    (void)x;
    return 0;
}

static const struct {
    const char *name;
    loop_fn *loop;
    float (*one)(float y, float x);
} loops[] = {
    { "vec_zero", zero_loop, zero_one },
    { "vec_copy", vec_copy, copy_one },
    { "vec_add", add_loop, add_one },
    { "vec_axpy", axpy_loop, axpy_one },
    { "vec_scale", scale_loop, scale_one },
    { "vec_affine", affine_loop, affine_one },
    { "vec_tanh", vec_tanh, tanh_one },
    { "vec_sigmoid", vec_sigmoid, sigmoid_one },
    { "vec_exp_sum", exp_loop, exp_one },
};

enum { LONGEST = 67, SHIFTS = 17, ROOM = LONGEST + SHIFTS + 1 };

static void check_loop(int k, int shift, int n)
{
    float x[ROOM], y[ROOM], expected[ROOM];
    numbers_fill(x, ROOM, 4.0f, 1);
    numbers_fill(y, ROOM, 4.0f, 2);
    memcpy(expected, y, sizeof(y));
    for (int i = shift; i < shift + n; i++)
        expected[i] = loops[k].one(y[i], x[i]);
    loops[k].loop(y + shift, x + shift, (size_t)n);
    if (!same_bits(y, expected, ROOM))
        fail_msg("%s: %d elements from place %d", loops[k].name, n, shift);
}

/* Every length and place: the same as one by one, and nothing beside it. */
static void test_places(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(loops) / sizeof(loops[0]); k++)
        for (int shift = 0; shift < SHIFTS; shift++)
            for (int n = 0; n <= LONGEST; n++)
                check_loop((int)k, shift, n);
}

/* --- reductions --------------------------------------------------------- */

/* Each of at most n / 16 + 5 roundings of a lane. */
static double bound(int n, double absolute_sum)
{
    return (n / 16 + 5) * 6e-8 * absolute_sum;
}

static void check_sums(const float *x, const float *y, int n)
{
    double sum = 0, dot = 0, squares = 0, abs_sum = 0, abs_dot = 0;
    for (int i = 0; i < n; i++) {
        sum += (double)x[i];
        abs_sum += fabs((double)x[i]);
        dot += (double)x[i] * (double)y[i];
        abs_dot += fabs((double)x[i] * (double)y[i]);
        squares += (double)x[i] * (double)x[i];
    }
    assert_true(fabs((double)vec_sum(x, n) - sum) <= bound(n, abs_sum));
    assert_true(fabs((double)vec_dot(x, y, n) - dot) <= bound(n, abs_dot));
    assert_true(fabs(vec_square_sum(x, (size_t)n) - squares) <=
                (n / 8 + 5) * 1.2e-16 * squares);
}

static void test_sums(void **state)
{
    (void)state;
    enum { N = 3001 };
    float *x = numbers_new(N, 2.0f, 5), *y = numbers_new(N, 2.0f, 6);
    for (int n = 0; n <= N; n += n < 100 ? 1 : 97)
        check_sums(x, y, n);
    free(x);
    free(y);
}

static void test_exp_sum(void **state)
{
    (void)state;
    float x[100], y[100];
    numbers_fill(x, 100, 5.0f, 7);
    for (int n = 1; n <= 100; n++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += exp((double)x[i] - 5);
        float got = vec_exp_sum(y, x, 5.0f, n);
        assert_true(fabs((double)got - sum) <= 1e-6 * sum);
        assert_true(got == vec_sum(y, n));
        assert_true(got == vec_exp_total(x, 5.0f, n));
    }
    float in_place[100];
    memcpy(in_place, x, sizeof(x));
    assert_true(vec_exp_sum(in_place, in_place, 5.0f, 100) ==
                vec_exp_sum(y, x, 5.0f, 100));
    assert_true(same_bits(in_place, y, 100));
}

/* Every place, also among negative numbers only. */
static void test_max(void **state)
{
    (void)state;
    float x[70];
    for (int n = 1; n <= 70; n++)
        for (int at = 0; at < n; at++) {
            numbers_fill(x, 70, 1.0f, 8);
            for (int i = 0; i < n; i++)
                x[i] -= 3.0f;
            x[at] = -1.5f;
            if (n < 70)
                x[n] = 9.0f;
            assert_true(vec_max(x, n) == -1.5f);
        }
}

static void test_block_max(void **state)
{
    (void)state;
    enum { N = 3 * VEC_BLOCK + 5 };
    float x[N], best[4];
    numbers_fill(x, N, 1.0f, 11);
    assert_true(vec_block_max(best, x, N) == vec_max(x, N));
    for (int b = 0; b < 4; b++)
        assert_true(best[b] ==
                    vec_max(x + b * VEC_BLOCK, b < 3 ? VEC_BLOCK : 5));
}

static void test_sums_at_every_alignment(void **state)
{
    (void)state;
    float x[LONGEST], y[LONGEST], a[ROOM], b[ROOM];
    numbers_fill(x, LONGEST, 1.0f, 9);
    numbers_fill(y, LONGEST, 1.0f, 10);
    for (int shift = 0; shift < SHIFTS; shift++)
        for (int n = 1; n <= LONGEST; n++) {
            memcpy(a + shift, x, (size_t)n * sizeof(*x));
            memcpy(b + SHIFTS - shift, y, (size_t)n * sizeof(*y));
            const float *p = a + shift, *q = b + SHIFTS - shift;
            assert_true(vec_sum(p, n) == vec_sum(x, n));
            assert_true(vec_dot(p, q, n) == vec_dot(x, y, n));
            assert_true(vec_square_sum(p, (size_t)n) ==
                        vec_square_sum(x, (size_t)n));
        }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_exp_up_to_88),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_clamped_and_special),
        cmocka_unit_test(test_not_a_number_stays_so),
        cmocka_unit_test(test_instruction_sets),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_exp_sum),
        cmocka_unit_test(test_max),
        cmocka_unit_test(test_block_max),
        cmocka_unit_test(test_sums_at_every_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
