/* Products of bytes as the matrix library compiles them, for packed.c, and what
 * the processor can do. Without the library there are none:
 * product_missing() then says so of every precision. */
#ifndef ATTN_TENSOR_PRODUCT_H
#define ATTN_TENSOR_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "tensor/precision.h"

struct products;
struct laid_out;

/* Why there are no fast products with packed weights in a precision; NULL:
 * there are. */
const char *product_missing(enum precision precision);

/* y[m,n] = x[m,k] w[k,n], x without sign. */
struct product_shape {
    int m, n, k;
};

struct products *products_new(void);
void products_free(struct products *p);

/* Weights in the library's order: room for those of such a product. */
struct laid_out *laid_out_new(const struct product_shape *s);
void laid_out_free(struct laid_out *l);

void laid_out_fill(struct laid_out *l, const int8_t *w); // w[k,n]

size_t laid_out_bytes(const struct laid_out *l);

/* Compiles the product when it is new, and runs it. */
void product_run(struct products *p, const struct product_shape *s,
                 const uint8_t *x, const struct laid_out *w, int32_t *y);

#endif
