/* Products for processors with AVX-512, of float32 or of bf16 with sums in
 * float32, from weights in panels.
 *
 * A panel holds 48 neighbouring columns of w[k,n], row below row, so that a
 * product reads it from front to back; the last one has what is left, filled
 * up with zeros to a multiple of 16. Whole weights are panel after panel. What
 * stands at one place is a cell: a float32, or two bf16 of neighbouring rows,
 * k and k + 1, the lower half first; a row that is lacking counts as zeros.
 * Hence a panel is `depth` cells deep: k, or half of it.
 *
 * Every entry is one chain in the order of k. In float32, of fused
 * multiply-adds,
 *     y_ij = fma(x_i(k-1), w_(k-1)j, … fma(x_i0, w_0j, start_ij)),
 * in bf16, of the processor's dot products of pairs. Whatever the number of
 * rows, a row's bits depend on that row of x and on w alone, and a sum over k
 * may be had piece by piece. The form of the kernel is that of Goto and van de
 * Geijn (2008), "Anatomy of high-performance matrix multiplication": a tile of
 * y stays in registers for a whole panel. */
#ifndef ATTN_TENSOR_PANEL_H
#define ATTN_TENSOR_PANEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/precision.h"

/* Columns of a panel, columns that are best laid out at a time, and rows of x
 * that are multiplied at a time. */
enum { PANEL_COLS = 48, PANEL_GROUP = 4 * PANEL_COLS, PANEL_ROWS = 8 };

typedef uint32_t __attribute__((may_alias)) cell;

static inline int at_most(int n, int most)
{
    return n < most ? n : most;
}

/* Rows of w that a cell holds, and cells that k of them need. fp32 or bf16. */
static inline int cell_rows(enum precision precision)
{
    return precision == PRECISION_BF16 ? 2 : 1;
}

static inline int cell_depth(enum precision precision, int k)
{
    return precision == PRECISION_BF16 ? (k + 1) / 2 : k;
}

/* Cells of w[k,n] in panels. */
size_t panel_cells(enum precision precision, int k, int n);

/* What follows is to be called only where the processor can multiply so
 * (tensor/product.h). Numbers are rounded on the way, as precision.h says,
 * but those too small for float32's usual form become 0. */

/* Columns first … first + cols - 1 of the k rows given, panel after panel. */
void panels_from_rows(enum precision precision, cell *panels,
                      const float *const *row, int k, int first, int cols);

/* One panel of the transpose of some rows, at most 48, `step` floats apart. */
void panel_from_columns(enum precision precision, cell *panel, const float *v,
                        size_t step, int k, int cols);

/* All of w[k,n], or of the transpose of w[n,k] with `turned`. */
void panels_fill(enum precision precision, cell *panels, const float *w, int k,
                 int n, bool turned);

/* x of a product, as rows `step` cells apart, or, with step 0, as strips. */
struct panel_left {
    const cell *x;
    size_t step;
};

/* m rows of k floats, `step` floats apart, as rows of cells without gaps. */
void cells_from_rows(enum precision precision, cell *cells, const float *x,
                     size_t step, int m, int k);

/* The columns of the rows given, 0 … m - 1, as rows of x: strip after strip
 * of eight, each `depth` groups of eight cells. */
void strips_from_rows(enum precision precision, cell *strips,
                      const float *const *row, int k, int m);

/* y[m,cols] = start + x[m,k] panel, k in `depth` cells; rows of y are y_step
 * floats apart, start is NULL for 0, y itself, or a row for all with
 * start_step 0. `ahead`: whether the panel is followed by another that will be
 * wanted next. */
void panel_product(enum precision precision, int m, int cols, int depth,
                   const struct panel_left *left, const cell *panel, bool ahead,
                   const float *start, size_t start_step, float *y,
                   size_t y_step);

#endif
