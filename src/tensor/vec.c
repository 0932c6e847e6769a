#include "tensor/vec.h"

#include <string.h>

#include "tensor/kernel.h"

void vec_zero(float *y, size_t n)
{
    memset(y, 0, n * sizeof(*y));
}

void vec_copy(float *y, const float *x, size_t n)
{
    if (n > 0)
        memcpy(y, x, n * sizeof(*y));
}

KERNEL void vec_add(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

KERNEL void vec_axpy(float *restrict y, float a, const float *restrict x,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = fma32(a, x[i], y[i]);
}

KERNEL void vec_scale(float *y, float a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] *= a;
}

KERNEL void vec_tanh(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = approx_tanh(x[i]);
}

KERNEL void vec_sigmoid(float *restrict y, const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = approx_sigmoid(x[i]);
}

KERNEL void vec_affine(float *y, float a, float b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = fma32(a, y[i], b);
}

KERNEL float vec_sum(const float *x, int n)
{
    return inline_sum(x, n);
}

KERNEL float vec_dot(const float *a, const float *b, int n)
{
    return inline_dot(a, b, n);
}

KERNEL float vec_max(const float *x, int n)
{
    float best[LANES];
    for (int l = 0; l < LANES; l++)
        best[l] = x[0];
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            best[l] = max32(x[i + l], best[l]);
    for (; i < n; i++)
        best[0] = max32(x[i], best[0]);
    for (int l = 1; l < LANES; l++)
        best[0] = max32(best[l], best[0]);
    return best[0];
}

KERNEL double vec_square_sum(const float *x, size_t n)
{
    double sum[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            sum[l] += (double)x[i + l] * x[i + l];
    for (int l = 0; i < n; i++, l++)
        sum[l] += (double)x[i] * x[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) +
           ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

KERNEL float vec_exp_sum(float *y, const float *x, float shift, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = approx_exp(x[i] - shift);
    return inline_sum(y, n);
}
