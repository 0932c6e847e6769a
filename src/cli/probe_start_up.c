#include "cli/probe_start_up.h"

#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/process.h"
#include "model/model.h"
#include "model/model_file.h"
#include "search/beam.h"
#include "tensor/gemm.h"

static void *start(const void *setup)
{
    return (void *)(uintptr_t)setup;
}

/* An untrained model finds no end: so many words are the most. */
static void translate(const struct model *model, const struct start_up_setup *s)
{
    struct beam_config config = { .size = s->beam,
                                  .normalize = 1,
                                  .length_factor = 1 };
    struct arena arena = { 0 };
    struct side source;
    struct beam_result result;
    int length = s->words + 1;
    int *ids = arena_array(&arena, (size_t)length, sizeof(*ids));
    for (int i = 0; i < s->words; i++)
        ids[i] = VOCAB_CONTROLS + i % (model->source_size - VOCAB_CONTROLS);
    ids[s->words] = EOS;
    side_gather(&source, &arena, (const int *const[]){ ids }, &length, 1);
    beam_search(beam_new(model), &source, &config, &result);
}

static int measure(void *state, const void *question, void *answer)
{
    const struct start_up_setup *s = state;
    struct start_up_answer *out = answer;
    struct model_file file = { 0 };
    double begin = clock_seconds();
    (void)question;
    gemm_thread_init();
    if (model_file_read(&file, s->model, s->threads, NULL) < 0)
        return -1;
    model_prepare(file.model, s->precision);
    double loaded = clock_seconds();
    translate(file.model, s);
    out->load = loaded - begin;
    out->translate = clock_seconds() - loaded;
    out->peak = process_peak();
    return 0;
}

const struct probe_kind start_up_probe = { sizeof(struct start_up_question),
                                           sizeof(struct start_up_answer),
                                           start, measure };
