#include "cli/probe_steps.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "cli/bench_model.h"
#include "config/config.h"
#include "model/model.h"
#include "tensor/gemm.h"

/* A decoding process, one thread. */
struct decoding {
    const struct steps_setup *setup;
    struct config cfg;
    struct model *model;
    struct graph graph; /* up to the mark: the encoder's output */
    struct arena_mark mark;
    int length; /* of what is encoded; 0: nothing is */
    struct side source;
    struct decoder_memory memory;
};

/* Stopping probabilities around one half instead of near 0, so that monotonic
 * attention walks on about as fast as it writes, as a trained one does. */
static void let_walk(struct model *m)
{
    const struct param *r = params_find(&m->params, "attention.r");
    if (r)
        m->params.values[r->offset] = 0;
}

static void *start(const void *setup)
{
    const struct steps_setup *s = setup;
    struct decoding *d = xcalloc(1, sizeof(*d));
    d->setup = s;
    gemm_thread_init();
    if (bench_model_configure(&d->cfg, &s->size) < 0 ||
        config_set(&d->cfg, "attention.score", "general") < 0 ||
        config_set(&d->cfg, "attention.kind", s->kind) < 0)
        return NULL;
    d->model = model_new(&d->cfg, s->vocabulary, s->vocabulary);
    if (!d->model)
        return NULL;
    params_initialise(&d->model->params, (uint64_t)d->cfg.training.seed, 0);
    let_walk(d->model);
    model_prepare(d->model, PRECISION_FP32);
    graph_init(&d->graph);
    return d;
}

/* Words that differ from sentence to sentence and from place to place. */
static struct side made_source(struct decoding *d, int length)
{
    int B = d->setup->sentences;
    int words = d->setup->vocabulary - VOCAB_CONTROLS;
    int *start = arena_array(&d->graph.arena, (size_t)B + 1, sizeof(int));
    int *ids = arena_array(&d->graph.arena, (size_t)B * (size_t)length,
                           sizeof(int));
    for (int i = 0; i < B * length; i++)
        ids[i] = (i + 1) % length == 0
                     ? EOS
                     : VOCAB_CONTROLS + (int)(i * 31L % words);
    for (int b = 0; b <= B; b++)
        start[b] = b * length;
    return (struct side){ B, B * length, start, ids };
}

static void decode(struct decoding *d, const struct decoder_memory *memory,
                   int steps)
{
    int B = d->setup->sentences;
    struct graph *g = &d->graph;
    struct ragged over = encoded_rows(&memory->encoded);
    struct model_step step;
    int *ids = arena_array(&g->arena, (size_t)B, sizeof(int));
    model_begin(d->model, g, memory, &over, &step.after);
    for (int t = 0; t < steps; t++) {
        struct decoder_state before = step.after;
        for (int b = 0; b < B; b++)
            ids[b] = VOCAB_CONTROLS +
                     (t * 7 + b) % (d->setup->vocabulary - VOCAB_CONTROLS);
        model_step(d->model, g, memory, &over, ids, B, &before, &step);
    }
}

static void encode(struct decoding *d, int length)
{
    graph_reset(&d->graph);
    model_bind(d->model, NULL, &d->graph);
    d->source = made_source(d, length);
    model_encode(d->model, &d->graph, &d->source, &d->memory);
    d->mark = graph_mark(&d->graph);
    d->length = length;
}

static int measure(void *state, const void *question, void *answer)
{
    struct decoding *d = state;
    const struct steps_question *q = question;
    struct steps_answer *out = answer;
    double begin = clock_seconds();
    bool encodes = q->encode || q->length != d->length;
    if (encodes)
        encode(d, q->length);
    double encoded = clock_seconds();
    decode(d, &d->memory, q->steps);
    out->encode = encodes ? encoded - begin : 0;
    out->decode = clock_seconds() - encoded;
    graph_rewind(&d->graph, d->mark);
    return 0;
}

const struct probe_kind steps_probe = { sizeof(struct steps_question),
                                        sizeof(struct steps_answer), start,
                                        measure };
