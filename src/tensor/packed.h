/* Weights made ready for many products, in a precision (tensor/precision.h).
 *
 *     struct packed *p = packed_new(PRECISION_INT8, k, n);
 *     packed_fill(p, w, false);                          whenever w changes
 *     packed_product(p, multiplier, m, x, NULL, false, y);      x[m,k] w[k,n] -> y[m,n]
 *     packed_free(p);
 *
 * The weights are rounded and laid out as the products like them best, those
 * of fp32 in panels (tensor/panel.h), the others as the matrix library wants
 * them, once, not at each product. The bits of a row of y depend on that
 * row of x and on w alone, not on m nor on its place (tests/unit/test_packed.c
 * holds it on the machine at hand).
 *
 * Any number of threads may multiply with one packed matrix, each with a
 * multiplier of its own. All matrices are row-major float32 on the outside. */
#ifndef ATTN_TENSOR_PACKED_H
#define ATTN_TENSOR_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/precision.h"

struct packed;
struct multiplier;

/* What a thread needs to multiply: products the library has compiled for the
 * shapes met so far, and room for rounded inputs. */
struct multiplier *multiplier_new(void);
void multiplier_free(struct multiplier *m);

/* Room for so many floats, until the next product with this multiplier. */
float *multiplier_room(struct multiplier *m, size_t floats);

/* Why this machine or build cannot multiply so, for a message; NULL: it can. */
const char *packed_missing(enum precision precision);

/* Whether weights are laid out; fp32 multiplies without that, too. */
bool packed_lays_out(enum precision precision);

/* packed_missing() has said that the machine can. fp32 that is not
 * laid out keeps a pointer to the weights given to packed_fill(). */
struct packed *packed_new(enum precision precision, int k, int n);

/* Weights in bf16 that are only rounded: for products of so many rows that the
 * library may order the weights each time, which saves the two layouts that
 * training would need. */
struct packed *packed_new_rounded(int k, int n);

/* The transpose of other weights, of either sort, in their precision. To be
 * filled from the same w, `turned`, after them, and freed before: in bf16 it
 * reads what they have rounded. */
struct packed *packed_new_transpose(const struct packed *of);
void packed_free(struct packed *p);

/* Takes w[k,n], or the transpose of w[n,k] with `turned`. */
void packed_fill(struct packed *p, const float *w, bool turned);

/* Gives back what only a transpose would need. */
void packed_trim(struct packed *p);

size_t packed_bytes(const struct packed *p);
enum precision packed_precision(const struct packed *p);

/* y[m,n] = x[m,k] w, + bias[n] where that is not NULL, or + y with `add`. */
void packed_product(const struct packed *p, struct multiplier *multiplier,
                    int m, const float *x, const float *bias, bool add,
                    float *y);

/* The gradient of a weight, dw[k,n] (+)= sum over all rows given of x^T dy, in
 * bf16 with float32 sums:
 *
 *     gradient_begin(multiplier, k, n, rows, add, dw);   rows in all
 *     gradient_rows(multiplier, x, dy, rows);            some of them, …
 *     gradient_end(multiplier);
 *
 * Before the end, and of no more than GRADIENT_ROWS rows, gradient_input() also
 * gives dx[rows,k] += dy w^T, w^T being packed, without rounding dy once more;
 * with `left` the roles of x and dy are exchanged. */
enum { GRADIENT_ROWS = 1024 };

void gradient_begin(struct multiplier *m, int k, int n, int rows, bool add,
                    float *dw);
void gradient_rows(struct multiplier *m, const float *x, const float *dy,
                   int rows);
void gradient_input(struct multiplier *m, const struct packed *w, bool left,
                    float *dx);
void gradient_end(struct multiplier *m);

#endif
