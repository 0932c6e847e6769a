#include "tensor/precision.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "tensor/kernel.h"

const char *const precision_names[PRECISIONS + 1] = { "fp32", "bf16", "int8",
                                                      NULL };

INLINE uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

KERNEL static void bf16_kernel(uint16_t *restrict to,
                               const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = bits_of(from[i]);
        to[i] = (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
    }
}

void bf16_from_floats(uint16_t *to, const float *from, size_t n)
{
    bf16_kernel(to, from, n);
}

/* 1.5 * 2^23: adding it rounds to an integer, which then is in the low bits */
#define ROUND 12582912.0f

KERNEL static float row_kernel(uint8_t *restrict to, const float *restrict x,
                               int n)
{
    float most[LANES] = { 0 };
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            most[l] = max32(fabsf(x[i + l]), most[l]);
    for (; i < n; i++)
        most[0] = max32(fabsf(x[i]), most[0]);
    for (int l = 1; l < LANES; l++)
        most[0] = max32(most[l], most[0]);
    float inverse = most[0] > 0 ? 127.0f / most[0] : 0;
    for (i = 0; i < n; i++)
        to[i] = (uint8_t)bits_of(fma32(x[i], inverse, ROUND + 128.0f));
    return most[0] / 127.0f;
}

float int8_from_row(uint8_t *to, const float *x, int n)
{
    return row_kernel(to, x, n);
}

KERNEL static void most_kernel(float *restrict most, const float *restrict w,
                               int n)
{
    for (int j = 0; j < n; j++)
        most[j] = max32(fabsf(w[j]), most[j]);
}

KERNEL static void round_kernel(int8_t *restrict q, const float *restrict w,
                                const float *restrict inverse, int n)
{
    for (int j = 0; j < n; j++)
        q[j] = (int8_t)bits_of(w[j] * inverse[j] + ROUND);
}

void int8_from_weights(int8_t *q, float *s, const float *w, int k, int n)
{
    float *inverse = ARRAY_ZERO(inverse, (size_t)n);
    memset(s, 0, (size_t)n * sizeof(*s));
    for (int i = 0; i < k; i++)
        most_kernel(s, w + (size_t)i * n, n);
    for (int j = 0; j < n; j++) {
        inverse[j] = s[j] > 0 ? 127.0f / s[j] : 0;
        s[j] /= 127.0f;
    }
    for (int i = 0; i < k; i++)
        round_kernel(q + (size_t)i * n, w + (size_t)i * n, inverse, n);
    free(inverse);
}

KERNEL static void sum_rows_kernel(int32_t *restrict sum,
                                   const int8_t *restrict q, int n)
{
    for (int j = 0; j < n; j++)
        sum[j] += 128 * q[j];
}

void int8_offsets(int32_t *sum, const int8_t *q, int k, int n)
{
    memset(sum, 0, (size_t)n * sizeof(*sum));
    for (int i = 0; i < k; i++)
        sum_rows_kernel(sum, q + (size_t)i * n, n);
}

KERNEL static void scale_back_kernel(float *y, const float *add, float t,
                                     const float *restrict s,
                                     const int32_t *restrict sums,
                                     const int32_t *restrict offset, int n)
{
    for (int j = 0; j < n; j++)
        y[j] = fma32(t * s[j], (float)(sums[j] - offset[j]), add[j]);
}

void int8_to_row(float *y, const float *add, float t, const float *s,
                 const int32_t *sums, const int32_t *offset, int n)
{
    if (!add)
        memset(y, 0, (size_t)n * sizeof(*y));
    scale_back_kernel(y, add ? add : y, t, s, sums, offset, n);
}
