#include "cli/bench_searches.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "cli/arithmetic.h"
#include "cli/bench.h"
#include "cli/bench_report.h"
#include "cli/probe_translation.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

struct search {
    struct translation_setup setup;
    struct probe *probe;
    struct series seconds, sentences, words; /* the latter a second */
    struct translation_answer last;
};

struct searches {
    struct bench *bench;
    const struct searches_config *config;
    const struct model_file *model;
    struct search *all; // [count]
    int count;
};

static const struct bench_column columns[] = {
    { "E / H", 10 },          { "beam", 4 },     { "precision", 9 },
    { "threads", 7 },         { "seconds", 19 }, { "sentences/s", 21 },
    { "output words/s", 21 }, { "x fp32", 16 },  { "peak MiB", 8 },
};

static int one_round(struct search *s)
{
    static const struct translation_question question;
    if (probe_ask(s->probe, &question, &s->last) < 0)
        return -1;
    series_add(&s->seconds, s->last.seconds);
    series_add(&s->sentences, s->last.sentences / s->last.seconds);
    series_add(&s->words, s->last.words / s->last.seconds);
    return 0;
}

/* The speed beside that of fp32, if that was measured. */
static struct series gain(const struct searches *s, const struct search *one)
{
    for (int i = 0; i < s->count; i++)
        if (one->setup.precision != PRECISION_FP32 &&
            s->all[i].setup.precision == PRECISION_FP32 &&
            s->all[i].setup.threads == one->setup.threads &&
            s->all[i].setup.beam == one->setup.beam)
            return series_ratio(&one->sentences, &s->all[i].sentences);
    return (struct series){ 0 };
}

/* The arithmetic of a whole run, beam rows for each word put out: an upper
 * bound, for hypotheses leave the beam when they end. */
static void report_arithmetic(const struct searches *s, const struct search *t,
                              const struct bench_row *row)
{
    const struct translation_answer *a = &t->last;
    double beam = t->setup.beam, batch = t->setup.batch;
    struct arithmetic_model model = { row->embedding, row->hidden,
                                      s->model->target.size };
    struct arithmetic_tokens n = { a->words_in, a->words * beam,
                                   a->words * beam * a->words_in /
                                       a->sentences };
    struct arithmetic_rows rows = { .encoder = batch,
                                    .decoder = batch * beam,
                                    .source = batch * a->words_in /
                                              a->sentences,
                                    .target = batch * beam };
    double flops = 2 * arithmetic_forward(&model, &n);
    struct bench_report *r = s->bench->report;
    bench_report_value(r, row, "useful_gflops",
                       flops * 1e-9 / series_median(&t->seconds));
    bench_report_value(r, row, "flops_per_byte",
                       flops / arithmetic_bytes(&model, &n, &rows));
}

static void report(const struct searches *s, const struct search *t)
{
    const struct config *cfg = &s->model->config;
    struct bench_row row = { .what = s->config->what,
                             .embedding = cfg->model.embedding,
                             .hidden = cfg->decoder.hidden,
                             .precision = precision_names[t->setup.precision],
                             .threads = t->setup.threads,
                             .beam = t->setup.beam };
    struct bench_report *r = s->bench->report;
    struct series peak = { 0 }, gained = gain(s, t);
    const struct bench_figure figure[] = {
        { "seconds", &t->seconds, 2 },
        { "sentences_per_second", &t->sentences, 1 },
        { "output_words_per_second", &t->words, 0 },
        { "times_fp32", &gained, 2 },
        { "peak_mib", &peak, 0 },
    };
    series_add(&peak, t->last.peak);
    bench_table_cell(r, &columns[0], "%d / %d", row.embedding, row.hidden);
    bench_table_cell(r, &columns[1], "%d", row.beam);
    bench_table_cell(r, &columns[2], "%s", row.precision);
    bench_table_cell(r, &columns[3], "%d", row.threads);
    bench_table_figures(r, &row, &columns[4], figure, COUNT(figure));
    if (t->setup.precision == PRECISION_FP32)
        report_arithmetic(s, t, &row);
}

static int start(struct searches *s, int beam, int threads, int precision)
{
    const struct searches_config *config = s->config;
    struct search *one = &s->all[s->count++];
    one->setup = (struct translation_setup){
        .model = &s->bench->model,
        .test = s->bench->set.test,
        .sentences = config->sentences,
        .threads = threads,
        .beam = beam,
        .batch = config->batch,
        .precision = (enum precision)precision,
    };
    one->probe = probe_new(&translation_probe, &one->setup);
    return one->probe ? 0 : -1;
}

static int start_all(struct searches *s)
{
    const struct bench_settings *set = &s->bench->set;
    const struct bench_list one = { { s->config->threads }, 1 };
    const struct bench_list *threads = s->config->threads > 0 ? &one
                                                              : &set->threads;
    for (int k = 0; k < set->beams.count; k++)
        for (int t = 0; t < threads->count; t++)
            for (int p = 0; p < set->precisions.count; p++)
                if (start(s, set->beams.item[k], threads->item[t],
                          set->precisions.item[p]) < 0)
                    return -1;
    return 0;
}

static int all_rounds(struct searches *s)
{
    for (int round = 0; round < s->bench->set.rounds; round++)
        for (int i = 0; i < s->count; i++)
            if (one_round(&s->all[i]) < 0)
                return -1;
    bench_table_head(s->bench->report, columns, COUNT(columns));
    for (int i = 0; i < s->count; i++)
        report(s, &s->all[i]);
    return 0;
}

int searches_measure(struct bench *b, const struct searches_config *config)
{
    struct searches s = { b, config, bench_model(b), NULL, 0 };
    if (!s.model)
        return -1;
    ARRAY_ZERO(s.all, (size_t)BENCH_LIST * BENCH_LIST * PRECISIONS);
    int got = start_all(&s);
    if (got == 0)
        got = all_rounds(&s);
    for (int i = 0; i < s.count; i++)
        probe_free(s.all[i].probe);
    free(s.all);
    return got;
}
