#include "cli/probe_translation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/process.h"
#include "base/report.h"
#include "base/text.h"
#include "base/workers.h"
#include "model/model.h"
#include "model/model_file.h"
#include "search/translator.h"
#include "tensor/gemm.h"

/* A translating process. */
struct bench_search {
    struct text text; /* lines to translate */
    struct translator *translator;
};

/* The first lines of the file, as many as are wanted. */
static int read_text(struct text *to, const struct translation_setup *s)
{
    struct lines in = { 0 };
    char *line;
    size_t len;
    int got = lines_open(&in, s->test) < 0 ? -1 : 1;
    while (got > 0 && (s->sentences == 0 || in.number < (size_t)s->sentences)) {
        got = lines_next(&in, &line, &len);
        if (got > 0) {
            text_add(to, line, len);
            text_add(to, "\n", 1);
        }
    }
    lines_release(&in);
    return got < 0 ? -1 : 0;
}

static void *start(const void *setup)
{
    const struct translation_setup *s = setup;
    struct bench_search *search = xcalloc(1, sizeof(*search));
    if (read_text(&search->text, s) < 0)
        return NULL;
    const struct config *cfg = &s->model->config;
    struct translator_config config = {
        .beam = { .size = s->beam,
                  .normalize = (float)cfg->translation.normalize,
                  .length_factor = (float)cfg->translation.max_length_factor,
                  .allow_unk = cfg->translation.allow_unk },
        .mini_batch = s->batch,
        .max_length = cfg->translation.max_length,
    };
    struct workers *workers = workers_new(s->threads, gemm_thread_init);
    model_prepare(s->model->model, s->precision);
    search->translator = translator_new(s->model->model, &s->model->source,
                                        &s->model->target, workers, &config);
    return search;
}

static int translate(struct bench_search *s, double *seconds)
{
    static const char nowhere[] = "/dev/null";
    struct lines in = { 0 };
    FILE *out = fopen(nowhere, "w");
    if (!out)
        return failure("%s: %s", nowhere, strerror(errno));
    lines_open_text(&in, "the text", s->text.s, s->text.len);
    double begin = clock_seconds();
    int got = translator_run(s->translator, &in, out);
    *seconds = clock_seconds() - begin;
    lines_release(&in);
    fclose(out);
    return got;
}

static int measure(void *state, const void *question, void *answer)
{
    struct bench_search *s = state;
    struct translation_answer *out = answer;
    (void)question;
    struct translator_counts before = *translator_counts(s->translator);
    if (translate(s, &out->seconds) < 0)
        return -1;
    const struct translator_counts *after = translator_counts(s->translator);
    out->sentences = (double)(after->lines - before.lines);
    out->words = (double)(after->words_out - before.words_out) + out->sentences;
    out->words_in = (double)(after->words_in - before.words_in) +
                    out->sentences;
    out->peak = process_peak();
    return 0;
}

const struct probe_kind translation_probe = {
    sizeof(struct translation_question), sizeof(struct translation_answer),
    start, measure
};
