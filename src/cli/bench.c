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
#include "cli/bench_report.h"
#include "cli/probe_limit.h"
#include "cli/probe_training.h"
#include "tensor/gemm.h"
#include "tensor/packed.h"

extern const struct bench_section section_products, section_training,
    section_translation, section_single, section_start_up, section_lengths,
    section_attention, section_threads, section_growth;

const struct bench_section *const bench_sections[] = {
    &section_products,    &section_training,
    &section_translation, &section_single,
    &section_start_up,    &section_lengths,
    &section_threads,     &section_attention,
    &section_growth,      NULL,
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

/* --- the text ------------------------------------------------------------- */

int bench_text_read(struct bench_text *t, const char *source,
                    const char *target, int vocabulary)
{
    *t = (struct bench_text){ 0 };
    if (vocab_build(&t->source, &source, 1, vocabulary, 1) < 0 ||
        vocab_build(&t->target, &target, 1, vocabulary, 1) < 0)
        return -1;
    return corpus_read(&t->corpus, source, target, &t->source, &t->target,
                       BENCH_MAX_LENGTH);
}

void bench_text_release(struct bench_text *t)
{
    corpus_release(&t->corpus);
    vocab_release(&t->source);
    vocab_release(&t->target);
}

static void describe_text(const struct bench *b)
{
    const struct corpus *c = &b->text.corpus;
    bench_report_line(b->report,
                      "Text: %s and %s, %zu pairs of %.1f and %.1f tokens, "
                      "vocabularies of %d and %d.",
                      b->set.source, b->set.target, c->pairs,
                      (double)c->tokens[0] / (double)c->pairs,
                      (double)c->tokens[1] / (double)c->pairs,
                      b->text.source.size, b->text.target.size);
    if (b->set.rounds > 1)
        bench_report_line(b->report,
                          "Medians of %d rounds, least and most in brackets; "
                          "ratios are those of each round.",
                          b->set.rounds);
}

/* --- what is shared ------------------------------------------------------- */

int bench_threads(const struct bench *b)
{
    const struct bench_list *threads = &b->set.threads;
    int most = 1;
    for (int t = 0; t < threads->count; t++)
        most = threads->item[t] > most ? threads->item[t] : most;
    return most;
}

struct training_setup bench_training_setup(const struct bench *b,
                                           const struct bench_size *size,
                                           int threads)
{
    return (struct training_setup){ .corpus = &b->text.corpus,
                                    .source = &b->text.source,
                                    .target = &b->text.target,
                                    .size = *size,
                                    .threads = threads,
                                    .shards = b->set.shards > 0 ? b->set.shards
                                                                : threads };
}

char *bench_temporary(const char *ending)
{
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

/* --- settings ------------------------------------------------------------- */

/* Those of the settings, or else all that this machine has. */
static int choose_precisions(struct bench *b)
{
    struct bench_list *list = &b->set.precisions;
    bool all = list->count == 0;
    for (int p = 0; p < PRECISIONS && all; p++)
        list->item[list->count++] = p;
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        enum precision p = (enum precision)list->item[i];
        const char *missing = packed_missing(p);
        if (missing && !all)
            return error("--precisions: no products in %s: %s",
                         precision_names[p], missing);
        if (missing)
            note("nothing is measured in %s: %s", precision_names[p], missing);
        else
            list->item[kept++] = list->item[i];
    }
    list->count = kept;
    return 0;
}

static int check_section(const struct bench *b, const struct bench_section *s)
{
    if (s->translates && !b->set.test)
        return error("--sections: '%s' needs a text to translate; name one "
                     "behind SOURCE and TARGET",
                     s->name);
    if (s->grows && !b->set.growth)
        return error("--sections: '%s' needs a larger text; name its folder "
                     "with --growth",
                     s->name);
    return 0;
}

/* Those of the settings, or else all for which there is text. */
static int choose_sections(struct bench *b)
{
    struct bench_list *list = &b->set.sections;
    for (int i = 0; i < list->count; i++)
        if (check_section(b, bench_sections[list->item[i]]) < 0)
            return -1;
    if (list->count > 0)
        return 0;
    for (int i = 0; bench_sections[i]; i++)
        if ((b->set.test || !bench_sections[i]->translates) &&
            (b->set.growth || !bench_sections[i]->grows))
            list->item[list->count++] = i;
    return 0;
}

/* What is only needed at the end should not fail there. */
static int check_inputs(struct bench *b)
{
    struct lines in = { 0 };
    int got = 0;
    if (b->set.test)
        got = lines_open(&in, b->set.test);
    lines_release(&in);
    if (got == 0 && b->set.model)
        got = model_file_read(&b->model, b->set.model, 1, NULL);
    return got;
}

/* --- all of it ------------------------------------------------------------ */

static int run_sections(struct bench *b)
{
    const struct bench_list *list = &b->set.sections;
    check_load();
    describe_machine(b);
    describe_text(b);
    for (int i = 0; i < list->count; i++) {
        const struct bench_section *section = bench_sections[list->item[i]];
        detail("%s", section->name);
        if (section->run(b) < 0)
            return -1;
    }
    return 0;
}

int bench_run(const struct bench_settings *settings, struct bench_report *r)
{
    struct bench b = { .set = *settings, .report = r };
    const struct bench_settings *s = &b.set;
    int got = -1;
    if (choose_precisions(&b) == 0 && choose_sections(&b) == 0 &&
        check_inputs(&b) == 0 &&
        bench_text_read(&b.text, s->source, s->target, BENCH_VOCABULARY) == 0)
        b.limit = probe_new(&limit_probe, NULL);
    if (b.limit)
        got = run_sections(&b);
    probe_free(b.limit);
    model_file_release(&b.model);
    bench_text_release(&b.text);
    return got;
}
