#include "cli/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/report.h"
#include "base/version.h"
#include "cli/bench_limit.h"
#include "cli/bench_report.h"
#include "cli/bench_training.h"
#include "cli/bench_translation.h"
#include "corpus/corpus.h"
#include "corpus/vocab.h"
#include "model/model_file.h"
#include "tensor/gemm.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

struct bench {
    const struct bench_settings *set;
    struct bench_report *report;
    struct vocab source, target;
    struct corpus corpus;
    struct probe *limit;
};

/* --- the machine -------------------------------------------------------- */

/* "model name : AMD EPYC" of Linux on x86; elsewhere the kind of machine. */
static void processor_name(char *name, size_t size)
{
    static const char key[] = "model name";
    char line[256];
    struct utsname machine;
    snprintf(name, size, "%s",
             uname(&machine) < 0 ? "unknown" : machine.machine);
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof(line), f)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, key, sizeof(key) - 1) != 0 || !value)
            continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (f)
        fclose(f);
}

static void today(char text[16])
{
    time_t now = time(NULL);
    struct tm tm;
    strftime(text, 16, "%Y-%m-%d", localtime_r(&now, &tm));
}

/* Others at work make every figure smaller, not all by the same factor. */
static void check_load(void)
{
    double load[1];
    if (getloadavg(load, 1) == 1 && load[0] > 0.5)
        note("the machine is busy (load %.1f); figures are good only when "
             "nothing else runs",
             load[0]);
}

static void describe_machine(struct bench *b)
{
    static const struct bench_row row = { .what = "machine" };
    struct bench_report *r = b->report;
    char name[128], date[16], count[16];
    processor_name(name, sizeof(name));
    today(date);
    snprintf(count, sizeof(count), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    bench_report_line(r, "attn %s with %s on %s, %s processors, %s.",
                      ATTN_VERSION, gemm_library(), name, count, date);
    bench_report_text(r, &row, "processor", name);
    bench_report_text(r, &row, "processors", count);
    bench_report_text(r, &row, "products", gemm_library());
    bench_report_text(r, &row, "version", ATTN_VERSION);
    bench_report_text(r, &row, "date", date);
}

/* --- the data ------------------------------------------------------------- */

/* What is only needed at the end should not fail there. */
static int check_inputs(const struct bench_settings *s)
{
    struct lines in = { 0 };
    struct model_file file = { 0 };
    int got = 0;
    if (s->beams.count == 0 || !s->test)
        return 0;
    got = lines_open(&in, s->test);
    if (got == 0 && s->model) {
        got = model_file_read(&file, s->model, 0, NULL);
        model_file_release(&file);
    }
    lines_release(&in);
    return got;
}

static int read_data(struct bench *b)
{
    const struct bench_settings *s = b->set;
    if (vocab_build(&b->source, &s->source, 1, BENCH_VOCABULARY, 1) < 0 ||
        vocab_build(&b->target, &s->target, 1, BENCH_VOCABULARY, 1) < 0 ||
        corpus_read(&b->corpus, s->source, s->target, &b->source, &b->target,
                    BENCH_MAX_LENGTH) < 0)
        return -1;
    return 0;
}

static void describe_data(const struct bench *b)
{
    const struct bench_settings *s = b->set;
    bench_report_line(b->report,
                      "Text: %s and %s, %zu pairs of %.1f and %.1f tokens, "
                      "vocabularies of %d and %d.",
                      s->source, s->target, b->corpus.pairs,
                      (double)b->corpus.tokens[0] / (double)b->corpus.pairs,
                      (double)b->corpus.tokens[1] / (double)b->corpus.pairs,
                      b->source.size, b->target.size);
    if (s->rounds > 1)
        bench_report_line(b->report,
                          "Medians of %d rounds, least and most in "
                          "brackets.",
                          s->rounds);
}

/* --- products ------------------------------------------------------------- */

struct product {
    int m, n, k;
};

/* A large one (1024 would set rows on the same lines of a cache), then those of
 * a recurrence with H = 512, whose rows are the sentences alive. */
static const struct product products[] = {
    { 960, 1536, 960 }, { 64, 1536, 512 }, { 32, 1536, 512 },
    { 8, 1536, 512 },   { 5, 1536, 512 },
};

/* Training is compared with the fastest of the first two: which one that is
 * depends on the machine, and on what it does with its caches at the moment. */
enum { LIMITS = 2 };

static int ask_limit(struct bench *b, int threads, const struct product *p,
                     double *gflops)
{
    struct limit_question question = { threads, p->m, p->n, p->k,
                                       b->set->seconds };
    struct limit_answer answer;
    if (probe_ask(b->limit, &question, &answer) < 0)
        return -1;
    *gflops = answer.gflops;
    return 0;
}

static int ask_fastest(struct bench *b, int threads, double *gflops)
{
    *gflops = 0;
    for (int i = 0; i < LIMITS; i++) {
        double one;
        if (ask_limit(b, threads, &products[i], &one) < 0)
            return -1;
        *gflops = one > *gflops ? one : *gflops;
    }
    return 0;
}

static int measure_product(struct bench *b, const struct product *p,
                           struct series *series)
{
    const struct bench_list *threads = &b->set->threads;
    for (int round = 0; round < b->set->rounds; round++)
        for (int t = 0; t < threads->count; t++) {
            double gflops;
            if (ask_limit(b, threads->item[t], p, &gflops) < 0)
                return -1;
            series_add(&series[t], gflops);
        }
    return 0;
}

static void report_product(struct bench *b, const struct product *p,
                           const struct bench_column *column,
                           const struct series *series)
{
    char quantity[64];
    bench_table_cell(b->report, column, "%d x %d x %d", p->m, p->n, p->k);
    snprintf(quantity, sizeof(quantity), "gflops_%dx%dx%d", p->m, p->n, p->k);
    for (int t = 0; t < b->set->threads.count; t++) {
        struct spread spread = series_spread(&series[t]);
        struct bench_row row = { .what = "sgemm",
                                 .threads = b->set->threads.item[t] };
        bench_table_spread(b->report, &column[t + 1], 0, &spread);
        bench_report_spread(b->report, &row, quantity, &spread);
    }
    bench_table_end(b->report);
}

static int measure_products(struct bench *b)
{
    struct bench_column column[BENCH_LIST + 1] = { { "m x n x k", 18 } };
    char title[BENCH_LIST][32];
    const struct bench_list *threads = &b->set->threads;
    for (int t = 0; t < threads->count; t++) {
        snprintf(title[t], sizeof(title[t]), "%d thread%s", threads->item[t],
                 threads->item[t] > 1 ? "s" : "");
        column[t + 1] = (struct bench_column){ title[t], 15 };
    }
    bench_report_line(b->report, "\nMatrix products, GFLOP/s of all threads, "
                                 "each with products of its own:");
    bench_table_head(b->report, column, threads->count + 1);
    for (int i = 0; i < COUNT(products); i++) {
        struct series series[BENCH_LIST] = { 0 };
        if (measure_product(b, &products[i], series) < 0)
            return -1;
        report_product(b, &products[i], column, series);
    }
    return 0;
}

/* --- training ------------------------------------------------------------- */

/* Of one size and number of threads. */
struct training_series {
    struct series source, target; /* tokens/s */
    struct series useful, limit, share;
    double peak;
};

static const struct bench_column training_columns[] = {
    { "E / H", 9 },
    { "threads", 7 },
    { "source tokens/s", 15 },
    { "target tokens/s", 21 },
    { "useful GFLOP/s", 18 },
    { "sgemm GFLOP/s", 15 },
    { "useful / sgemm", 21 },
    { "peak MiB", 8 },
};

static int shards(const struct bench_settings *s)
{
    int most = 2;
    for (int t = 0; t < s->threads.count; t++)
        most = s->threads.item[t] > most ? s->threads.item[t] : most;
    return s->shards > 0 ? s->shards : most;
}

static struct probe *start_training(const struct bench *b,
                                    const struct bench_size *size, int threads)
{
    struct training_setup setup = {
        .corpus = &b->corpus,
        .source = &b->source,
        .target = &b->target,
        .embedding = size->embedding,
        .hidden = size->hidden,
        .threads = threads,
        .shards = shards(b->set),
    };
    return probe_new(&training_probe, &setup);
}

static int train(struct probe *p, int updates, struct training_answer *answer)
{
    struct training_question question = { .updates = updates };
    return probe_ask(p, &question, answer);
}

/* limit, train, limit */
static int training_round(struct bench *b, const struct bench_size *size,
                          int threads, struct probe *p,
                          struct training_series *to)
{
    double before, after;
    struct training_answer a;
    struct arithmetic_model model = { size->embedding, size->hidden,
                                      b->target.size };
    if (ask_fastest(b, threads, &before) < 0 ||
        train(p, b->set->updates, &a) < 0 ||
        ask_fastest(b, threads, &after) < 0)
        return -1;
    double useful = arithmetic_training(&model, &a.tokens) * 1e-9 / a.seconds;
    double limit = (before + after) / 2;
    series_add(&to->source, a.tokens.source / a.seconds);
    series_add(&to->target, a.tokens.target / a.seconds);
    series_add(&to->useful, useful);
    series_add(&to->limit, limit);
    series_add(&to->share, useful / limit);
    to->peak = a.peak;
    return 0;
}

static void report_training(struct bench *b, const struct bench_size *size,
                            int threads, const struct training_series *s)
{
    struct bench_row row = { "training", size->embedding, size->hidden, threads,
                             0 };
    const struct {
        const char *name;
        const struct series *series;
        int digits;
    } quantity[] = {
        { "source_tokens_per_second", &s->source, 0 },
        { "target_tokens_per_second", &s->target, 0 },
        { "useful_gflops", &s->useful, 1 },
        { "sgemm_gflops", &s->limit, 0 },
        { "useful_share", &s->share, 3 },
    };
    struct spread peak = { s->peak, s->peak, s->peak };
    bench_table_cell(b->report, &training_columns[0], "%d / %d",
                     size->embedding, size->hidden);
    bench_table_cell(b->report, &training_columns[1], "%d", threads);
    for (int i = 0; i < COUNT(quantity); i++) {
        struct spread spread = series_spread(quantity[i].series);
        const struct bench_column *column = &training_columns[i + 2];
        bench_report_spread(b->report, &row, quantity[i].name, &spread);
        if (i == 0)
            bench_table_cell(b->report, column, "%.0f", spread.median);
        else
            bench_table_spread(b->report, column, quantity[i].digits, &spread);
    }
    bench_report_spread(b->report, &row, "peak_mib", &peak);
    bench_table_cell(b->report, &training_columns[7], "%.0f", s->peak);
    bench_table_end(b->report);
}

static int training_rounds(struct bench *b, const struct bench_size *size,
                           struct probe *const *probe,
                           struct training_series *series)
{
    const struct bench_list *threads = &b->set->threads;
    struct training_answer unused;
    for (int t = 0; t < threads->count; t++)
        if (b->set->warmup > 0 && train(probe[t], b->set->warmup, &unused) < 0)
            return -1;
    for (int round = 0; round < b->set->rounds; round++)
        for (int t = 0; t < threads->count; t++)
            if (training_round(b, size, threads->item[t], probe[t],
                               &series[t]) < 0)
                return -1;
    return 0;
}

static int measure_size(struct bench *b, const struct bench_size *size)
{
    const struct bench_list *threads = &b->set->threads;
    struct probe *probe[BENCH_LIST] = { NULL };
    struct training_series *series = ARRAY_ZERO(series, BENCH_LIST);
    int got = 0;
    detail("training, E %d, H %d", size->embedding, size->hidden);
    for (int t = 0; got == 0 && t < threads->count; t++) {
        probe[t] = start_training(b, size, threads->item[t]);
        got = probe[t] ? 0 : -1;
    }
    if (got == 0)
        got = training_rounds(b, size, probe, series);
    for (int t = 0; t < threads->count; t++)
        probe_free(probe[t]);
    for (int t = 0; got == 0 && t < threads->count; t++)
        report_training(b, size, threads->item[t], &series[t]);
    free(series);
    return got;
}

static int measure_training(struct bench *b)
{
    if (b->set->sizes == 0)
        return 0;
    bench_report_line(b->report,
                      "\nTraining, rounds of %d updates; tokens are real "
                      "ones, with </s>; useful: forward and\nbackward "
                      "products of these; sgemm: the faster of the first "
                      "two products above, before and after each round:",
                      b->set->updates);
    bench_table_head(b->report, training_columns, COUNT(training_columns));
    for (int i = 0; i < b->set->sizes; i++)
        if (measure_size(b, &b->set->size[i]) < 0)
            return -1;
    return 0;
}

/* --- translation ---------------------------------------------------------- */

/* Of one number of threads and beam. */
struct search {
    struct translation_setup setup;
    struct probe *probe;
    struct series seconds, sentences, words;
    struct translation_answer last;
};

static const struct bench_column translation_columns[] = {
    { "E / H", 9 },           { "beam", 4 },
    { "threads", 7 },         { "sentences/s", 21 },
    { "output words/s", 21 }, { "peak MiB", 8 },
};

static int search_round(struct search *s)
{
    static const struct translation_question question;
    if (probe_ask(s->probe, &question, &s->last) < 0)
        return -1;
    series_add(&s->seconds, s->last.seconds);
    series_add(&s->sentences, s->last.sentences / s->last.seconds);
    series_add(&s->words, s->last.words / s->last.seconds);
    return 0;
}

static void report_search(struct bench *b, const struct search *s)
{
    const struct bench_column *column = translation_columns;
    struct bench_row row = { "translation", s->last.embedding, s->last.hidden,
                             s->setup.threads, s->setup.beam };
    struct spread seconds = series_spread(&s->seconds);
    struct spread sentences = series_spread(&s->sentences);
    struct spread words = series_spread(&s->words);
    struct spread peak = { s->last.peak, s->last.peak, s->last.peak };
    bench_report_spread(b->report, &row, "seconds", &seconds);
    bench_report_spread(b->report, &row, "sentences_per_second", &sentences);
    bench_report_spread(b->report, &row, "output_words_per_second", &words);
    bench_report_spread(b->report, &row, "peak_mib", &peak);
    bench_table_cell(b->report, &column[0], "%d / %d", row.embedding,
                     row.hidden);
    bench_table_cell(b->report, &column[1], "%d", row.beam);
    bench_table_cell(b->report, &column[2], "%d", row.threads);
    bench_table_spread(b->report, &column[3], 1, &sentences);
    bench_table_spread(b->report, &column[4], 0, &words);
    bench_table_cell(b->report, &column[5], "%.0f", s->last.peak);
    bench_table_end(b->report);
}

static int search_rounds(struct bench *b, struct search *search, int count)
{
    for (int round = 0; round < b->set->rounds; round++)
        for (int i = 0; i < count; i++)
            if (search_round(&search[i]) < 0)
                return -1;
    for (int i = 0; i < count; i++)
        report_search(b, &search[i]);
    return 0;
}

/* All beams and numbers of threads, alternately. */
static int measure_searches(struct bench *b, const char *model)
{
    const struct bench_settings *s = b->set;
    int count = s->beams.count * s->threads.count, got = 0;
    struct search *search = ARRAY_ZERO(search, (size_t)count);
    for (int i = 0; got == 0 && i < count; i++) {
        search[i].setup = (struct translation_setup){
            model, s->test, s->threads.item[i % s->threads.count],
            s->beams.item[i / s->threads.count]
        };
        search[i].probe = probe_new(&translation_probe, &search[i].setup);
        got = search[i].probe ? 0 : -1;
    }
    if (model != s->model)
        unlink(model); /* all have read it; whatever happens, it is gone */
    if (got == 0) {
        bench_report_line(b->report,
                          "\nTranslation of %s in batches of 64; "
                          "output words with </s>:",
                          s->test);
        bench_table_head(b->report, translation_columns,
                         COUNT(translation_columns));
        got = search_rounds(b, search, count);
    }
    for (int i = 0; i < count; i++)
        probe_free(search[i].probe);
    free(search);
    return got;
}

/* Trains a model for a while, so that its sentences have an end. */
static int make_model(struct bench *b, const char *path)
{
    struct training_question question = { .updates = b->set->train_for };
    struct training_answer answer;
    snprintf(question.save, sizeof(question.save), "%s", path);
    struct probe *p = start_training(b, &b->set->translation, shards(b->set));
    int got = p ? probe_ask(p, &question, &answer) : -1;
    probe_free(p);
    if (got == 0)
        bench_report_line(b->report,
                          "\nThe model that translates: %d updates,"
                          " cross-entropy of the training words "
                          "%.2f on the way.",
                          b->set->train_for, answer.loss);
    return got;
}

/* An empty file with a name of its own; NULL after reporting. */
static char *temporary_file(void)
{
    static const char ending[] = ".npz";
    const char *folder = getenv("TMPDIR");
    char *path = xasprintf("%s/attn-bench.XXXXXX%s",
                           folder && folder[0] ? folder : "/tmp", ending);
    int file = mkstemps(path, (int)strlen(ending));
    if (file >= 0) {
        close(file);
        return path;
    }
    failure("%s: cannot make a file: %s", path, strerror(errno));
    free(path);
    return NULL;
}

static int measure_made_model(struct bench *b)
{
    char *model = temporary_file();
    if (!model)
        return -1;
    int got = make_model(b, model);
    if (got == 0)
        got = measure_searches(b, model);
    else
        unlink(model);
    free(model);
    return got;
}

static int measure_translation(struct bench *b)
{
    if (!b->set->test || b->set->beams.count == 0)
        return 0;
    return b->set->model ? measure_searches(b, b->set->model)
                         : measure_made_model(b);
}

/* --- all of it ------------------------------------------------------------ */

int bench_run(const struct bench_settings *settings, struct bench_report *r)
{
    struct bench b = { .set = settings, .report = r };
    int got = -1;
    if (check_inputs(settings) == 0 && read_data(&b) == 0)
        b.limit = probe_new(&limit_probe, NULL);
    if (b.limit) {
        check_load();
        describe_machine(&b);
        describe_data(&b);
        if (measure_products(&b) == 0 && measure_training(&b) == 0)
            got = measure_translation(&b);
    }
    probe_free(b.limit);
    corpus_release(&b.corpus);
    vocab_release(&b.source);
    vocab_release(&b.target);
    return got;
}
