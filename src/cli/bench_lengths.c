/* Section lengths: what a step of decoding costs when sources are long, for
 * each kind of attention. */
#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention/attention.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/bench_report.h"
#include "cli/probe_steps.h"

enum { SENTENCES = 8, STEPS = 20, KINDS = 16, REFERENCE = 0 };

/* One kind at all lengths. */
struct kind {
    struct steps_setup setup;
    struct probe *probe;
    struct series step[BENCH_LIST]; /* ms */
};

struct kinds {
    struct bench *bench;
    struct kind all[KINDS];
    int count;
    struct series encode[BENCH_LIST]; /* us a word */
};

static int start(struct kinds *k, const char *name)
{
    struct kind *one = &k->all[k->count++];
    one->setup = (struct steps_setup){ name, k->bench->set.translation,
                                       BENCH_VOCABULARY, SENTENCES };
    one->probe = probe_new(&steps_probe, &one->setup);
    return one->probe ? 0 : -1;
}

/* Global attention first: the others are compared with it. */
static int start_all(struct kinds *k)
{
    if (start(k, "global") < 0)
        return -1;
    for (int i = 0; aligns[i] && k->count < KINDS; i++)
        if (aligns[i]->context && strcmp(aligns[i]->name, "global") != 0 &&
            start(k, aligns[i]->name) < 0)
            return -1;
    return 0;
}

/* The encoder is the same for all kinds, and measured with the first. */
static int measure(struct kinds *k, int kind, int at, bool count)
{
    struct kind *one = &k->all[kind];
    int length = k->bench->set.lengths.item[at];
    struct steps_question question = { length, STEPS, kind == REFERENCE };
    struct steps_answer a;
    if (probe_ask(one->probe, &question, &a) < 0)
        return -1;
    if (!count)
        return 0;
    series_add(&one->step[at], a.decode * 1e3 / STEPS);
    if (question.encode)
        series_add(&k->encode[at], a.encode * 1e6 / SENTENCES / length);
    return 0;
}

/* The first round has memory to take, and is not counted. */
static int measure_length(struct kinds *k, int at)
{
    for (int round = -1; round < k->bench->set.rounds; round++)
        for (int i = 0; i < k->count; i++)
            if (measure(k, i, at, round >= 0) < 0)
                return -1;
    return 0;
}

/* --- the table ------------------------------------------------------------ */

static struct bench_row row_of(const struct kind *one, int length)
{
    return (struct bench_row){ .what = "lengths",
                               .variant = one->setup.kind,
                               .size = length,
                               .embedding = one->setup.size.embedding,
                               .hidden = one->setup.size.hidden,
                               .threads = 1 };
}

static void report_head(const struct kinds *k, struct bench_column *column)
{
    column[0] = (struct bench_column){ "source words", 12 };
    for (int i = 0; i < k->count; i++)
        column[i + 1] = (struct bench_column){ k->all[i].setup.kind, 13 };
    column[k->count + 1] = (struct bench_column){ "encoder, us a word", 18 };
    bench_report_line(k->bench->report,
                      "\nA step of decoding %d sentences together, ms, score "
                      "general, 1 thread; in brackets beside global;\nlast the "
                      "time of the encoder for a word of the source:",
                      SENTENCES);
    bench_table_head(k->bench->report, column, k->count + 2);
}

static void report_length(const struct kinds *k, int at,
                          const struct bench_column *column)
{
    struct bench_report *r = k->bench->report;
    const struct kind *global = &k->all[REFERENCE];
    int length = k->bench->set.lengths.item[at];
    bench_table_cell(r, &column[0], "%d", length);
    for (int i = 0; i < k->count; i++) {
        const struct kind *one = &k->all[i];
        struct bench_row row = row_of(one, length);
        struct series ratio = series_ratio(&one->step[at], &global->step[at]);
        bench_table_cell(r, &column[i + 1], "%.3f (%.2f)",
                         series_median(&one->step[at]), series_median(&ratio));
        bench_report_series(r, &row, "ms_per_step", &one->step[at]);
        bench_report_series(r, &row, "relative_time", &ratio);
        if (i == REFERENCE)
            bench_report_series(r, &row, "encoder_us_per_word", &k->encode[at]);
    }
    bench_table_series(r, &column[k->count + 1], 1, &k->encode[at]);
    bench_table_end(r);
}

/* us a step more for each source word between two lengths: the same all along
 * when the time is linear in the length. */
static double slope(const struct kinds *k, const struct kind *one, int from,
                    int to)
{
    const struct bench_list *lengths = &k->bench->set.lengths;
    return 1e3 *
           (series_median(&one->step[to]) - series_median(&one->step[from])) /
           (lengths->item[to] - lengths->item[from]);
}

static void report_growth(const struct kinds *k, int to,
                          const struct bench_column *column)
{
    struct bench_report *r = k->bench->report;
    const struct bench_list *lengths = &k->bench->set.lengths;
    int from = to - 1;
    if (lengths->item[from] >= lengths->item[to])
        return;
    bench_table_cell(r, &column[0], "%d-%d", lengths->item[from],
                     lengths->item[to]);
    for (int i = 0; i < k->count; i++) {
        double us = slope(k, &k->all[i], from, to);
        struct bench_row row = row_of(&k->all[i], lengths->item[to]);
        bench_table_cell(r, &column[i + 1], "%.3f", us);
        bench_report_value(r, &row, "us_per_step_and_word", us);
    }
    bench_table_end(r);
}

/* The least length from which on a kind is cheaper than global; 0: none. */
static int crossing(const struct kinds *k, const struct kind *one)
{
    int length = 0;
    for (int i = k->bench->set.lengths.count - 1; i >= 0; i--) {
        struct series ratio = series_ratio(&one->step[i],
                                           &k->all[REFERENCE].step[i]);
        if (series_median(&ratio) >= 1)
            break;
        length = k->bench->set.lengths.item[i];
    }
    return length;
}

static void report_crossings(const struct kinds *k)
{
    struct text t = { 0 };
    for (int i = REFERENCE + 1; i < k->count; i++) {
        const struct kind *one = &k->all[i];
        int length = crossing(k, one);
        struct bench_row row = row_of(one, 0);
        text_addf(&t, "%s%s ", i > REFERENCE + 1 ? ", " : "", one->setup.kind);
        if (length > 0)
            text_addf(&t, "%d", length);
        else
            text_adds(&t, "at no length");
        bench_report_value(k->bench->report, &row, "cheaper_from", length);
    }
    bench_report_line(k->bench->report,
                      "\nCheaper than global from so many words on: %s.", t.s);
    text_release(&t);
}

static void report(struct kinds *k)
{
    struct bench_column column[KINDS + 2];
    int lengths = k->bench->set.lengths.count;
    report_head(k, column);
    for (int i = 0; i < lengths; i++)
        report_length(k, i, column);
    bench_report_line(k->bench->report,
                      "\nThe same as growth, us a step for each further word "
                      "of the sources:");
    column[0].title = "from-to";
    bench_table_head(k->bench->report, column, k->count + 1);
    for (int i = 1; i < lengths; i++)
        report_growth(k, i, column);
    report_crossings(k);
}

static int run(struct bench *b)
{
    struct kinds *k = ARRAY_ZERO(k, 1);
    k->bench = b;
    int got = start_all(k);
    for (int i = 0; got == 0 && i < b->set.lengths.count; i++)
        got = measure_length(k, i);
    for (int i = 0; i < k->count; i++)
        probe_free(k->all[i].probe);
    if (got == 0)
        report(k);
    free(k);
    return got;
}

const struct bench_section section_lengths = { .name = "lengths", .run = run };
