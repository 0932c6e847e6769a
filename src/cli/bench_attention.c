/* Section attention: what training costs with every score and kind, beside
 * global attention with the score general. */
#include "cli/bench.h"

#include <stdlib.h>

#include "attention/attention.h"
#include "base/alloc.h"
#include "cli/bench_report.h"
#include "cli/probe_training.h"

/* Few, for there are many pairs; they are the same ones for both. */
enum { UPDATES = 4, SCORES = 15 };

/* Scores that compare states as they are need a memory as wide as the query:
 * an encoder of half the units, and a reference with such a one, too. */
enum { WIDE, NARROW, REFERENCES };

struct pairs {
    struct bench *bench;
    struct probe *reference[REFERENCES];
    struct bench_column column[SCORES + 1];
    int scores;
};

static bool is_narrow(const struct score *s, const struct align *a)
{
    return s->keys == attention_states && a->context && !a->query_is_summary;
}

static struct probe *start(const struct pairs *p, const char *score,
                           const char *kind, bool narrow)
{
    struct training_setup setup = bench_training_setup(p->bench,
                                                       &p->bench->set.attention,
                                                       1);
    setup.score = score;
    setup.kind = kind;
    setup.narrow = narrow;
    return probe_new(&training_probe, &setup);
}

/* The same batches for all, other ones in every round. */
static int train(struct probe *p, int round, double *seconds)
{
    struct training_question question = { .updates = UPDATES,
                                          .first = round * UPDATES };
    struct training_answer answer;
    if (probe_ask(p, &question, &answer) < 0)
        return -1;
    *seconds = answer.seconds;
    return 0;
}

/* The first round is not counted. */
static int all_rounds(const struct pairs *p, struct probe *one,
                      struct probe *reference, struct series *ratio,
                      struct series *ms)
{
    for (int round = 0; round <= p->bench->set.rounds; round++) {
        double its, ours;
        if (train(reference, round, &ours) < 0 || train(one, round, &its) < 0)
            return -1;
        if (round == 0)
            continue;
        series_add(ratio, its / ours);
        series_add(ms, its * 1e3 / UPDATES);
    }
    return 0;
}

static struct probe *reference(struct pairs *p, bool narrow)
{
    struct probe **found = &p->reference[narrow ? NARROW : WIDE];
    if (!*found)
        *found = start(p, "general", "global", narrow);
    return *found;
}

static int measure(struct pairs *p, const struct score *score,
                   const struct align *align, const struct bench_column *column)
{
    bool narrow = is_narrow(score, align);
    char name[64];
    struct series ratio = { 0 }, ms = { 0 };
    struct probe *one = start(p, score->name, align->name, narrow);
    struct probe *other = reference(p, narrow);
    int got = one && other ? all_rounds(p, one, other, &ratio, &ms) : -1;
    probe_free(one);
    if (got < 0)
        return -1;
    snprintf(name, sizeof(name), "%s %s", align->name, score->name);
    struct bench_row row = { .what = "attention",
                             .variant = name,
                             .embedding = p->bench->set.attention.embedding,
                             .hidden = p->bench->set.attention.hidden,
                             .precision = precision_names[PRECISION_FP32],
                             .threads = 1 };
    bench_table_series(p->bench->report, column, 2, &ratio);
    bench_report_series(p->bench->report, &row, "relative_time", &ratio);
    bench_report_series(p->bench->report, &row, "ms_per_update", &ms);
    return 0;
}

/* A line of the table; kind none compares nothing, so one score will do. */
static int measure_kind(struct pairs *p, const struct align *align)
{
    bench_table_cell(p->bench->report, &p->column[0], "%s", align->name);
    for (int s = 0; s < p->scores; s++) {
        const struct bench_column *column = &p->column[s + 1];
        if (!align->context && s > 0)
            bench_table_cell(p->bench->report, column, "%s", "");
        else if (measure(p, scores[s], align, column) < 0)
            return -1;
    }
    bench_table_end(p->bench->report);
    return 0;
}

static int run(struct bench *b)
{
    struct pairs *p = ARRAY_ZERO(p, 1);
    int got = 0;
    p->bench = b;
    p->column[0] = (struct bench_column){ "kind", 10 };
    for (; scores[p->scores] && p->scores < SCORES; p->scores++)
        p->column[p->scores + 1] = (struct bench_column){
            scores[p->scores]->name, 16
        };
    bench_report_line(
        b->report,
        "\nTime of training with each kind and score beside that "
        "of global general on the same %d\nbatches in turn, E %d, "
        "H %d, 1 thread (dot and scaled_dot: both with an "
        "encoder of half the units):",
        UPDATES, b->set.attention.embedding, b->set.attention.hidden);
    bench_table_head(b->report, p->column, p->scores + 1);
    for (int i = 0; got == 0 && aligns[i]; i++)
        got = measure_kind(p, aligns[i]);
    for (int i = 0; i < REFERENCES; i++)
        probe_free(p->reference[i]);
    free(p);
    return got;
}

const struct bench_section section_attention = { .name = "attention",
                                                 .run = run };
