#include "tensor/matmul.h"

#include <string.h>

#include "tensor/gemm.h"
#include "tensor/panel.h"
#include "tensor/product.h"
#include "tensor/vec.h"

/* The sums go over so many cells at a time: a panel then fits the second
 * cache. ROWS is the most rows of w that are. */
enum { DEPTH = 512, ROWS = 2 * DEPTH };

static bool in_panels(enum precision precision)
{
    return precision != PRECISION_FP32 || !product_missing(PRECISION_FP32);
}

/* Rows first … first + count - 1 of a matrix. */
static void list_rows(const float **row, const float *w, int first, int count,
                      int cols)
{
    for (int q = 0; q < count; q++)
        row[q] = w + (size_t)(first + q) * (size_t)cols;
}

/* w[k,n], or the transpose of w[n,k], as it becomes panels. */
struct sheet {
    enum precision precision;
    int n, k;
    const float *const *row; /* rows of w; NULL: of the transpose, */
    const float *w;          /* from its first row and column on */
};

/* Some panels, from column j on; returns their columns. */
static int sheet_fill(const struct sheet *s, cell *panels, int k, int j)
{
    int cols = at_most(s->n - j, s->row ? PANEL_GROUP : PANEL_COLS);
    if (s->row)
        panels_from_rows(s->precision, panels, s->row, k, j, cols);
    else
        panel_from_columns(s->precision, panels,
                           s->w + (size_t)j * (size_t)s->k, (size_t)s->k, k,
                           cols);
    return cols;
}

/* y = start + x w for k rows of w. */
static void block(const struct sheet *s, cell *panels, int m, int k,
                  const struct panel_left *left, const float *start, float *y)
{
    int depth = cell_depth(s->precision, k);
    size_t n = (size_t)s->n;
    for (int j = 0, cols; j < s->n; j += cols) {
        cols = sheet_fill(s, panels, k, j);
        for (int c = 0; c < cols; c += PANEL_COLS)
            panel_product(s->precision, m, at_most(cols - c, PANEL_COLS), depth,
                          left, panels + (size_t)c * (size_t)depth, false,
                          start ? start + j + c : NULL, start == y ? n : 0,
                          y + j + c, n);
    }
}

/* x[m,k] w, w[k,n] or, turned, w[n,k] */
static void straight(struct multiplier *mu, enum precision precision, int m,
                     int n, int k, const float *x, const float *w, bool turned,
                     const float *start, float *y)
{
    const float *row[ROWS];
    struct sheet s = { precision, n, k, turned ? NULL : row, w };
    int rows = DEPTH * cell_rows(precision);
    size_t group = (size_t)DEPTH * PANEL_GROUP, rounded = (size_t)m * DEPTH;
    cell *panels = multiplier_room(mu, (group + rounded) * sizeof(*panels));
    for (int q = 0; q < k || q == 0; q += rows, start = y) {
        int part = at_most(k - q, rows);
        struct panel_left left = { (const cell *)(x + q), (size_t)k };
        if (precision == PRECISION_BF16) {
            left.x = panels + group;
            left.step = (size_t)cell_depth(precision, part);
            cells_from_rows(precision, panels + group, x + q, (size_t)k, m,
                            part);
        }
        if (!turned)
            list_rows(row, w, q, part, n);
        block(&s, panels, m, part, &left, start, y);
        s.w += part;
    }
}

/* For the library: y = start where that is a row; whether to add to y. */
static bool begin(int m, int n, const float *start, float *y)
{
    for (int i = 0; i < m && start && start != y; i++)
        vec_copy(y + (size_t)i * (size_t)n, start, (size_t)n);
    return start != NULL;
}

void matmul_nn(struct multiplier *mu, enum precision precision, int m, int n,
               int k, const float *x, const float *w, const float *start,
               float *y)
{
    if (in_panels(precision))
        straight(mu, precision, m, n, k, x, w, false, start, y);
    else
        gemm_nn(m, n, k, x, w, begin(m, n, start, y), y);
}

void matmul_nt(struct multiplier *mu, enum precision precision, int m, int n,
               int k, const float *x, const float *w, const float *start,
               float *y)
{
    if (in_panels(precision))
        straight(mu, precision, m, n, k, x, w, true, start, y);
    else
        gemm_nt(m, n, k, x, w, begin(m, n, start, y), y);
}

void matmul_alone(struct multiplier *mu, enum precision precision, int m, int n,
                  int k, const float *x, const float *w, const float *start,
                  float *y)
{
    if (in_panels(precision))
        straight(mu, precision, m, n, k, x, w, false, start, y);
    else
        gemm_rows(m, n, k, x, w, begin(m, n, start, y), y);
}

/* Copies the rows together for the library. */
static void library_rows(struct multiplier *mu, int m, int n, int k,
                         const float *const *x, const float *const *w,
                         const float *start, float *y)
{
    size_t a = (size_t)m, b = (size_t)n;
    bool add = begin(m, n, start, y);
    float *left = multiplier_room(mu, (size_t)at_most(k, ROWS) * (a + b) *
                                          sizeof(*left));
    for (int q = 0; q < k || q == 0; q += ROWS, add = true) {
        int part = at_most(k - q, ROWS);
        float *right = left + (size_t)part * a;
        for (int i = 0; i < part; i++) {
            memcpy(left + (size_t)i * a, x[q + i], a * sizeof(*left));
            memcpy(right + (size_t)i * b, w[q + i], b * sizeof(*right));
        }
        gemm_tn(m, n, part, left, right, add, y);
    }
}

void matmul_rows(struct multiplier *mu, enum precision precision, int m, int n,
                 int k, const float *const *x, const float *const *w,
                 const float *start, float *y)
{
    if (!in_panels(precision)) {
        library_rows(mu, m, n, k, x, w, start, y);
        return;
    }
    int rows = DEPTH * cell_rows(precision);
    size_t depth = (size_t)cell_depth(precision, at_most(k, rows));
    size_t group = depth * PANEL_GROUP;
    size_t strips = ((size_t)m + PANEL_ROWS - 1) / PANEL_ROWS * PANEL_ROWS;
    cell *panels = multiplier_room(mu,
                                   (group + depth * strips) * sizeof(*panels));
    struct panel_left left = { panels + group, 0 };
    for (int q = 0; q < k || q == 0; q += rows, start = y) {
        struct sheet s = { precision, n, k, w + q, NULL };
        int part = at_most(k - q, rows);
        strips_from_rows(precision, panels + group, x + q, part, m);
        block(&s, panels, m, part, &left, start, y);
    }
}

void matmul_tn(struct multiplier *mu, enum precision precision, int m, int n,
               int k, const float *x, const float *w, const float *start,
               float *y)
{
    const float *left[ROWS], *right[ROWS];
    if (!in_panels(precision)) {
        gemm_tn(m, n, k, x, w, begin(m, n, start, y), y);
        return;
    }
    for (int q = 0; q < k || q == 0; q += ROWS, start = y) {
        int part = at_most(k - q, ROWS);
        list_rows(left, x, q, part, m);
        list_rows(right, w, q, part, n);
        matmul_rows(mu, precision, m, n, part, left, right, start, y);
    }
}
