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

KERNEL static void add_kernel(float *restrict y, const float *restrict x,
                              size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}

void vec_add(float *y, const float *x, size_t n)
{
    add_kernel(y, x, n);
}

KERNEL static void axpy_kernel(float *restrict y, float a,
                               const float *restrict x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = fma32(a, x[i], y[i]);
}

void vec_axpy(float *y, float a, const float *x, size_t n)
{
    axpy_kernel(y, a, x, n);
}

KERNEL static void scale_kernel(float *y, float a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] *= a;
}

void vec_scale(float *y, float a, size_t n)
{
    scale_kernel(y, a, n);
}

KERNEL static void tanh_kernel(float *restrict y, const float *restrict x,
                               size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = approx_tanh(x[i]);
}

void vec_tanh(float *y, const float *x, size_t n)
{
    tanh_kernel(y, x, n);
}

KERNEL static void sigmoid_kernel(float *restrict y, const float *restrict x,
                                  size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = approx_sigmoid(x[i]);
}

void vec_sigmoid(float *y, const float *x, size_t n)
{
    sigmoid_kernel(y, x, n);
}

KERNEL static void affine_kernel(float *y, float a, float b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = fma32(a, y[i], b);
}

void vec_affine(float *y, float a, float b, size_t n)
{
    affine_kernel(y, a, b, n);
}

KERNEL static float sum_kernel(const float *x, int n)
{
    return inline_sum(x, n);
}

float vec_sum(const float *x, int n)
{
    return sum_kernel(x, n);
}

KERNEL static float dot_kernel(const float *a, const float *b, int n)
{
    return inline_dot(a, b, n);
}

float vec_dot(const float *a, const float *b, int n)
{
    return dot_kernel(a, b, n);
}

INLINE float inline_max(const float *x, int n)
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

KERNEL static float max_kernel(const float *x, int n)
{
    return inline_max(x, n);
}

float vec_max(const float *x, int n)
{
    return max_kernel(x, n);
}

KERNEL static float block_max_kernel(float *best, const float *x, int n)
{
    float all = x[0];
    for (int from = 0; from < n; from += VEC_BLOCK) {
        int size = n - from < VEC_BLOCK ? n - from : VEC_BLOCK;
        best[from / VEC_BLOCK] = inline_max(x + from, size);
        all = max32(best[from / VEC_BLOCK], all);
    }
    return all;
}

float vec_block_max(float *best, const float *x, int n)
{
    return block_max_kernel(best, x, n);
}

/* In squares that fit the first cache. */
KERNEL static void transpose_kernel(float *restrict y, const float *restrict x,
                                    int rows, int cols)
{
    enum { SIDE = 16 };
    for (int i0 = 0; i0 < rows; i0 += SIDE)
        for (int j0 = 0; j0 < cols; j0 += SIDE) {
            int i1 = i0 + SIDE < rows ? i0 + SIDE : rows;
            int j1 = j0 + SIDE < cols ? j0 + SIDE : cols;
            for (int j = j0; j < j1; j++)
                for (int i = i0; i < i1; i++)
                    y[(size_t)j * rows + i] = x[(size_t)i * cols + j];
        }
}

void vec_transpose(float *y, const float *x, int rows, int cols)
{
    transpose_kernel(y, x, rows, cols);
}

KERNEL static double square_sum_kernel(const float *x, size_t n)
{
    double sum[8] = { 0 };
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            sum[l] += (double)x[i + l] * x[i + l];
    for (int l = 0; i < n; i++, l++)
        sum[l] += (double)x[i] * x[i];
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) +
           ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

double vec_square_sum(const float *x, size_t n)
{
    return square_sum_kernel(x, n);
}

KERNEL static float exp_sum_kernel(float *y, const float *x, float shift, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = approx_exp(x[i] - shift);
    return inline_sum(y, n);
}

float vec_exp_sum(float *y, const float *x, float shift, int n)
{
    return exp_sum_kernel(y, x, shift, n);
}

INLINE float inline_exp_total(const float *x, float shift, int n)
{
    float sum[LANES] = { 0 };
    lanes total;
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            sum[l] += approx_exp(x[i + l] - shift);
    for (int l = 0; i < n; i++, l++)
        sum[l] += approx_exp(x[i] - shift);
    memcpy(&total, sum, sizeof(total));
    return lanes_sum(total);
}

KERNEL static float exp_total_kernel(const float *x, float shift, int n)
{
    return inline_exp_total(x, shift, n);
}

float vec_exp_total(const float *x, float shift, int n)
{
    return exp_total_kernel(x, shift, n);
}
