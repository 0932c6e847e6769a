#include "tensor/panel.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 16, VECTORS = PANEL_COLS / WIDTH };

static int padded(int cols)
{
    return (cols + WIDTH - 1) / WIDTH * WIDTH;
}

size_t panel_floats(int k, int n)
{
    int whole = n / PANEL_COLS * PANEL_COLS;
    return (size_t)k * (size_t)(whole + padded(n - whole));
}

#ifdef __x86_64__

#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f")))
#define AVX512_INLINE \
    static inline __attribute__((always_inline, target("avx512f")))
#define UNROLL _Pragma("GCC unroll 16")

/* The first `cols` lanes. */
static __mmask16 lanes_within(int cols)
{
    return cols >= WIDTH ? 0xffff : (__mmask16)((1 << cols) - 1);
}

/* Row q of panels of k rows. */
AVX512_INLINE void row_to_panels(float *panels, int k, int q, const float *row,
                                 int cols)
{
    for (; cols > 0; cols -= PANEL_COLS, row += PANEL_COLS) {
        int width = padded(at_most(cols, PANEL_COLS));
        float *to = panels + (size_t)q * (size_t)width;
        for (int v = 0; v < width; v += WIDTH)
            _mm512_storeu_ps(to + v,
                             _mm512_maskz_loadu_ps(lanes_within(cols - v),
                                                   row + v));
        panels += (size_t)k * PANEL_COLS;
    }
}

AVX512 void panels_from_rows(float *panels, const float *const *row, int k,
                             int first, int cols)
{
    for (int q = 0; q < k; q++)
        row_to_panels(panels, k, q, row[q] + first, cols);
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

/* Up to 16 rows of v, 16 columns of which go below one another. */
AVX512_INLINE void turn_square(float *panel, int width, const float *v,
                               size_t step, int rows, int cols)
{
    __m512 r[WIDTH];
    __mmask16 some = lanes_within(cols);
    for (int i = 0; i < WIDTH; i++)
        r[i] = i < rows ? _mm512_maskz_loadu_ps(some, v + (size_t)i * step)
                        : _mm512_setzero_ps();
    transpose(r);
    for (int i = 0; i < WIDTH && i < cols; i++)
        _mm512_storeu_ps(panel + i * width, r[i]);
}

AVX512 void panel_from_columns(float *panel, const float *v, size_t step, int k,
                               int cols)
{
    int width = padded(cols);
    for (int q = 0; q < k; q += WIDTH)
        for (int j = 0; j < cols; j += WIDTH)
            turn_square(panel + (size_t)q * (size_t)width + j, width,
                        v + (size_t)j * step + q, step, cols - j, k - q);
}

AVX512 void panels_fill(float *panels, const float *w, int k, int n,
                        bool turned)
{
    int step = turned ? PANEL_COLS : PANEL_GROUP;
    for (int j = 0; j < n; j += step) {
        int cols = at_most(n - j, step);
        float *to = panels + (size_t)j * (size_t)k;
        if (turned)
            panel_from_columns(to, w + (size_t)j * (size_t)k, (size_t)k, k,
                               cols);
        for (int q = 0; q < k && !turned; q++)
            row_to_panels(to, k, q, w + (size_t)q * (size_t)n + j, cols);
    }
}

/* A whole group, of constant length, is a single move. */
static void copy_group(float *to, const float *from, int n)
{
    if (n == PANEL_ROWS)
        memcpy(to, from, PANEL_ROWS * sizeof(*to));
    else
        memcpy(to, from, (size_t)n * sizeof(*to));
}

/* Eight rows at a time, so that a line of them is read once. */
void strips_from_rows(float *strips, const float *const *row, int k, int m)
{
    size_t strip = (size_t)k * PANEL_ROWS;
    for (int q0 = 0; q0 < k; q0 += 8)
        for (int i = 0; i < m; i += PANEL_ROWS) {
            int n = at_most(m - i, PANEL_ROWS);
            float *to = strips + (size_t)(i / PANEL_ROWS) * strip;
            for (int q = q0; q < k && q < q0 + 8; q++)
                copy_group(to + q * PANEL_ROWS, row[q] + i, n);
        }
}

/* Some rows of a product, and what is brought near meanwhile: x and y of the
 * tile that comes next, and some of the next panel. */
struct tile {
    int k;
    const float *x;
    size_t x_step; /* of a row */
    const float *panel;
    __mmask16 last; /* lanes of the last vector */
    const float *start;
    size_t start_step;
    float *y;
    size_t y_step;
    const float *next_x, *next_y;
    size_t next_step;        /* from an eighth of next_x to the next */
    const float *next_panel; /* `lines` lines for each k */
    int lines;
};

AVX512_INLINE __mmask16 tile_lanes(const struct tile *t, int cols, int j)
{
    return j + 1 < cols ? 0xffff : t->last;
}

AVX512_INLINE void tile_start(const struct tile *t, int rows, int cols,
                              __m512 sum[PANEL_ROWS][VECTORS])
{
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < cols; j++)
    {
        const float *from = t->start + (size_t)i * t->start_step + j * WIDTH;
        sum[i][j] = t->start
                        ? _mm512_maskz_loadu_ps(tile_lanes(t, cols, j), from)
                        : _mm512_setzero_ps();
    }
}

AVX512_INLINE void tile_store(const struct tile *t, int rows, int cols,
                              __m512 sum[PANEL_ROWS][VECTORS])
{
    UNROLL for (int i = 0; i < rows; i++) UNROLL for (int j = 0; j < cols; j++)
        _mm512_mask_storeu_ps(t->y + (size_t)i * t->y_step + j * WIDTH,
                              tile_lanes(t, cols, j), sum[i][j]);
}

#define TO_FIRST_CACHE(x) _mm_prefetch((const char *)(x), _MM_HINT_T0)
#define TO_SECOND_CACHE(x) _mm_prefetch((const char *)(x), _MM_HINT_T1)

/* y = start + x panel, rows x (16 cols) sums in registers, an eighth of k after
 * the other; x of row i and k = q stands at x[i row + q step]. */
AVX512_INLINE void tile_run(const struct tile *t, int rows, int cols,
                            size_t row, size_t step)
{
    __m512 sum[PANEL_ROWS][VECTORS], w[VECTORS];
    const float *x = t->x, *panel = t->panel, *next_panel = t->next_panel;
    int eighth = (t->k + 7) / 8;
    tile_start(t, rows, cols, sum);
    for (int q = 0, part = 0; q < t->k; part++) {
        const float *next_x = t->next_x + (size_t)part * t->next_step;
        const float *next_y = t->next_y + (size_t)part * t->y_step;
        UNROLL for (int j = 0; j < cols; j++)
            TO_FIRST_CACHE(next_y + j * WIDTH);
        for (int end = at_most(q + eighth, t->k); q < end; q++) {
            TO_SECOND_CACHE(next_x);
            next_x += 8;
            UNROLL for (int j = 0; j < cols; j++)
                w[j] = _mm512_loadu_ps(panel + j * WIDTH);
            for (int l = 0; l < t->lines; l++, next_panel += WIDTH)
                TO_FIRST_CACHE(next_panel);
            UNROLL for (int i = 0; i < rows; i++)
            {
                __m512 a = _mm512_set1_ps(x[(size_t)i * row]);
                UNROLL for (int j = 0; j < cols; j++)
                    sum[i][j] = _mm512_fmadd_ps(a, w[j], sum[i][j]);
            }
            x += step;
            panel += cols * WIDTH;
        }
    }
    tile_store(t, rows, cols, sum);
}

typedef void tile_fn(const struct tile *t);

#define TILE(rows, cols)                                           \
    AVX512 static void rows_##rows##_##cols(const struct tile *t)  \
    {                                                              \
        tile_run(t, rows, cols, t->x_step, 1);                     \
    }                                                              \
    AVX512 static void strip_##rows##_##cols(const struct tile *t) \
    {                                                              \
        tile_run(t, rows, cols, 1, PANEL_ROWS);                    \
    }
#define TILES(rows) TILE(rows, 1) TILE(rows, 2) TILE(rows, 3)
TILES(1)
TILES(2)
TILES(3)
TILES(4)
TILES(5)
TILES(6)
TILES(7)
TILES(8)

#define FORMS(form, rows)                                       \
    {                                                           \
        form##_##rows##_1, form##_##rows##_2, form##_##rows##_3 \
    }
#define ALL_FORMS(form)                                                    \
    {                                                                      \
        FORMS(form, 1), FORMS(form, 2), FORMS(form, 3), FORMS(form, 4),    \
            FORMS(form, 5), FORMS(form, 6), FORMS(form, 7), FORMS(form, 8) \
    }

/* By x in strips, rows - 1 and vectors - 1. */
static tile_fn *const tile_fns[2][PANEL_ROWS][VECTORS] = { ALL_FORMS(rows),
                                                           ALL_FORMS(strip) };

/* The panel that comes next is brought near in pieces, one with each eight
 * rows, so that memory keeps pace with arithmetic. */
void panel_product(int m, int cols, int k, const struct panel_left *left,
                   const float *panel, bool ahead, const float *start,
                   size_t start_step, float *y, size_t y_step)
{
    bool strips = left->step == 0;
    int vectors = padded(cols) / WIDTH;
    int passes = (m + PANEL_ROWS - 1) / PANEL_ROWS;
    int lines = m > 0 ? (vectors + passes - 1) / passes : 0;
    size_t step = strips ? (size_t)k : left->step; /* of x, in all */
    struct tile t = { .k = k,
                      .x_step = left->step,
                      .panel = panel,
                      .last = lanes_within(cols - (vectors - 1) * WIDTH),
                      .start_step = start_step,
                      .y_step = y_step,
                      .next_step = step };
    for (int i = 0, pass = 0; i < m; i += PANEL_ROWS, pass++) {
        int rows = at_most(m - i, PANEL_ROWS), brought = pass * lines;
        bool more = i + PANEL_ROWS < m;
        t.x = left->x + (size_t)i * step;
        t.start = start ? start + (size_t)i * start_step : NULL;
        t.y = y + (size_t)i * y_step;
        t.next_x = more ? t.x + PANEL_ROWS * step : left->x;
        t.next_y = more ? t.y + PANEL_ROWS * y_step : y + PANEL_COLS;
        t.next_panel = panel + (size_t)(vectors + brought) * (size_t)k * WIDTH;
        t.lines = ahead && brought < vectors ? lines : 0;
        tile_fns[strips][rows - 1][vectors - 1](&t);
    }
}

#else

void panels_from_rows(float *panels, const float *const *row, int k, int first,
                      int cols)
{
    (void)panels, (void)row, (void)k, (void)first, (void)cols;
    abort();
}

void panel_from_columns(float *panel, const float *v, size_t step, int k,
                        int cols)
{
    (void)panel, (void)v, (void)step, (void)k, (void)cols;
    abort();
}

void panels_fill(float *panels, const float *w, int k, int n, bool turned)
{
    (void)panels, (void)w, (void)k, (void)n, (void)turned;
    abort();
}

void strips_from_rows(float *strips, const float *const *row, int k, int m)
{
    (void)strips, (void)row, (void)k, (void)m;
    abort();
}

void panel_product(int m, int cols, int k, const struct panel_left *left,
                   const float *panel, bool ahead, const float *start,
                   size_t start_step, float *y, size_t y_step)
{
    (void)m, (void)cols, (void)k, (void)left, (void)panel, (void)ahead;
    (void)start, (void)start_step, (void)y, (void)y_step;
    abort();
}

#endif
