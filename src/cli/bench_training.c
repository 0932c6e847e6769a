/* Section training: every size, in every precision that trains, with every
 * number of threads. */
#include "cli/bench.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "cli/bench_report.h"
#include "cli/probe_training.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Of one size. */
struct trainee {
    struct training_setup setup;
    struct probe *probe;
    struct series source, target; /* tokens/s */
    struct series useful, limit, share;
    struct arithmetic_tokens tokens; /* of all rounds */
    double peak;
};

static const struct bench_column columns[] = {
    { "E / H", 10 },           { "precision", 9 },
    { "threads", 7 },          { "source tokens/s", 21 },
    { "target tokens/s", 21 }, { "useful GFLOP/s", 19 },
    { "limit GFLOP/s", 15 },   { "useful / limit", 19 },
    { "x fp32", 16 },          { "peak MiB", 8 },
};

static struct arithmetic_model arithmetic(const struct bench *b,
                                          const struct trainee *t)
{
    return (struct arithmetic_model){ t->setup.size.embedding,
                                      t->setup.size.hidden,
                                      b->text.target.size };
}

/* limit, train, limit */
static int one_round(struct bench *b, struct trainee *t)
{
    double before, after;
    struct training_answer a;
    struct arithmetic_model model = arithmetic(b, t);
    int threads = t->setup.threads;
    enum precision precision = t->setup.precision;
    if (bench_limit(b, threads, precision, &before) < 0 ||
        training_ask(t->probe, b->set.updates, &a) < 0 ||
        bench_limit(b, threads, precision, &after) < 0)
        return -1;
    double useful = arithmetic_training(&model, &a.tokens) * 1e-9 / a.seconds;
    double limit = (before + after) / 2;
    series_add(&t->source, a.tokens.source / a.seconds);
    series_add(&t->target, a.tokens.target / a.seconds);
    series_add(&t->useful, useful);
    series_add(&t->limit, limit);
    series_add(&t->share, useful / limit);
    t->tokens.source += a.tokens.source;
    t->tokens.target += a.tokens.target;
    t->tokens.met += a.tokens.met;
    t->peak = a.peak;
    return 0;
}

/* The speed beside that of fp32 with as many threads, if that was measured. */
static struct series gain(const struct trainee *all, int count,
                          const struct trainee *t)
{
    for (int i = 0; i < count; i++)
        if (t->setup.precision != PRECISION_FP32 &&
            all[i].setup.precision == PRECISION_FP32 &&
            all[i].setup.threads == t->setup.threads)
            return series_ratio(&t->target, &all[i].target);
    return (struct series){ 0 };
}

/* Floating-point operations for each byte of the products' operands. */
static double intensity(const struct bench *b, const struct trainee *t)
{
    struct arithmetic_model model = arithmetic(b, t);
    double shards = b->set.rounds * b->set.updates * t->setup.shards;
    double sentences = (double)BENCH_BATCH / t->setup.shards;
    struct arithmetic_rows rows = { .encoder = sentences,
                                    .decoder = sentences,
                                    .source = t->tokens.source / shards,
                                    .target = t->tokens.target / shards };
    return arithmetic_forward(&model, &t->tokens) * 2 /
           arithmetic_bytes(&model, &t->tokens, &rows);
}

static void report(struct bench *b, const struct trainee *all, int count,
                   const struct trainee *t)
{
    const struct bench_size *size = &t->setup.size;
    struct bench_row row = { .what = "training",
                             .embedding = size->embedding,
                             .hidden = size->hidden,
                             .precision = precision_names[t->setup.precision],
                             .threads = t->setup.threads };
    struct series peak = { 0 }, gained = gain(all, count, t);
    const struct bench_figure figure[] = {
        { "source_tokens_per_second", &t->source, 0 },
        { "target_tokens_per_second", &t->target, 0 },
        { "useful_gflops", &t->useful, 1 },
        { "limit_gflops", &t->limit, 0 },
        { "useful_share", &t->share, 3 },
        { "times_fp32", &gained, 2 },
        { "peak_mib", &peak, 0 },
    };
    series_add(&peak, t->peak);
    bench_table_cell(b->report, &columns[0], "%d / %d", size->embedding,
                     size->hidden);
    bench_table_cell(b->report, &columns[1], "%s", row.precision);
    bench_table_cell(b->report, &columns[2], "%d", row.threads);
    bench_table_figures(b->report, &row, &columns[3], figure, COUNT(figure));
    if (t->setup.precision == PRECISION_FP32)
        bench_report_value(b->report, &row, "flops_per_byte", intensity(b, t));
}

static int all_rounds(struct bench *b, struct trainee *all, int count)
{
    struct training_answer unused;
    for (int i = 0; i < count; i++)
        if (b->set.warmup > 0 &&
            training_ask(all[i].probe, b->set.warmup, &unused) < 0)
            return -1;
    for (int round = 0; round < b->set.rounds; round++)
        for (int i = 0; i < count; i++)
            if (one_round(b, &all[i]) < 0)
                return -1;
    return 0;
}

static int start(struct bench *b, const struct bench_size *size,
                 struct trainee *all)
{
    int count = 0;
    for (int p = 0; p < b->set.precisions.count; p++)
        for (int t = 0; t < b->set.threads.count; t++) {
            if (b->set.precisions.item[p] == PRECISION_INT8)
                continue; /* translates only */
            struct trainee *one = &all[count++];
            one->setup = bench_training_setup(b, size, b->set.threads.item[t]);
            one->setup.precision = (enum precision)b->set.precisions.item[p];
            one->probe = probe_new(&training_probe, &one->setup);
            if (!one->probe)
                return -1;
        }
    return count;
}

static int measure(struct bench *b, const struct bench_size *size)
{
    enum { MOST = BENCH_LIST * PRECISIONS };
    struct trainee *all = ARRAY_ZERO(all, MOST);
    int count = start(b, size, all);
    int got = count < 0 ? -1 : all_rounds(b, all, count);
    for (int i = 0; i < MOST; i++)
        probe_free(all[i].probe);
    for (int i = 0; got == 0 && i < count; i++)
        report(b, all, count, &all[i]);
    free(all);
    return got;
}

static int run(struct bench *b)
{
    bench_report_line(b->report,
                      "\nTraining, rounds of %d updates; tokens are real "
                      "ones, with </s>; useful: forward and\nbackward "
                      "products of these; limit: what products of the "
                      "precision reach, the faster of\n960 x 1536 x 960 and "
                      "64 x 1536 x 512, before and after each round:",
                      b->set.updates);
    bench_table_head(b->report, columns, COUNT(columns));
    for (int i = 0; i < b->set.sizes.count; i++)
        if (measure(b, &b->set.sizes.item[i]) < 0)
            return -1;
    return 0;
}

const struct bench_section section_training = { .name = "training",
                                                .run = run };
