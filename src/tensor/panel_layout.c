#include <stdlib.h>

#include "tensor/panel.h"

#ifdef __x86_64__

#include "tensor/avx512.h"

size_t panel_cells(enum precision precision, int k, int n)
{
    int whole = n / PANEL_COLS * PANEL_COLS;
    return (size_t)cell_depth(precision, k) *
           (size_t)(whole + padded(n - whole));
}

/* 16 cells side by side, of one row, or in bf16 of two; `two` NULL: zeros. */
AVX512_INLINE __m512i cells_across(bool pairs, const float *one,
                                   const float *two, int n)
{
    static const uint16_t lower_first[32] = { 0,  16, 1,  17, 2,  18, 3,  19,
                                              4,  20, 5,  21, 6,  22, 7,  23,
                                              8,  24, 9,  25, 10, 26, 11, 27,
                                              12, 28, 13, 29, 14, 30, 15, 31 };
    __m512 a = _mm512_maskz_loadu_ps(lanes_within(n), one);
    if (!pairs)
        return _mm512_castps_si512(a);
    __m512 b = _mm512_maskz_loadu_ps(two ? lanes_within(n) : 0, two);
    return _mm512_permutexvar_epi16(_mm512_loadu_si512(lower_first),
                                    (__m512i)_mm512_cvtne2ps_pbh(b, a));
}

/* 16 cells one after the other, of a row of which n floats are left. */
AVX512_INLINE __m512i cells_along(bool pairs, const float *x, int n)
{
    __m512 a = _mm512_maskz_loadu_ps(lanes_within(n), x);
    if (!pairs)
        return _mm512_castps_si512(a);
    __m512 b = _mm512_maskz_loadu_ps(lanes_within(n - WIDTH), x + WIDTH);
    return (__m512i)_mm512_cvtne2ps_pbh(b, a);
}

/* Row q of panels `depth` cells deep, from one row or two. */
AVX512_INLINE void row_to_panels(bool pairs, cell *panels, int depth, int q,
                                 const float *one, const float *two, int cols)
{
    for (int j = 0; j < cols; j += PANEL_COLS) {
        int width = padded(at_most(cols - j, PANEL_COLS));
        cell *to = panels + (size_t)j * (size_t)depth +
                   (size_t)q * (size_t)width;
        for (int v = 0; v < width; v += WIDTH)
            _mm512_storeu_si512(to + v, cells_across(pairs, one + j + v,
                                                     two ? two + j + v : NULL,
                                                     cols - j - v));
    }
}

AVX512_INLINE void rows_to_panels(bool pairs, cell *panels,
                                  const float *const *row, int k, int first,
                                  int cols)
{
    int held = pairs ? 2 : 1, depth = (k + held - 1) / held;
    for (int q = 0; q < k; q += held)
        row_to_panels(pairs, panels, depth, q / held, row[q] + first,
                      pairs && q + 1 < k ? row[q + 1] + first : NULL, cols);
}

AVX512 void panels_from_rows(enum precision precision, cell *panels,
                             const float *const *row, int k, int first,
                             int cols)
{
    if (precision == PRECISION_BF16)
        rows_to_panels(true, panels, row, k, first, cols);
    else
        rows_to_panels(false, panels, row, k, first, cols);
}

/* A square of 16, first in pairs and fours of rows, then in quarters. */
AVX512_INLINE void transpose(__m512 r[WIDTH])
{
    __m512 t[WIDTH];
    UNROLL for (int i = 0; i < WIDTH; i += 2)
    {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    UNROLL for (int i = 0; i < WIDTH; i += 4) UNROLL for (int h = 0; h < 2; h++)
    {
        __m512d a = _mm512_castps_pd(t[i + h]);
        __m512d b = _mm512_castps_pd(t[i + h + 2]);
        r[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
        r[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
    UNROLL for (int i = 0; i < 4; i++)
    {
        t[i] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_f32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_f32x4(r[i + 8], r[i + 12], 0xdd);
    }
    UNROLL for (int i = 0; i < 4; i++) UNROLL for (int h = 0; h < 2; h++)
    {
        r[i + 4 * h] = _mm512_shuffle_f32x4(t[i + 4 * h], t[i + 4 * h + 8],
                                            0x88);
        r[i + 4 * h + 8] = _mm512_shuffle_f32x4(t[i + 4 * h], t[i + 4 * h + 8],
                                                0xdd);
    }
}

/* Up to 16 rows of v, 16 cells of which go below one another; `left` floats
 * of each are left. */
AVX512_INLINE void turn_square(bool pairs, cell *panel, int width,
                               const float *v, size_t step, int rows, int left)
{
    __m512 r[WIDTH];
    int depth = pairs ? (left + 1) / 2 : left;
    for (int i = 0; i < WIDTH; i++)
        r[i] = i < rows ? _mm512_castsi512_ps(
                              cells_along(pairs, v + (size_t)i * step, left))
                        : _mm512_setzero_ps();
    transpose(r);
    for (int i = 0; i < WIDTH && i < depth; i++)
        _mm512_storeu_ps(panel + i * width, r[i]);
}

AVX512_INLINE void columns_to_panel(bool pairs, cell *panel, const float *v,
                                    size_t step, int k, int cols)
{
    int width = padded(cols), held = pairs ? 2 : 1;
    for (int q = 0; q < k; q += WIDTH * held)
        for (int j = 0; j < cols; j += WIDTH)
            turn_square(pairs, panel + (size_t)(q / held) * (size_t)width + j,
                        width, v + (size_t)j * step + q, step, cols - j, k - q);
}

AVX512 void panel_from_columns(enum precision precision, cell *panel,
                               const float *v, size_t step, int k, int cols)
{
    if (precision == PRECISION_BF16)
        columns_to_panel(true, panel, v, step, k, cols);
    else
        columns_to_panel(false, panel, v, step, k, cols);
}

AVX512 void panels_fill(enum precision precision, cell *panels, const float *w,
                        int k, int n, bool turned)
{
    bool pairs = precision == PRECISION_BF16;
    int held = cell_rows(precision), depth = cell_depth(precision, k);
    int step = turned ? PANEL_COLS : PANEL_GROUP;
    for (int j = 0; j < n; j += step) {
        int cols = at_most(n - j, step);
        cell *to = panels + (size_t)j * (size_t)depth;
        if (turned)
            panel_from_columns(precision, to, w + (size_t)j * (size_t)k,
                               (size_t)k, k, cols);
        for (int q = 0; q < k && !turned; q += held) {
            const float *row = w + (size_t)q * (size_t)n + j;
            row_to_panels(pairs, to, depth, q / held, row,
                          q + 1 < k ? row + n : NULL, cols);
        }
    }
}

AVX512 void cells_from_rows(enum precision precision, cell *cells,
                            const float *x, size_t step, int m, int k)
{
    bool pairs = precision == PRECISION_BF16;
    int held = cell_rows(precision), depth = cell_depth(precision, k);
    for (int i = 0; i < m; i++, x += step, cells += depth)
        for (int q = 0; q < depth; q += WIDTH)
            _mm512_mask_storeu_epi32(cells + q, lanes_within(depth - q),
                                     cells_along(pairs, x + q * held,
                                                 k - q * held));
}

/* Eight rows at a time, so that a line of them is read once. */
AVX512_INLINE void rows_to_strips(bool pairs, cell *strips,
                                  const float *const *row, int k, int m)
{
    int held = pairs ? 2 : 1, depth = (k + held - 1) / held;
    for (int q0 = 0; q0 < k; q0 += 8)
        for (int i = 0; i < m; i += PANEL_ROWS) {
            cell *to = strips + (size_t)i * (size_t)depth;
            for (int q = q0; q < k && q < q0 + 8; q += held) {
                const float *two = pairs && q + 1 < k ? row[q + 1] + i : NULL;
                __m512i eight = cells_across(pairs, row[q] + i, two,
                                             at_most(m - i, PANEL_ROWS));
                _mm256_storeu_si256((__m256i *)(to + q / held * PANEL_ROWS),
                                    _mm512_castsi512_si256(eight));
            }
        }
}

AVX512 void strips_from_rows(enum precision precision, cell *strips,
                             const float *const *row, int k, int m)
{
    if (precision == PRECISION_BF16)
        rows_to_strips(true, strips, row, k, m);
    else
        rows_to_strips(false, strips, row, k, m);
}

#else

size_t panel_cells(enum precision precision, int k, int n)
{
    (void)precision, (void)k, (void)n;
    abort();
}

void panels_from_rows(enum precision precision, cell *panels,
                      const float *const *row, int k, int first, int cols)
{
    (void)precision, (void)panels, (void)row, (void)k, (void)first, (void)cols;
    abort();
}

void panel_from_columns(enum precision precision, cell *panel, const float *v,
                        size_t step, int k, int cols)
{
    (void)precision, (void)panel, (void)v, (void)step, (void)k, (void)cols;
    abort();
}

void panels_fill(enum precision precision, cell *panels, const float *w, int k,
                 int n, bool turned)
{
    (void)precision, (void)panels, (void)w, (void)k, (void)n, (void)turned;
    abort();
}

void cells_from_rows(enum precision precision, cell *cells, const float *x,
                     size_t step, int m, int k)
{
    (void)precision, (void)cells, (void)x, (void)step, (void)m, (void)k;
    abort();
}

void strips_from_rows(enum precision precision, cell *strips,
                      const float *const *row, int k, int m)
{
    (void)precision, (void)strips, (void)row, (void)k, (void)m;
    abort();
}

#endif
