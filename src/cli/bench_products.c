/* Section products: the limit. */
#include "cli/bench.h"

#include <stdio.h>

#include "cli/bench_report.h"
#include "cli/probe_limit.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

struct product {
    int m, n, k;
};

/* A large one (1024 would set rows on the same lines of a cache), then those of
 * a recurrence with H = 512, whose rows are the sentences alive. */
static const struct product products[] = {
    { 960, 1536, 960 }, { 64, 1536, 512 }, { 32, 1536, 512 },
    { 8, 1536, 512 },   { 5, 1536, 512 },  { 1, 1536, 512 },
};

/* Work is compared with the fastest of the first two: which one that is
 * depends on the machine, and on what it does with its caches at the moment. */
enum { LIMITS = 2 };

/* The vectors that measure bandwidth: far more than caches hold, and what the
 * weights of a recurrence take. */
static const struct memory {
    const char *name, *quantity;
    size_t bytes;
} memories[] = {
    { "memory, GB/s", "memory_gb_per_second", (size_t)192 << 20 },
    { "3 MiB, GB/s", "cache_gb_per_second", (size_t)3 << 20 },
};

/* Columns of the table, each a precision and a number of threads. */
struct columns {
    struct bench_column column[1 + BENCH_LIST * PRECISIONS];
    char title[BENCH_LIST * PRECISIONS][32];
    enum precision precision[BENCH_LIST * PRECISIONS];
    int threads[BENCH_LIST * PRECISIONS];
    int count;
};

static void columns_init(struct columns *c, const struct bench_settings *s)
{
    c->column[0] = (struct bench_column){ "m x n x k", 17 };
    c->count = 0;
    for (int p = 0; p < s->precisions.count; p++)
        for (int t = 0; t < s->threads.count; t++) {
            int i = c->count++, n = s->threads.item[t];
            c->precision[i] = (enum precision)s->precisions.item[p];
            c->threads[i] = n;
            snprintf(c->title[i], sizeof(c->title[i]), "%s, %d thread%s",
                     precision_names[c->precision[i]], n, n > 1 ? "s" : "");
            c->column[i + 1] = (struct bench_column){ c->title[i], 16 };
        }
}

static struct limit_question question(const struct bench *b, int threads,
                                      enum precision precision,
                                      const struct product *p)
{
    return (struct limit_question){ .threads = threads,
                                    .m = p->m,
                                    .n = p->n,
                                    .k = p->k,
                                    .precision = precision,
                                    .seconds = b->set.seconds };
}

int bench_limit(struct bench *b, int threads, enum precision precision,
                double *gflops)
{
    *gflops = 0;
    for (int i = 0; i < LIMITS; i++) {
        double one;
        struct limit_question q = question(b, threads, precision, &products[i]);
        if (limit_ask(b->limit, &q, &one) < 0)
            return -1;
        *gflops = one > *gflops ? one : *gflops;
    }
    return 0;
}

/* Floating-point operations for each byte of operands and result, in fp32. */
static double intensity(const struct product *p)
{
    double m = p->m, n = p->n, k = p->k;
    return 2 * m * n * k / (sizeof(float) * (m * k + k * n + m * n));
}

static void report(struct bench *b, const struct product *p,
                   const struct columns *c, const struct series *series)
{
    char name[32];
    snprintf(name, sizeof(name), "%d x %d x %d", p->m, p->n, p->k);
    bench_table_cell(b->report, &c->column[0], "%s", name);
    for (int i = 0; i < c->count; i++) {
        struct bench_row row = { .what = "products",
                                 .variant = name,
                                 .precision = precision_names[c->precision[i]],
                                 .threads = c->threads[i] };
        bench_table_series(b->report, &c->column[i + 1], 0, &series[i]);
        bench_report_series(b->report, &row, "gflops", &series[i]);
        if (c->precision[i] == PRECISION_FP32)
            bench_report_value(b->report, &row, "flops_per_byte", intensity(p));
    }
    bench_table_end(b->report);
}

static int measure(struct bench *b, const struct product *p,
                   const struct columns *c)
{
    struct series series[BENCH_LIST * PRECISIONS] = { 0 };
    for (int round = 0; round < b->set.rounds; round++)
        for (int i = 0; i < c->count; i++) {
            double gflops;
            struct limit_question q = question(b, c->threads[i],
                                               c->precision[i], p);
            if (limit_ask(b->limit, &q, &gflops) < 0)
                return -1;
            series_add(&series[i], gflops);
        }
    report(b, p, c, series);
    return 0;
}

/* Bandwidth, under the products of the first precision. */
static int measure_memory(struct bench *b, const struct memory *m,
                          const struct columns *c)
{
    bench_table_cell(b->report, &c->column[0], "%s", m->name);
    for (int t = 0; t < b->set.threads.count; t++) {
        struct series series = { 0 };
        struct limit_question q = { .threads = b->set.threads.item[t],
                                    .bytes = m->bytes,
                                    .seconds = b->set.seconds };
        struct bench_row row = { .what = "memory", .threads = q.threads };
        for (int round = 0; round < b->set.rounds; round++) {
            double rate;
            if (limit_ask(b->limit, &q, &rate) < 0)
                return -1;
            series_add(&series, rate);
        }
        bench_table_series(b->report, &c->column[t + 1], 0, &series);
        bench_report_series(b->report, &row, m->quantity, &series);
    }
    for (int i = b->set.threads.count; i < c->count; i++)
        bench_table_cell(b->report, &c->column[i + 1], "%s", "");
    bench_table_end(b->report);
    return 0;
}

static int run(struct bench *b)
{
    struct columns c;
    columns_init(&c, &b->set);
    bench_report_line(b->report, "\nMatrix products, GFLOP/s of all threads, "
                                 "each with products of its own; below, the "
                                 "bandwidth of y += a x, two reads and a "
                                 "write, of vectors of 192 MiB and of 3 MiB "
                                 "a thread:");
    bench_table_head(b->report, c.column, c.count + 1);
    for (int i = 0; i < COUNT(products); i++)
        if (measure(b, &products[i], &c) < 0)
            return -1;
    for (int i = 0; i < COUNT(memories); i++)
        if (measure_memory(b, &memories[i], &c) < 0)
            return -1;
    return 0;
}

const struct bench_section section_products = { .name = "products",
                                                .run = run };
