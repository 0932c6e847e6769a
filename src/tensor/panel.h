/* Products of float32 for processors with AVX-512, from weights in panels.
 *
 * A panel holds 48 neighbouring columns of w[k,n], row below row, so that a
 * product reads it from front to back; the last one has what is left, filled
 * up with zeros to a multiple of 16. Whole weights are panel after panel.
 *
 * Every entry is one chain of fused multiply-adds in the order of k,
 *     y_ij = fma(x_i(k-1), w_(k-1)j, … fma(x_i0, w_0j, start_ij)),
 * whatever the number of rows, so a row's bits depend on that row of x and on
 * w alone, and a sum over k may be had piece by piece. The form of the kernel
 * is that of Goto and van de Geijn (2008), "Anatomy of high-performance matrix
 * multiplication": a tile of y stays in registers for a whole panel. */
#ifndef ATTN_TENSOR_PANEL_H
#define ATTN_TENSOR_PANEL_H

#include <stdbool.h>
#include <stddef.h>

/* Columns of a panel, columns that are best laid out at a time, and rows of x
 * that are multiplied at a time. */
enum { PANEL_COLS = 48, PANEL_GROUP = 4 * PANEL_COLS, PANEL_ROWS = 8 };

static inline int at_most(int n, int most)
{
    return n < most ? n : most;
}

/* Floats of w[k,n] in panels. */
size_t panel_floats(int k, int n);

/* What follows is to be called only where the processor has AVX-512. */

/* Columns first … first + cols - 1 of the rows given, panel after panel. */
void panels_from_rows(float *panels, const float *const *row, int k, int first,
                      int cols);

/* One panel of the transpose of some rows, at most 48, `step` floats apart. */
void panel_from_columns(float *panel, const float *v, size_t step, int k,
                        int cols);

/* All of w[k,n], or of the transpose of w[n,k] with `turned`. */
void panels_fill(float *panels, const float *w, int k, int n, bool turned);

/* x of a product, as rows `step` floats apart, or, with step 0, as strips. */
struct panel_left {
    const float *x;
    size_t step;
};

/* The columns of the rows given, 0 … m - 1, as rows of x: strip after strip
 * of eight, each k groups of eight floats. */
void strips_from_rows(float *strips, const float *const *row, int k, int m);

/* y[m,cols] = start + x[m,k] panel; rows of y are y_step floats apart, start is
 * NULL for 0, y itself, or a row for all with start_step 0. `ahead`: whether
 * the panel is followed by another that will be wanted next. */
void panel_product(int m, int cols, int k, const struct panel_left *left,
                   const float *panel, bool ahead, const float *start,
                   size_t start_step, float *y, size_t y_step);

#endif
