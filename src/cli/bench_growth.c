/* Section growth: whether speed depends on how much text there is, and what a
 * larger vocabulary costs. */
#include "cli/bench.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/report.h"
#include "cli/bench_report.h"
#include "cli/probe_training.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* A whole pass over the smallest number of pairs by default, so that all
 * rounds of it have the same batches. */
enum { UPDATES = 16 };

/* Something to train on: so many pairs, or words. */
struct amount {
    int pairs, vocabulary;
    struct corpus corpus; /* a part of the whole */
    struct probe *probe;
    struct series target, useful; /* tokens/s, GFLOP/s */
};

struct growth {
    struct bench *bench;
    const char *what; /* grows: pairs, or the vocabulary */
    bool of_words;
    struct amount all[BENCH_LIST];
    int count;
};

static int start(struct growth *g, const struct bench_text *text, size_t pairs)
{
    struct amount *a = &g->all[g->count++];
    struct training_setup setup = bench_training_setup(g->bench,
                                                       &g->bench->set.attention,
                                                       bench_threads(g->bench));
    a->pairs = (int)pairs;
    a->vocabulary = text->target.size;
    a->corpus = corpus_slice(&text->corpus, 0, pairs);
    setup.corpus = &a->corpus;
    setup.source = &text->source;
    setup.target = &text->target;
    a->probe = probe_new(&training_probe, &setup);
    return a->probe ? 0 : -1;
}

static int one_round(struct growth *g, struct amount *a, bool count)
{
    struct training_answer answer;
    const struct bench_size *size = &g->bench->set.attention;
    struct arithmetic_model model = { size->embedding, size->hidden,
                                      a->vocabulary };
    if (training_ask(a->probe, UPDATES, &answer) < 0)
        return -1;
    if (count) {
        series_add(&a->target, answer.tokens.target / answer.seconds);
        series_add(&a->useful, arithmetic_training(&model, &answer.tokens) *
                                   1e-9 / answer.seconds);
    }
    return 0;
}

/* The first round is not counted. */
static int all_rounds(struct growth *g)
{
    for (int round = -1; round < g->bench->set.rounds; round++)
        for (int i = 0; i < g->count; i++)
            if (one_round(g, &g->all[i], round >= 0) < 0)
                return -1;
    return 0;
}

/* --- the table ------------------------------------------------------------ */

static const struct bench_column columns[] = {
    { "pairs", 7 },
    { "vocabulary", 10 },
    { "target tokens/s", 21 },
    { "beside the first", 16 },
    { "useful GFLOP/s", 19 },
    { "beside the first", 16 },
};

static void report(const struct growth *g, const struct amount *a)
{
    struct bench *b = g->bench;
    const struct amount *first = &g->all[0];
    struct series speed = series_ratio(&a->target, &first->target);
    struct series useful = series_ratio(&a->useful, &first->useful);
    struct bench_row row = { .what = "growth",
                             .variant = g->what,
                             .size = g->of_words ? a->vocabulary : a->pairs,
                             .embedding = b->set.attention.embedding,
                             .hidden = b->set.attention.hidden,
                             .precision = precision_names[PRECISION_FP32],
                             .threads = bench_threads(b) };
    const struct bench_figure figure[] = {
        { "target_tokens_per_second", &a->target, 0 },
        { "relative_speed", &speed, 2 },
        { "useful_gflops", &a->useful, 1 },
        { "relative_useful_gflops", &useful, 2 },
    };
    bench_table_cell(b->report, &columns[0], "%d", a->pairs);
    bench_table_cell(b->report, &columns[1], "%d", a->vocabulary);
    bench_table_figures(b->report, &row, &columns[2], figure, COUNT(figure));
}

/* Measures what has been started, and ends it. */
static int finish(struct growth *g, int got)
{
    if (got == 0)
        got = all_rounds(g);
    for (int i = 0; i < g->count; i++)
        probe_free(g->all[i].probe);
    for (int i = 0; got == 0 && i < g->count; i++)
        report(g, &g->all[i]);
    free(g);
    return got;
}

/* --- text ---------------------------------------------------------------- */

static int read_text(struct bench *b, struct bench_text *text, int vocabulary)
{
    char *source = xasprintf("%s/train.en", b->set.growth);
    char *target = xasprintf("%s/train.de", b->set.growth);
    int got = bench_text_read(text, source, target, vocabulary);
    if (got == 0) {
        struct corpus ordered = text->corpus;
        text->corpus = corpus_shuffled(&ordered, 1);
        corpus_release(&ordered);
    }
    free(source);
    free(target);
    return got;
}

static void report_text(struct bench *b, const struct bench_text *text,
                        double seconds)
{
    const struct corpus *c = &text->corpus;
    double bytes = (double)corpus_bytes(c) /
                   (double)(c->tokens[0] + c->tokens[1]);
    struct bench_row row = { .what = "text", .size = (int)c->pairs };
    bench_report_value(b->report, &row, "load_seconds", seconds);
    bench_report_value(b->report, &row, "bytes_per_token", bytes);
    bench_report_line(b->report,
                      "\nTraining on more text, and on more words: E %d, H %d, "
                      "%d threads, rounds of %d updates in turn, on\n"
                      "%s, %zu pairs (read in %.2f s with the counting of "
                      "its words, %.1f bytes a token):",
                      b->set.attention.embedding, b->set.attention.hidden,
                      bench_threads(b), UPDATES, b->set.growth, c->pairs,
                      seconds, bytes);
    bench_table_head(b->report, columns, COUNT(columns));
}

static struct growth *growth_new(struct bench *b, const char *what)
{
    struct growth *g = xcalloc(1, sizeof(*g));
    g->bench = b;
    g->what = what;
    return g;
}

static int measure_pairs(struct bench *b)
{
    struct growth *g = growth_new(b, "pairs");
    struct bench_text text;
    double begin = clock_seconds();
    int got = read_text(b, &text, BENCH_VOCABULARY);
    if (got == 0)
        report_text(b, &text, clock_seconds() - begin);
    for (int i = 0; got == 0 && i < b->set.pairs.count; i++) {
        size_t pairs = (size_t)b->set.pairs.item[i];
        if (pairs <= text.corpus.pairs)
            got = start(g, &text, pairs);
        else
            note("%s has only %zu of %zu pairs", b->set.growth,
                 text.corpus.pairs, pairs);
    }
    got = finish(g, got);
    bench_text_release(&text);
    return got;
}

static int measure_words(struct bench *b)
{
    struct growth *g = growth_new(b, "vocabulary");
    struct bench_text text[BENCH_LIST] = { 0 };
    int got = 0;
    g->of_words = true;
    for (int i = 0; got == 0 && i < b->set.vocabularies.count; i++) {
        got = read_text(b, &text[i], b->set.vocabularies.item[i]);
        if (got == 0)
            got = start(g, &text[i], text[i].corpus.pairs);
    }
    got = finish(g, got);
    for (int i = 0; i < BENCH_LIST; i++)
        bench_text_release(&text[i]);
    return got;
}

static int run(struct bench *b)
{
    return measure_pairs(b) < 0 ? -1 : measure_words(b);
}

const struct bench_section section_growth = { .name = "growth",
                                              .grows = true,
                                              .run = run };
