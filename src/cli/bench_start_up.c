/* Section start-up: from a model file to its first translation. */
#include "cli/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/bench_model.h"
#include "cli/bench_report.h"
#include "cli/probe_start_up.h"
#include "config/config.h"
#include "model/model.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { WORDS = 13, BEAM = 6 };

static const struct bench_column columns[] = {
    { "E / H", 10 },       { "precision", 9 }, { "threads", 7 },
    { "file MiB", 8 },     { "load, s", 20 },  { "first sentence, s", 20 },
    { "together, s", 20 }, { "peak MiB", 8 },
};

/* "w3 w4 … ", so many in all with the three controls. */
static void made_vocabulary(struct vocab *v, int size)
{
    struct text t = { 0 };
    text_adds(&t, "<unk>\n<s>\n</s>\n");
    for (int i = VOCAB_CONTROLS; i < size; i++)
        text_addf(&t, "w%d\n", i);
    vocab_parse(v, "made up", t.s, t.len);
    text_release(&t);
}

/* An untrained model of this size. */
static int write_model(const struct bench *b, const char *path,
                       enum precision precision)
{
    struct config cfg;
    struct vocab vocab = { 0 };
    int got = -1;
    made_vocabulary(&vocab, BENCH_VOCABULARY);
    struct model *model = NULL;
    if (bench_model_configure(&cfg, &b->set.start_up) == 0)
        model = model_new(&cfg, vocab.size, vocab.size);
    if (model) {
        params_initialise(&model->params, (uint64_t)cfg.training.seed, 0);
        got = bench_model_write(path, &cfg, model, &vocab, &vocab, precision);
    }
    model_free(model);
    config_release(&cfg);
    vocab_release(&vocab);
    return got;
}

static double file_mib(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (double)info.st_size / (1 << 20) : 0;
}

struct starts {
    struct series load, translate, both, peak;
};

/* A process of its own each time. */
static int measure_one(const struct start_up_setup *setup, struct starts *to)
{
    static const struct start_up_question question;
    struct start_up_answer a;
    struct probe *p = probe_new(&start_up_probe, setup);
    int got = p ? probe_ask(p, &question, &a) : -1;
    probe_free(p);
    if (got < 0)
        return -1;
    series_add(&to->load, a.load);
    series_add(&to->translate, a.translate);
    series_add(&to->both, a.load + a.translate);
    series_add(&to->peak, a.peak);
    return 0;
}

static void report(struct bench *b, const struct start_up_setup *setup,
                   double mib, const struct starts *s)
{
    const struct bench_size *size = &b->set.start_up;
    struct bench_row row = { .what = "start-up",
                             .embedding = size->embedding,
                             .hidden = size->hidden,
                             .precision = precision_names[setup->precision],
                             .threads = setup->threads,
                             .beam = BEAM };
    const struct bench_figure figure[] = {
        { "load_seconds", &s->load, 3 },
        { "first_sentence_seconds", &s->translate, 3 },
        { "seconds", &s->both, 3 },
        { "peak_mib", &s->peak, 0 },
    };
    bench_report_value(b->report, &row, "file_mib", mib);
    bench_table_cell(b->report, &columns[0], "%d / %d", size->embedding,
                     size->hidden);
    bench_table_cell(b->report, &columns[1], "%s", row.precision);
    bench_table_cell(b->report, &columns[2], "%d", row.threads);
    bench_table_cell(b->report, &columns[3], "%.0f", mib);
    bench_table_figures(b->report, &row, &columns[4], figure, COUNT(figure));
}

static int measure(struct bench *b, const char *path, enum precision precision,
                   int threads)
{
    struct starts *starts = ARRAY_ZERO(starts, 1);
    struct start_up_setup setup = { path, threads, WORDS, BEAM, precision };
    int got = 0;
    for (int round = 0; got == 0 && round < b->set.rounds; round++)
        got = measure_one(&setup, starts);
    if (got == 0)
        report(b, &setup, file_mib(path), starts);
    free(starts);
    return got;
}

static int measure_precision(struct bench *b, const char *path,
                             enum precision precision)
{
    int got = write_model(b, path, precision);
    for (int t = 0; got == 0 && t < b->set.threads.count; t++)
        got = measure(b, path, precision, b->set.threads.item[t]);
    return got;
}

static int run(struct bench *b)
{
    char *path = bench_temporary(".npz");
    int got = path ? 0 : -1;
    if (got == 0) {
        bench_report_line(b->report,
                          "\nStart-up: a model file in the precision in which "
                          "it then computes is read, by so many\nthreads, "
                          "and prepared, and a sentence of %d words translated "
                          "with beam %d:",
                          WORDS, BEAM);
        bench_table_head(b->report, columns, COUNT(columns));
    }
    for (int p = 0; got == 0 && p < b->set.precisions.count; p++)
        got = measure_precision(b, path,
                                (enum precision)b->set.precisions.item[p]);
    if (path)
        unlink(path);
    free(path);
    return got;
}

const struct bench_section section_start_up = { .name = "start-up",
                                                .run = run };
