#include "tensor/quantize.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { SCALE_CUT = 0x7F }; /* the bits of a scale that are cut: 24 - 17 */

static uint32_t bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

void bf16_to_floats(float *y, const uint16_t *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = float_of((uint32_t)x[i] << 16);
}

float quantize_scale(float largest)
{
    float scale = largest / 127;

    if (scale < FLT_MIN)
        return 0;
    return float_of(bits_of(scale) & ~(uint32_t)SCALE_CUT);
}

static int8_t int8_of(float w, float scale)
{
    return (int8_t)(scale > 0 ? lrintf(w / scale) : 0);
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

void quantize_columns(int8_t *q, float *scale, const float *w, int rows,
                      int cols)
{
    size_t n = (size_t)cols;

    memset(scale, 0, n * sizeof *scale);
    for (size_t i = 0; i < (size_t)rows; i++)
        for (size_t j = 0; j < n; j++)
            scale[j] = larger(scale[j], fabsf(w[i * n + j]));
    for (size_t j = 0; j < n; j++)
        scale[j] = quantize_scale(scale[j]);
    for (size_t i = 0; i < (size_t)rows; i++)
        for (size_t j = 0; j < n; j++)
            q[i * n + j] = int8_of(w[i * n + j], scale[j]);
}

void dequantize_columns(float *w, const int8_t *q, const float *scale, int rows,
                        int cols)
{
    size_t n = (size_t)cols;

    for (size_t i = 0; i < (size_t)rows; i++)
        for (size_t j = 0; j < n; j++)
            w[i * n + j] = (float)q[i * n + j] * scale[j];
}

void quantize_rows(int8_t *q, float *scale, const float *w, int rows, int cols)
{
    for (int i = 0; i < rows; i++, q += cols, w += cols) {
        float largest = 0;
        for (int j = 0; j < cols; j++)
            largest = larger(largest, fabsf(w[j]));
        scale[i] = quantize_scale(largest);
        for (int j = 0; j < cols; j++)
            q[j] = int8_of(w[j], scale[i]);
    }
}

void dequantize_rows(float *w, const int8_t *q, const float *scale, int rows,
                     int cols)
{
    for (int i = 0; i < rows; i++, q += cols, w += cols)
        for (int j = 0; j < cols; j++)
            w[j] = (float)q[j] * scale[i];
}
