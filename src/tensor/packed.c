#include "tensor/packed.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "tensor/matmul.h"
#include "tensor/panel.h"
#include "tensor/product.h"
#include "tensor/vec.h"

struct packed {
    enum precision precision;
    int k, n;
    cell *panels;             /* fp32 and bf16 */
    const float *plain;       /* fp32 without panels … */
    float *owned;             /* … and turned */
    struct laid_out *weights; /* int8, */
    float *scale;             // [n]
    int32_t *offset;          // [n]
};

/* int8: a product of more rows goes in tiles of these, so that few are
 * compiled. */
static const int tiles[] = { 64, 32, 16 };

const char *packed_missing(enum precision precision)
{
    return precision == PRECISION_FP32 ? NULL : product_missing(precision);
}

bool packed_lays_out(enum precision precision)
{
    return !product_missing(precision);
}

static void new_int8(struct packed *p)
{
    p->weights = laid_out_new(
        &(struct product_shape){ .m = tiles[0], .n = p->n, .k = p->k });
    ARRAY_ZERO(p->scale, (size_t)p->n);
    ARRAY_ZERO(p->offset, (size_t)p->n);
}

struct packed *packed_new(enum precision precision, int k, int n)
{
    struct packed *p = xcalloc(1, sizeof(*p));
    *p = (struct packed){ .precision = precision, .k = k, .n = n };
    if (precision == PRECISION_INT8)
        new_int8(p);
    else if (packed_lays_out(precision))
        p->panels = xaligned(
            array_bytes(panel_cells(precision, k, n), sizeof(*p->panels)));
    return p;
}

void packed_free(struct packed *p)
{
    if (!p)
        return;
    laid_out_free(p->weights);
    free(p->panels);
    free(p->owned);
    free(p->scale);
    free(p->offset);
    free(p);
}

static float *new_transpose(const struct packed *p)
{
    return xaligned(array_bytes((size_t)p->k * (size_t)p->n, sizeof(float)));
}

static void fill_plain(struct packed *p, const float *w, bool turned)
{
    p->plain = w;
    if (!turned)
        return;
    if (!p->owned)
        p->owned = new_transpose(p);
    vec_transpose(p->owned, w, p->n, p->k);
    p->plain = p->owned;
}

static void fill_int8(struct packed *p, const float *w, bool turned)
{
    int8_t *q = ARRAY_ALLOC(q, (size_t)p->k * (size_t)p->n);
    float *straight = NULL;
    if (turned) {
        straight = new_transpose(p);
        vec_transpose(straight, w, p->n, p->k);
    }
    int8_from_weights(q, p->scale, turned ? straight : w, p->k, p->n);
    int8_offsets(p->offset, q, p->k, p->n);
    laid_out_fill(p->weights, q);
    free(straight);
    free(q);
}

void packed_fill(struct packed *p, const float *w, bool turned)
{
    if (p->panels)
        panels_fill(p->precision, p->panels, w, p->k, p->n, turned);
    else if (p->weights)
        fill_int8(p, w, turned);
    else
        fill_plain(p, w, turned);
}

size_t packed_bytes(const struct packed *p)
{
    size_t bytes = 0;
    if (p->owned)
        bytes += sizeof(*p->owned) * (size_t)p->k * (size_t)p->n;
    if (p->panels)
        bytes += sizeof(*p->panels) * panel_cells(p->precision, p->k, p->n);
    if (p->weights)
        bytes += laid_out_bytes(p->weights);
    return bytes;
}

static void panels_product(const struct packed *p, struct multiplier *mu, int m,
                           const float *x, const float *start, float *y)
{
    size_t n = (size_t)p->n, k = (size_t)p->k;
    int depth = cell_depth(p->precision, p->k);
    struct panel_left left = { (const cell *)x, (size_t)depth };
    if (p->precision == PRECISION_BF16) {
        cell *cells = multiplier_room(mu, array_bytes((size_t)m * left.step,
                                                      sizeof(*cells)));
        cells_from_rows(p->precision, cells, x, k, m, p->k);
        left.x = cells;
    }
    for (int j = 0; j < p->n; j += PANEL_COLS) {
        int cols = at_most(p->n - j, PANEL_COLS);
        panel_product(p->precision, m, cols, depth, &left,
                      p->panels + (size_t)j * left.step, j + cols < p->n,
                      start ? start + j : NULL, start == y ? n : 0, y + j, n);
    }
}

/* y = start + t s_j (p q - offset), for so many rows as a product has. */
static void int8_tile(const struct packed *p, struct multiplier *mu, int m,
                      const float *x, const float *start, float *y)
{
    float scale[64];
    size_t k = (size_t)p->k, n = (size_t)p->n, rows = (size_t)m;
    struct product_shape s = { .m = m, .n = p->n, .k = p->k };
    int32_t *sum = multiplier_room(mu, rows * (n * sizeof(*sum) + k));
    uint8_t *bytes = (uint8_t *)(sum + rows * n);
    for (size_t i = 0; i < rows; i++)
        scale[i] = int8_from_row(bytes + i * k, x + i * k, p->k);
    product_run(multiplier_products(mu), &s, bytes, p->weights, sum);
    for (size_t i = 0; i < rows; i++)
        int8_to_row(y + i * n, start == y ? y + i * n : start, scale[i],
                    p->scale, sum + i * n, p->offset, p->n);
}

static int tile_rows(int m)
{
    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
        if (m >= tiles[i])
            return tiles[i];
    return m;
}

static void int8_product(const struct packed *p, struct multiplier *mu, int m,
                         const float *x, const float *start, float *y)
{
    bool add = start == y;
    for (int rows; m > 0; m -= rows) {
        rows = tile_rows(m);
        int8_tile(p, mu, rows, x, add ? y : start, y);
        x += (size_t)rows * (size_t)p->k;
        y += (size_t)rows * (size_t)p->n;
    }
}

void packed_product(const struct packed *p, struct multiplier *multiplier,
                    int m, const float *x, const float *start, float *y)
{
    if (p->panels)
        panels_product(p, multiplier, m, x, start, y);
    else if (p->weights)
        int8_product(p, multiplier, m, x, start, y);
    else
        matmul_alone(multiplier, PRECISION_FP32, m, p->n, p->k, x, p->plain,
                     start, y);
}
