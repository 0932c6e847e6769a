/* Weights made ready for many products, in a precision (tensor/precision.h).
 *
 *     struct packed *p = packed_new(PRECISION_INT8, k, n);
 *     packed_fill(p, w, false);                          whenever w changes
 *     packed_product(p, multiplier, m, x, NULL, y);      x[m,k] w[k,n] -> y[m,n]
 *     packed_free(p);
 *
 * The weights are rounded and laid out as the products like them best, those
 * of fp32 and bf16 in panels (tensor/panel.h), those of int8 as the matrix
 * library wants them, once, not at each product. The bits of a row of y depend
 * on that row of x and on w alone, not on m nor on its place
 * (tests/unit/test_packed.c holds it on the machine at hand).
 *
 * Any number of threads may multiply with one packed matrix, each with a
 * multiplier of its own. All matrices are row-major float32 on the outside. */
#ifndef ATTN_TENSOR_PACKED_H
#define ATTN_TENSOR_PACKED_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/multiplier.h"
#include "tensor/precision.h"

struct packed;

/* Why this machine or build cannot multiply so, for a message; NULL: it can. */
const char *packed_missing(enum precision precision);

/* Whether weights are laid out; fp32 multiplies without that, too. */
bool packed_lays_out(enum precision precision);

/* packed_missing() has said that the machine can. fp32 that is not
 * laid out keeps a pointer to the weights given to packed_fill(). */
struct packed *packed_new(enum precision precision, int k, int n);
void packed_free(struct packed *p);

/* Takes w[k,n], or the transpose of w[n,k] with `turned`. */
void packed_fill(struct packed *p, const float *w, bool turned);

size_t packed_bytes(const struct packed *p);

/* y[m,n] = start + x[m,k] w; start is NULL for 0, y itself, or a row [n]. */
void packed_product(const struct packed *p, struct multiplier *multiplier,
                    int m, const float *x, const float *start, float *y);

#endif
