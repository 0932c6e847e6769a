#include "tensor/matmul.h"

#include <string.h>

#include "tensor/gemm.h"
#include "tensor/packed.h"
#include "tensor/panel.h"

/* The sums go over so many k at a time: a panel then fits the second cache. */
enum { BLOCK = 512 };

static bool in_panels(void)
{
    return packed_lays_out(PRECISION_FP32);
}

/* Rows first … first + count - 1 of a matrix. */
static void list_rows(const float **row, const float *w, int first, int count,
                      int cols)
{
    for (int q = 0; q < count; q++)
        row[q] = w + (size_t)(first + q) * (size_t)cols;
}

/* Panels of neighbouring columns of w, from column j and row q on. */
struct sheet {
    const float *w;
    int n, k; /* its columns, and those of w^T */
    bool turned;
    const float *const *row; /* its rows, where it is not turned */
};

static int sheet_fill(const struct sheet *s, float *panels, int q, int depth,
                      int j)
{
    int cols = at_most(s->n - j, s->turned ? PANEL_COLS : PANEL_GROUP);
    if (s->turned)
        panel_from_columns(panels, s->w + (size_t)j * (size_t)s->k + q,
                           (size_t)s->k, depth, cols);
    else
        panels_from_rows(panels, s->row, depth, j, cols);
    return cols;
}

/* y (+)= x w for so many rows of w, from row q on. */
static void block(const struct sheet *s, float *panels, int m, int q, int depth,
                  const struct panel_left *left, bool add, float *y)
{
    for (int j = 0, cols; j < s->n; j += cols) {
        cols = sheet_fill(s, panels, q, depth, j);
        for (int c = 0; c < cols; c += PANEL_COLS) {
            float *to = y + j + c;
            panel_product(m, at_most(cols - c, PANEL_COLS), depth, left,
                          panels + (size_t)c * (size_t)depth, false,
                          add ? to : NULL, (size_t)s->n, to, (size_t)s->n);
        }
    }
}

/* x[m,k] w, w[k,n] or, turned, w[n,k] */
static void straight(struct multiplier *mu, int m, int n, int k, const float *x,
                     const float *w, bool turned, bool add, float *y)
{
    const float *row[BLOCK];
    struct sheet s = { w, n, k, turned, row };
    float *panels = multiplier_room(mu, (size_t)BLOCK * PANEL_GROUP);
    for (int q = 0; q < k || q == 0; q += BLOCK, add = true) {
        int depth = at_most(k - q, BLOCK);
        struct panel_left left = { x + q, (size_t)k };
        if (!turned)
            list_rows(row, w, q, depth, n);
        block(&s, panels, m, q, depth, &left, add, y);
    }
}

void matmul_nn(struct multiplier *mu, int m, int n, int k, const float *x,
               const float *w, bool add, float *y)
{
    if (in_panels())
        straight(mu, m, n, k, x, w, false, add, y);
    else
        gemm_nn(m, n, k, x, w, add, y);
}

void matmul_nt(struct multiplier *mu, int m, int n, int k, const float *x,
               const float *w, bool add, float *y)
{
    if (in_panels())
        straight(mu, m, n, k, x, w, true, add, y);
    else
        gemm_nt(m, n, k, x, w, add, y);
}

void matmul_alone(struct multiplier *mu, int m, int n, int k, const float *x,
                  const float *w, bool add, float *y)
{
    if (in_panels())
        matmul_nn(mu, m, n, k, x, w, add, y);
    else
        gemm_rows(m, n, k, x, w, add, y);
}

/* Copies the rows together for the library. */
static void library_rows(struct multiplier *mu, int m, int n, int k,
                         const float *const *x, const float *const *w, bool add,
                         float *y)
{
    size_t a = (size_t)m, b = (size_t)n;
    float *left = multiplier_room(mu, (size_t)at_most(k, BLOCK) * (a + b));
    for (int q = 0; q < k || q == 0; q += BLOCK, add = true) {
        int depth = at_most(k - q, BLOCK);
        float *right = left + (size_t)depth * a;
        for (int i = 0; i < depth; i++) {
            memcpy(left + (size_t)i * a, x[q + i], a * sizeof(*left));
            memcpy(right + (size_t)i * b, w[q + i], b * sizeof(*right));
        }
        gemm_tn(m, n, depth, left, right, add, y);
    }
}

void matmul_rows(struct multiplier *mu, int m, int n, int k,
                 const float *const *x, const float *const *w, bool add,
                 float *y)
{
    if (!in_panels()) {
        library_rows(mu, m, n, k, x, w, add, y);
        return;
    }
    size_t most = (size_t)at_most(k, BLOCK);
    size_t strips = ((size_t)m + PANEL_ROWS - 1) / PANEL_ROWS;
    float *room = multiplier_room(mu,
                                  most * (PANEL_GROUP + strips * PANEL_ROWS));
    struct panel_left left = { room + most * PANEL_GROUP, 0 };
    for (int q = 0; q < k || q == 0; q += BLOCK, add = true) {
        int depth = at_most(k - q, BLOCK);
        struct sheet s = { .n = n, .row = w + q };
        strips_from_rows(room + most * PANEL_GROUP, x + q, depth, m);
        block(&s, room, m, 0, depth, &left, add, y);
    }
}

void matmul_tn(struct multiplier *mu, int m, int n, int k, const float *x,
               const float *w, bool add, float *y)
{
    const float *left[BLOCK], *right[BLOCK];
    if (!in_panels()) {
        gemm_tn(m, n, k, x, w, add, y);
        return;
    }
    for (int q = 0; q < k || q == 0; q += BLOCK, add = true) {
        int depth = at_most(k - q, BLOCK);
        list_rows(left, x, q, depth, m);
        list_rows(right, w, q, depth, n);
        matmul_rows(mu, m, n, depth, left, right, add, y);
    }
}
