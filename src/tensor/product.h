/* Products as the matrix library compiles them: for packed.c alone. */
#ifndef ATTN_TENSOR_PRODUCT_H
#define ATTN_TENSOR_PRODUCT_H

#ifdef ATTN_ONEDNN

#include <dnnl.h>
#include <stdbool.h>

#include "tensor/precision.h"

struct products;

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
    dnnl_memory_t packed; /* weights: this, */
    const void *plain;    /* or this, as the layout says */
    const float *bias;
    void *y;
};

struct products *products_new(void);
void products_free(struct products *p);

/* The processor, made once. */
dnnl_engine_t product_engine(void);

/* Room for the weights of such a product, laid out as it wants them. */
dnnl_memory_t product_weights(const struct product_shape *s);

/* Fills it from w[k,n], or from w[n,k] with `turned`. */
void product_fill(dnnl_memory_t to, dnnl_data_type_t type, const void *w, int k,
                  int n, bool turned);

/* Compiles the product when it is new, and runs it. */
void product_run(struct products *p, const struct product_shape *s,
                 const struct product_operands *operands);

#endif
#endif
