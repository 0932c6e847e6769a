#include "cli/bench_translation.h"
#include "cli/precision.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/report.h"
#include "base/workers.h"
#include "model/model_file.h"
#include "search/translator.h"
#include "tensor/gemm.h"

/* A translating process. */
struct bench_search {
    const struct translation_setup *setup;
    struct model_file file;
    struct workers *workers;
    struct translator *translator;
};

static void *start(const void *setup)
{
    struct bench_search *s = xcalloc(1, sizeof(*s));
    s->setup = setup;
    if (model_file_read(&s->file, s->setup->model, s->setup->threads, NULL) <
            0 ||
        precision_prepare(&s->file, NULL) < 0)
        return NULL;
    const struct config *cfg = &s->file.config;
    struct translator_config config = {
        .beam = { .size = s->setup->beam,
                  .normalize = (float)cfg->translation.normalize,
                  .length_factor = (float)cfg->translation.max_length_factor,
                  .allow_unk = cfg->translation.allow_unk },
        .mini_batch = 64,
        .max_length = cfg->translation.max_length,
    };
    s->workers = workers_new(s->setup->threads, gemm_thread_init);
    s->translator = translator_new(s->file.model, &s->file.source,
                                   &s->file.target, s->workers, &config);
    return s;
}

static int translate(struct bench_search *s, double *seconds)
{
    static const char nowhere[] = "/dev/null";
    struct lines in = { 0 };
    FILE *out = fopen(nowhere, "w");
    if (!out)
        return failure("%s: %s", nowhere, strerror(errno));
    int got = lines_open(&in, s->setup->test);
    double begin = clock_seconds();
    if (got == 0)
        got = translator_run(s->translator, &in, out);
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
    out->peak = process_peak();
    out->embedding = s->file.config.model.embedding;
    out->hidden = s->file.config.decoder.hidden;
    return 0;
}

const struct probe_kind translation_probe = {
    sizeof(struct translation_question), sizeof(struct translation_answer),
    start, measure
};
