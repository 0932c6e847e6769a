/* Products as the matrix library compiles them, for packed.c. Without the library
 * there are none: product_missing() then says so of every precision. */
#ifndef ATTN_TENSOR_PRODUCT_H
#define ATTN_TENSOR_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/precision.h"

struct products;
struct laid_out;

/* Why there are no fast products with packed weights in a precision; NULL:
 * there are. */
const char *product_missing(enum precision precision);

enum product_layout {
    LAYOUT_PACKED, /* as the library likes it */
    LAYOUT_ROWS,   // [k,n]
    LAYOUT_COLUMNS // [n,k]
};

/* y[m,n] = x[m,k] w[k,n], added to y with `add`, else with `bias` to the bias
 * b[n] in float32. x is float32, bf16 or bytes without sign, y
 * float32 or int32. `turned`: x is stored as [k,m]. */
struct product_shape {
    enum precision precision;
    int m, n, k;
    bool add, bias, turned;
    enum product_layout weights;
};

struct product_operands {
    const void *x;
    const struct laid_out *packed; /* weights: this, */
    const void *plain;             /* or this, as the layout says */
    const float *bias;
    void *y;
};

struct products *products_new(void);
void products_free(struct products *p);

/* Weights in the library's order: room for those of such a product. */
struct laid_out *laid_out_new(const struct product_shape *s);
void laid_out_free(struct laid_out *l);

/* Fills it from w[k,n], or from w[n,k] with `turned`, in the product's type of
 * weights: float32, bf16 or int8. */
void laid_out_fill(struct laid_out *l, const void *w, bool turned);

size_t laid_out_bytes(const struct laid_out *l);

/* Compiles the product when it is new, and runs it. */
void product_run(struct products *p, const struct product_shape *s,
                 const struct product_operands *operands);

#endif
