/* What a vector kernel is made of.
 *
 * A function marked KERNEL is compiled once for each instruction set named
 * here and the processor picks at start-up. Its bits do not depend on the
 * choice, nor on where in a row an element stands: contraction is off, a fused
 * multiply-add is written out (fma32), and sums run over sixteen fixed lanes.
 * A KERNEL is static, with a name of its own in the program: clang's clones
 * cannot be called from another file, and share their resolvers' names.
 *
 * approx_exp, approx_tanh and approx_sigmoid are branch-free, so that loops
 * over them become vector code. Their errors against double precision, checked
 * in tests/unit/test_vec.c:
 *   approx_exp      relative 3e-7 in [-87, 88], clamped outside
 *   approx_tanh     relative 1e-6 from 1e-30 up, absolute 3e-7
 *   approx_sigmoid  absolute 2e-7
 * What is not a number stays so. */
#ifndef ATTN_TENSOR_KERNEL_H
#define ATTN_TENSOR_KERNEL_H

#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ATTN_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define ATTN_SANITIZED 1
#endif
#endif

#if !defined(__x86_64__) || !defined(__linux__) || defined(ATTN_SANITIZED)
#define KERNEL
#elif defined(__clang__)
#define KERNEL __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define KERNEL      \
    __attribute__(( \
        target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

#define INLINE static inline __attribute__((always_inline, unused))

/* Sixteen lanes, loaded from any address. */
#define LANES 16
typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4)));

INLINE float fma32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

/* When the second operand is not a number, neither is the result. */
INLINE float min32(float a, float b)
{
    return a < b ? a : b;
}

INLINE float max32(float a, float b)
{
    return a > b ? a : b;
}

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln 2 / 2; Taylor in r. */
INLINE float approx_exp(float x)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: rounds to an integer */
    x = min32(88.0f, max32(-87.0f, x));
    float shifted = fma32(x, 1.44269504f, magic);
    float n = shifted - magic;
    float r = fma32(n, -0.693359375f, x);
    r = fma32(n, 2.12194440e-4f, r);
    float p = fma32(r, 1.9875691500e-4f, 1.3981999507e-3f);
    p = fma32(p, r, 8.3334519073e-3f);
    p = fma32(p, r, 4.1665795894e-2f);
    p = fma32(p, r, 1.6666665459e-1f);
    p = fma32(p, r, 5.0000001201e-1f);
    p = fma32(p, r * r, r) + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof(bits));
    bits = (bits + 127u) << 23;
    float power;
    memcpy(&power, &bits, sizeof(power));
    return p * power;
}

/* A rational approximation, odd over even, of degree 13 over 6. */
INLINE float approx_tanh(float x)
{
    x = min32(7.90531111f, max32(-7.90531111f, x));
    float s = x * x;
    float p = fma32(s, -2.76076847742355e-16f, 2.00018790482477e-13f);
    p = fma32(p, s, -8.60467152213735e-11f);
    p = fma32(p, s, 5.12229709037114e-08f);
    p = fma32(p, s, 1.48572235717979e-05f);
    p = fma32(p, s, 6.37261928875436e-04f);
    p = fma32(p, s, 4.89352455891786e-03f);
    float q = fma32(s, 1.19825839466702e-06f, 1.18534705686654e-04f);
    q = fma32(q, s, 2.26843463243900e-03f);
    q = fma32(q, s, 4.89352518554385e-03f);
    return x * p / q;
}

/* sigma(x) = 1/2 + tanh(x / 2) / 2 */
INLINE float approx_sigmoid(float x)
{
    return fma32(0.5f, approx_tanh(0.5f * x), 0.5f);
}

INLINE float lanes_sum(lanes a)
{
    float s8[8], s4[4];
    for (int i = 0; i < 8; i++)
        s8[i] = a[i] + a[i + 8];
    for (int i = 0; i < 4; i++)
        s4[i] = s8[i] + s8[i + 4];
    return (s4[0] + s4[2]) + (s4[1] + s4[3]);
}

/* sum_i a_i b_i; lane i mod 16 takes element i. */
INLINE float inline_dot(const float *a, const float *b, int n)
{
    lanes sum = { 0 }, x, y;
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(&x, a + i, sizeof(x));
        memcpy(&y, b + i, sizeof(y));
        sum += x * y;
    }
    for (int l = 0; i < n; i++, l++)
        sum[l] += a[i] * b[i];
    return lanes_sum(sum);
}

INLINE float inline_sum(const float *a, int n)
{
    lanes sum = { 0 }, x;
    int i = 0;
    for (; i + LANES <= n; i += LANES) {
        memcpy(&x, a + i, sizeof(x));
        sum += x;
    }
    for (int l = 0; i < n; i++, l++)
        sum[l] += a[i];
    return lanes_sum(sum);
}

#endif
