#include "tensor/packed.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tensor/gemm.h"
#include "tensor/panel.h"
#include "tensor/product.h"
#include "tensor/vec.h"

struct packed {
    enum precision precision;
    int k, n;
    const float *plain; /* fp32 that is not packed … */
    float *owned;       /* … and turned */
    float *scale;       // [n] of int8
    int32_t *offset;    // [n] of int8
    enum product_layout layout;
    float *panels;            /* LAYOUT_PACKED of fp32; NULL: plain */
    struct laid_out *weights; /* LAYOUT_PACKED of the others */
    uint16_t *rounded;        /* LAYOUT_ROWS */
    const struct packed *of;  /* LAYOUT_COLUMNS: whose transpose this is */
};

static void fill_plain(struct packed *p, const float *w, bool turned)
{
    p->plain = w;
    if (!turned)
        return;
    if (!p->owned)
        p->owned = xaligned(
            array_bytes((size_t)p->k * (size_t)p->n, sizeof(float)));
    vec_transpose(p->owned, w, p->n, p->k);
    p->plain = p->owned;
}

static void plain_product(const struct packed *p, int m, const float *x,
                          const float *bias, bool add, float *y)
{
    for (int i = 0; i < m && bias; i++)
        vec_copy(y + (size_t)i * (size_t)p->n, bias, (size_t)p->n);
    gemm_rows(m, p->n, p->k, x, p->plain, add || bias, y);
}

static void panels_product(const struct packed *p, int m, const float *x,
                           const float *bias, bool add, float *y)
{
    size_t n = (size_t)p->n, k = (size_t)p->k;
    const float *start = bias ? bias : add ? y : NULL;
    struct panel_left left = { x, k };
    for (int j = 0; j < p->n; j += PANEL_COLS) {
        int cols = at_most(p->n - j, PANEL_COLS);
        panel_product(m, cols, p->k, &left, p->panels + (size_t)j * k,
                      j + cols < p->n, start ? start + j : NULL, bias ? 0 : n,
                      y + j, n);
    }
}

static void fp32_product(const struct packed *p, int m, const float *x,
                         const float *bias, bool add, float *y)
{
    if (p->panels)
        panels_product(p, m, x, bias, add, y);
    else
        plain_product(p, m, x, bias, add, y);
}

/* A product of more rows goes in tiles of these, so that few are compiled. */
static const int tiles[] = { 64, 32, 16 };

/* What the number of rows of a gradient's product is rounded up to. */
enum { GRADIENT_STEP = 64 };

struct multiplier {
    struct products *products;
    float *room;
    size_t room_cap;
    uint8_t *x;   /* rounded inputs of a tile */
    int32_t *sum; /* int8: sums of a tile */
    size_t x_cap, sum_cap;

    /* The gradient on its way. */
    int k, n, rows, most;
    bool add;
    uint16_t *left, *right; // [most,k] and [most,n]
    size_t left_cap, right_cap;
    float *gradient;
};

struct multiplier *multiplier_new(void)
{
    struct multiplier *m = xcalloc(1, sizeof(*m));
    m->products = products_new();
    return m;
}

void multiplier_free(struct multiplier *m)
{
    if (!m)
        return;
    products_free(m->products);
    free(m->room);
    free(m->x);
    free(m->sum);
    free(m->left);
    free(m->right);
    free(m);
}

float *multiplier_room(struct multiplier *m, size_t floats)
{
    if (floats > m->room_cap) {
        free(m->room);
        m->room = xaligned(array_bytes(floats, sizeof(*m->room)));
        m->room_cap = floats;
    }
    return m->room;
}

const char *packed_missing(enum precision precision)
{
    return precision == PRECISION_FP32 ? NULL : product_missing(precision);
}

bool packed_lays_out(enum precision precision)
{
    return !product_missing(precision);
}

struct packed *packed_new(enum precision precision, int k, int n)
{
    struct packed *p = xcalloc(1, sizeof(*p));
    *p = (struct packed){ .precision = precision, .k = k, .n = n };
    if (packed_lays_out(precision) && precision == PRECISION_FP32)
        p->panels = xaligned(array_bytes(panel_floats(k, n), sizeof(float)));
    else if (precision != PRECISION_FP32)
        p->weights = laid_out_new(&(struct product_shape){
            .precision = precision, .m = tiles[0], .n = n, .k = k });
    if (precision == PRECISION_INT8) {
        ARRAY_ZERO(p->scale, (size_t)n);
        ARRAY_ZERO(p->offset, (size_t)n);
    }
    return p;
}

struct packed *packed_new_rounded(int k, int n)
{
    struct packed *p = xcalloc(1, sizeof(*p));
    *p = (struct packed){
        .precision = PRECISION_BF16, .k = k, .n = n, .layout = LAYOUT_ROWS
    };
    return p;
}

struct packed *packed_new_transpose(const struct packed *of)
{
    if (of->precision == PRECISION_FP32)
        return packed_new(PRECISION_FP32, of->n, of->k);
    struct packed *p = of->layout == LAYOUT_PACKED
                           ? packed_new(PRECISION_BF16, of->n, of->k)
                           : xcalloc(1, sizeof(*p));
    p->precision = PRECISION_BF16;
    p->k = of->n;
    p->n = of->k;
    p->layout = of->layout == LAYOUT_PACKED ? LAYOUT_PACKED : LAYOUT_COLUMNS;
    p->of = of;
    return p;
}

void packed_free(struct packed *p)
{
    if (!p)
        return;
    laid_out_free(p->weights);
    free(p->panels);
    free(p->rounded);
    free(p->owned);
    free(p->scale);
    free(p->offset);
    free(p);
}

static void fill_int8(struct packed *p, const float *w, bool turned)
{
    size_t size = (size_t)p->k * (size_t)p->n;
    int8_t *q = ARRAY_ALLOC(q, size);
    float *straight = NULL;
    if (turned) {
        straight = xaligned(array_bytes(size, sizeof(float)));
        vec_transpose(straight, w, p->n, p->k);
    }
    int8_from_weights(q, p->scale, turned ? straight : w, p->k, p->n);
    int8_offsets(p->offset, q, p->k, p->n);
    laid_out_fill(p->weights, q, false);
    free(straight);
    free(q);
}

/* Rounds w, and lays it out where the products want that. */
static void fill_bf16(struct packed *p, const float *w, bool turned)
{
    size_t size = (size_t)p->k * (size_t)p->n;
    if (!p->rounded)
        p->rounded = xaligned(array_bytes(size, sizeof(*p->rounded)));
    bf16_from_floats(p->rounded, w, size);
    if (p->layout == LAYOUT_PACKED)
        laid_out_fill(p->weights, p->rounded, turned);
}

void packed_fill(struct packed *p, const float *w, bool turned)
{
    if (p->of && p->layout == LAYOUT_PACKED)
        laid_out_fill(p->weights, p->of->rounded, true);
    else if (p->of)
        return;
    else if (p->precision == PRECISION_BF16)
        fill_bf16(p, w, turned);
    else if (p->precision == PRECISION_INT8)
        fill_int8(p, w, turned);
    else if (p->panels)
        panels_fill(p->panels, w, p->k, p->n, turned);
    else
        fill_plain(p, w, turned);
}

void packed_trim(struct packed *p)
{
    if (p->layout != LAYOUT_PACKED)
        return;
    free(p->rounded);
    p->rounded = NULL;
}

size_t packed_bytes(const struct packed *p)
{
    size_t size = (size_t)p->k * (size_t)p->n, bytes = 0;
    if (p->rounded)
        bytes += sizeof(*p->rounded) * size;
    if (p->owned)
        bytes += sizeof(*p->owned) * size;
    if (p->panels)
        bytes += sizeof(*p->panels) * panel_floats(p->k, p->n);
    if (p->weights)
        bytes += laid_out_bytes(p->weights);
    return bytes;
}

enum precision packed_precision(const struct packed *p)
{
    return p->precision;
}

typedef void tile_fn(const struct packed *p, struct multiplier *mu,
                     const struct product_shape *s, const float *x,
                     const float *bias, float *y);

/* x w in the library, for x as it wants it. */
static void run(const struct packed *p, struct multiplier *mu,
                const struct product_shape *s, const void *x, const float *bias,
                void *y)
{
    struct product_operands operands = {
        .x = x,
        .packed = p->weights,
        .plain = p->of ? p->of->rounded : p->rounded,
        .bias = bias,
        .y = y,
    };
    product_run(mu->products, s, &operands);
}

static void tile_bf16(const struct packed *p, struct multiplier *mu,
                      const struct product_shape *s, const float *x,
                      const float *bias, float *y)
{
    size_t size = (size_t)s->m * (size_t)s->k;
    ARRAY_GROW(mu->x, size * sizeof(uint16_t), mu->x_cap);
    uint16_t *rounded = (void *)mu->x;
    bf16_from_floats(rounded, x, size);
    run(p, mu, s, rounded, bias, y);
}

static void tile_int8(const struct packed *p, struct multiplier *mu,
                      const struct product_shape *s, const float *x,
                      const float *bias, float *y)
{
    struct product_shape sums = *s;
    float scale[64];
    size_t k = (size_t)s->k, n = (size_t)s->n;
    ARRAY_GROW(mu->x, (size_t)s->m * k, mu->x_cap);
    ARRAY_GROW(mu->sum, (size_t)s->m * n, mu->sum_cap);
    sums.add = sums.bias = false;
    for (int i = 0; i < s->m; i++)
        scale[i] = int8_from_row(mu->x + (size_t)i * k, x + (size_t)i * k,
                                 s->k);
    run(p, mu, &sums, mu->x, NULL, mu->sum);
    for (int i = 0; i < s->m; i++)
        int8_to_row(y + (size_t)i * n, s->add ? y + (size_t)i * n : bias,
                    scale[i], p->scale, mu->sum + (size_t)i * n, p->offset,
                    s->n);
}

static tile_fn *const tile_fns[PRECISIONS] = {
    [PRECISION_BF16] = tile_bf16,
    [PRECISION_INT8] = tile_int8,
};

/* Where the library orders the weights at each product, few rows are dear: as
 * many as possible, but a rest of at least one tile, whatever is left over. */
static int many_rows(int m)
{
    int tile = tiles[0];
    if (m < 2 * tile)
        return m;
    int rows = m % tile == 0 ? m : m / tile * tile - tile;
    return rows < GRADIENT_ROWS ? rows : GRADIENT_ROWS;
}

static int tile_rows(const struct packed *p, int m)
{
    if (p->layout != LAYOUT_PACKED)
        return many_rows(m);
    for (size_t i = 0; i < sizeof(tiles) / sizeof(tiles[0]); i++)
        if (m >= tiles[i])
            return tiles[i];
    return m;
}

void packed_product(const struct packed *p, struct multiplier *multiplier,
                    int m, const float *x, const float *bias, bool add,
                    float *y)
{
    assert(!bias || !add);
    if (p->precision == PRECISION_FP32) {
        fp32_product(p, m, x, bias, add, y);
        return;
    }
    while (m > 0) {
        struct product_shape s = { .precision = p->precision,
                                   .m = tile_rows(p, m),
                                   .n = p->n,
                                   .k = p->k,
                                   .add = add,
                                   .bias = bias != NULL,
                                   .weights = p->layout };
        tile_fns[p->precision](p, multiplier, &s, x, bias, y);
        m -= s.m;
        x += (size_t)s.m * (size_t)p->k;
        y += (size_t)s.m * (size_t)p->n;
    }
}

/* (+)= left^T right over the rows there are, filled up with zeros */
static void gradient_flush(struct multiplier *m)
{
    int rows = m->rows;
    int filled = (rows + GRADIENT_STEP - 1) / GRADIENT_STEP * GRADIENT_STEP;
    if (rows == 0)
        return;
    size_t k = (size_t)m->k, n = (size_t)m->n, more = (size_t)(filled - rows);
    memset(m->left + (size_t)rows * k, 0, more * k * sizeof(*m->left));
    memset(m->right + (size_t)rows * n, 0, more * n * sizeof(*m->right));
    struct product_shape s = { .precision = PRECISION_BF16,
                               .m = m->k,
                               .n = m->n,
                               .k = filled,
                               .add = m->add,
                               .turned = true,
                               .weights = LAYOUT_ROWS };
    struct product_operands operands = { .x = m->left,
                                         .plain = m->right,
                                         .y = m->gradient };
    product_run(m->products, &s, &operands);
    m->add = true;
    m->rows = 0;
}

void gradient_begin(struct multiplier *m, int k, int n, int rows, bool add,
                    float *dw)
{
    int filled = (rows + GRADIENT_STEP - 1) / GRADIENT_STEP * GRADIENT_STEP;
    m->k = k;
    m->n = n;
    m->rows = 0;
    m->most = filled < GRADIENT_ROWS ? filled : GRADIENT_ROWS;
    m->add = add;
    m->gradient = dw;
    ARRAY_GROW(m->left, (size_t)m->most * (size_t)k, m->left_cap);
    ARRAY_GROW(m->right, (size_t)m->most * (size_t)n, m->right_cap);
}

void gradient_rows(struct multiplier *m, const float *x, const float *dy,
                   int rows)
{
    size_t k = (size_t)m->k, n = (size_t)m->n;
    while (rows > 0) {
        if (m->rows == m->most)
            gradient_flush(m);
        int room = m->most - m->rows, part = rows < room ? rows : room;
        bf16_from_floats(m->left + (size_t)m->rows * k, x, (size_t)part * k);
        bf16_from_floats(m->right + (size_t)m->rows * n, dy, (size_t)part * n);
        x += (size_t)part * k;
        dy += (size_t)part * n;
        m->rows += part;
        rows -= part;
    }
}

void gradient_input(struct multiplier *m, const struct packed *w, bool left,
                    float *dx)
{
    const uint16_t *dy = left ? m->left : m->right;
    struct product_shape s = { .precision = PRECISION_BF16,
                               .n = w->n,
                               .k = w->k,
                               .add = true,
                               .weights = w->layout };
    for (int rows = m->rows; rows > 0; rows -= s.m) {
        s.m = tile_rows(w, rows);
        run(w, m, &s, dy, NULL, dx);
        dy += (size_t)s.m * (size_t)w->k;
        dx += (size_t)s.m * (size_t)w->n;
    }
}

void gradient_end(struct multiplier *m)
{
    gradient_flush(m);
}
