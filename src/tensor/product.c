#include "tensor/product.h"

#ifdef ATTN_ONEDNN

#include <dnnl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { BUCKETS = 256 };

/* A compiled product and the memory objects that its operands are put into. */
struct compiled {
    struct product_shape shape;
    dnnl_primitive_t primitive;
    dnnl_memory_t x, y;
    struct compiled *next;
};

struct laid_out {
    struct product_shape shape;
    void *data;
    dnnl_memory_t memory;
};

struct products {
    dnnl_stream_t stream;
    struct compiled *bucket[BUCKETS];
};

/* Without VNNI the library adds pairs of int8 products in 16 bits, which
 * overflow. Products of float32 and bf16 are not the library's, but want the
 * same AVX-512 (tensor/panel.h). */
const char *product_missing(enum precision precision)
{
    static const struct {
        unsigned isa;
        const char *lack;
    } needs[PRECISIONS] = {
        [PRECISION_FP32] = { dnnl_cpu_isa_avx512_core,
                             "this processor has no AVX-512" },
        [PRECISION_BF16] = { dnnl_cpu_isa_avx512_core_bf16,
                             "this processor has no AVX512_BF16" },
        [PRECISION_INT8] = { dnnl_cpu_isa_avx512_core_vnni,
                             "this processor has no AVX512_VNNI" },
    };
    unsigned has = (unsigned)dnnl_get_effective_cpu_isa();
    unsigned isa = needs[precision].isa;
    return (has & isa) == isa ? NULL : needs[precision].lack;
}

/* Shapes come from checked configurations, and the processor was asked before
 * (product_missing): what fails here is a programmer's error or memory. */
static void check(dnnl_status_t status)
{
    if (status != dnnl_success)
        abort();
}

static dnnl_engine_t engine;

static void make_engine(void)
{
    check(dnnl_engine_create(&engine, dnnl_cpu, 0));
}

static dnnl_engine_t the_engine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_engine);
    return engine;
}

static void matrix(dnnl_memory_desc_t *desc, int rows, int cols,
                   dnnl_data_type_t type, dnnl_format_tag_t tag)
{
    dnnl_dims_t dims = { rows, cols };
    check(dnnl_memory_desc_init_by_tag(desc, 2, dims, type, tag));
}

static dnnl_primitive_desc_t describe(const struct product_shape *s)
{
    dnnl_memory_desc_t x, w, y;
    dnnl_matmul_desc_t desc;
    dnnl_primitive_desc_t made;
    matrix(&x, s->m, s->k, dnnl_u8, dnnl_ab);
    matrix(&w, s->k, s->n, dnnl_s8, dnnl_format_tag_any);
    matrix(&y, s->m, s->n, dnnl_s32, dnnl_ab);
    check(dnnl_matmul_desc_init(&desc, &x, &w, NULL, &y));
    check(dnnl_primitive_desc_create(&made, &desc, NULL, the_engine(), NULL));
    return made;
}

static dnnl_memory_t operand(dnnl_primitive_desc_t made, dnnl_query_t what,
                             void *data)
{
    dnnl_memory_t memory;
    check(dnnl_memory_create(&memory,
                             dnnl_primitive_desc_query_md(made, what, 0),
                             the_engine(), data));
    return memory;
}

struct laid_out *laid_out_new(const struct product_shape *s)
{
    struct laid_out *l = xcalloc(1, sizeof(*l));
    dnnl_primitive_desc_t made = describe(s);
    l->shape = *s;
    l->data = xaligned(dnnl_memory_desc_get_size(
        dnnl_primitive_desc_query_md(made, dnnl_query_weights_md, 0)));
    l->memory = operand(made, dnnl_query_weights_md, l->data);
    dnnl_primitive_desc_destroy(made);
    return l;
}

void laid_out_free(struct laid_out *l)
{
    if (!l)
        return;
    dnnl_memory_destroy(l->memory);
    free(l->data);
    free(l);
}

static const dnnl_memory_desc_t *layout(const struct laid_out *l)
{
    const dnnl_memory_desc_t *desc;
    check(dnnl_memory_get_memory_desc(l->memory, &desc));
    return desc;
}

size_t laid_out_bytes(const struct laid_out *l)
{
    return dnnl_memory_desc_get_size(layout(l));
}

void laid_out_fill(struct laid_out *l, const int8_t *w)
{
    dnnl_memory_desc_t desc;
    dnnl_memory_t from;
    dnnl_primitive_desc_t made;
    dnnl_primitive_t reorder;
    dnnl_stream_t stream;
    matrix(&desc, l->shape.k, l->shape.n, dnnl_s8, dnnl_ab);
    check(dnnl_memory_create(&from, &desc, the_engine(), (void *)(uintptr_t)w));
    check(dnnl_reorder_primitive_desc_create(&made, &desc, the_engine(),
                                             layout(l), the_engine(), NULL));
    check(dnnl_primitive_create(&reorder, made));
    check(dnnl_stream_create(&stream, the_engine(), dnnl_stream_default_flags));
    dnnl_exec_arg_t arguments[] = { { DNNL_ARG_FROM, from },
                                    { DNNL_ARG_TO, l->memory } };
    check(dnnl_primitive_execute(reorder, stream, 2, arguments));
    dnnl_stream_destroy(stream);
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(made);
    dnnl_memory_destroy(from);
}

static struct compiled *compile(const struct product_shape *s)
{
    struct compiled *c = xcalloc(1, sizeof(*c));
    dnnl_primitive_desc_t made = describe(s);
    c->shape = *s;
    check(dnnl_primitive_create(&c->primitive, made));
    c->x = operand(made, dnnl_query_src_md, DNNL_MEMORY_NONE);
    c->y = operand(made, dnnl_query_dst_md, DNNL_MEMORY_NONE);
    dnnl_primitive_desc_destroy(made);
    return c;
}

static bool same(const struct product_shape *a, const struct product_shape *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k;
}

static struct compiled *find(struct products *p, const struct product_shape *s)
{
    unsigned hash = ((unsigned)s->m * 31u + (unsigned)s->n) * 31u +
                    (unsigned)s->k;
    struct compiled **at = &p->bucket[hash % BUCKETS];
    for (; *at; at = &(*at)->next)
        if (same(&(*at)->shape, s))
            return *at;
    return *at = compile(s);
}

static void put(dnnl_memory_t memory, const void *data)
{
    check(dnnl_memory_set_data_handle(memory, (void *)(uintptr_t)data));
}

void product_run(struct products *p, const struct product_shape *s,
                 const uint8_t *x, const struct laid_out *w, int32_t *y)
{
    struct compiled *c = find(p, s);
    dnnl_exec_arg_t arguments[] = { { DNNL_ARG_SRC, c->x },
                                    { DNNL_ARG_WEIGHTS, w->memory },
                                    { DNNL_ARG_DST, c->y } };
    put(c->x, x);
    put(c->y, y);
    check(dnnl_primitive_execute(c->primitive, p->stream, 3, arguments));
}

struct products *products_new(void)
{
    struct products *p = xcalloc(1, sizeof(*p));
    check(dnnl_stream_create(&p->stream, the_engine(),
                             dnnl_stream_default_flags));
    return p;
}

void products_free(struct products *p)
{
    for (int b = 0; b < BUCKETS; b++)
        for (struct compiled *c = p->bucket[b], *next; c; c = next) {
            next = c->next;
            dnnl_primitive_destroy(c->primitive);
            dnnl_memory_destroy(c->x);
            dnnl_memory_destroy(c->y);
            free(c);
        }
    dnnl_stream_destroy(p->stream);
    free(p);
}

#else

#include <stdlib.h>

const char *product_missing(enum precision precision)
{
    (void)precision;
    return "this attn was built without oneDNN";
}

/* None of these is called then. */

struct products *products_new(void)
{
    return NULL;
}

void products_free(struct products *p)
{
    (void)p;
}

struct laid_out *laid_out_new(const struct product_shape *s)
{
    (void)s;
    abort();
}

void laid_out_free(struct laid_out *l)
{
    (void)l;
}

void laid_out_fill(struct laid_out *l, const int8_t *w)
{
    (void)l, (void)w;
    abort();
}

size_t laid_out_bytes(const struct laid_out *l)
{
    (void)l;
    abort();
}

void product_run(struct products *p, const struct product_shape *s,
                 const uint8_t *x, const struct laid_out *w, int32_t *y)
{
    (void)p, (void)s, (void)x, (void)w, (void)y;
    abort();
}

#endif
