#include "tensor/panel.h"

#include <stdlib.h>

#ifdef __x86_64__

#include "tensor/avx512.h"

enum { VECTORS = PANEL_COLS / WIDTH };

/* Some rows of a product, and what is brought near meanwhile: x and y of the
 * tile that comes next, and some of the next panel. */
struct tile {
    int depth;
    const cell *x;
    size_t x_step; /* of a row */
    const cell *panel;
    __mmask16 last; /* lanes of the last vector */
    const float *start;
    size_t start_step;
    float *y;
    size_t y_step;
    const cell *next_x;
    const float *next_y;
    size_t next_step;       /* from an eighth of next_x to the next */
    const cell *next_panel; /* `lines` lines for each cell */
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

/* sum + a w, or sum + a_0 w_0 + a_1 w_1 */
AVX512_INLINE __m512 multiply_add(bool pairs, __m512i a, __m512i w, __m512 sum)
{
    return pairs ? _mm512_dpbf16_ps(sum, (__m512bh)a, (__m512bh)w)
                 : _mm512_fmadd_ps(_mm512_castsi512_ps(a),
                                   _mm512_castsi512_ps(w), sum);
}

/* y = start + x panel, rows x (16 cols) sums in registers, an eighth of the
 * depth after the other; x of row i and cell q stands at x[i row + q step]. */
AVX512_INLINE void tile_run(const struct tile *t, bool pairs, int rows,
                            int cols, size_t row, size_t step)
{
    __m512 sum[PANEL_ROWS][VECTORS];
    __m512i w[VECTORS];
    const cell *x = t->x, *panel = t->panel, *next_panel = t->next_panel;
    int eighth = (t->depth + 7) / 8;
    tile_start(t, rows, cols, sum);
    for (int q = 0, part = 0; q < t->depth; part++) {
        const cell *next_x = t->next_x + (size_t)part * t->next_step;
        const float *next_y = t->next_y + (size_t)part * t->y_step;
        UNROLL for (int j = 0; j < cols; j++)
            TO_FIRST_CACHE(next_y + j * WIDTH);
        for (int end = at_most(q + eighth, t->depth); q < end; q++) {
            TO_SECOND_CACHE(next_x);
            next_x += 8;
            UNROLL for (int j = 0; j < cols; j++)
                w[j] = _mm512_loadu_si512(panel + j * WIDTH);
            for (int l = 0; l < t->lines; l++, next_panel += WIDTH)
                TO_FIRST_CACHE(next_panel);
            UNROLL for (int i = 0; i < rows; i++)
            {
                __m512i a = _mm512_set1_epi32((int)x[(size_t)i * row]);
                UNROLL for (int j = 0; j < cols; j++)
                    sum[i][j] = multiply_add(pairs, a, w[j], sum[i][j]);
            }
            x += step;
            panel += cols * WIDTH;
        }
    }
    tile_store(t, rows, cols, sum);
}

typedef void tile_fn(const struct tile *t);

#define TILE(name, pairs, rows, cols)                                     \
    AVX512 static void name##_rows_##rows##_##cols(const struct tile *t)  \
    {                                                                     \
        tile_run(t, pairs, rows, cols, t->x_step, 1);                     \
    }                                                                     \
    AVX512 static void name##_strip_##rows##_##cols(const struct tile *t) \
    {                                                                     \
        tile_run(t, pairs, rows, cols, 1, PANEL_ROWS);                    \
    }
#define TILES_OF(name, pairs, rows) \
    TILE(name, pairs, rows, 1)      \
    TILE(name, pairs, rows, 2)      \
    TILE(name, pairs, rows, 3)
#define TILES(rows) TILES_OF(fp32, false, rows) TILES_OF(bf16, true, rows)
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
static tile_fn *const tile_fns[][2][PANEL_ROWS][VECTORS] = {
    [PRECISION_FP32] = { ALL_FORMS(fp32_rows), ALL_FORMS(fp32_strip) },
    [PRECISION_BF16] = { ALL_FORMS(bf16_rows), ALL_FORMS(bf16_strip) },
};

/* The panel that comes next is brought near in pieces, one with each eight
 * rows, so that memory keeps pace with arithmetic. */
void panel_product(enum precision precision, int m, int cols, int depth,
                   const struct panel_left *left, const cell *panel, bool ahead,
                   const float *start, size_t start_step, float *y,
                   size_t y_step)
{
    bool strips = left->step == 0;
    int vectors = padded(cols) / WIDTH;
    int passes = (m + PANEL_ROWS - 1) / PANEL_ROWS;
    int lines = m > 0 ? (vectors + passes - 1) / passes : 0;
    size_t step = strips ? (size_t)depth : left->step; /* of x, in all */
    struct tile t = { .depth = depth,
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
        t.next_panel = panel +
                       (size_t)(vectors + brought) * (size_t)depth * WIDTH;
        t.lines = ahead && brought < vectors ? lines : 0;
        tile_fns[precision][strips][rows - 1][vectors - 1](&t);
    }
}

#else

void panel_product(enum precision precision, int m, int cols, int depth,
                   const struct panel_left *left, const cell *panel, bool ahead,
                   const float *start, size_t start_step, float *y,
                   size_t y_step)
{
    (void)precision, (void)m, (void)cols, (void)depth, (void)left, (void)panel;
    (void)ahead, (void)start, (void)start_step, (void)y, (void)y_step;
    abort();
}

#endif
