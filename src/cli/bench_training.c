#include "cli/bench_training.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/workers.h"
#include "config/config.h"
#include "corpus/batch.h"
#include "model/model.h"
#include "model/model_file.h"
#include "tensor/gemm.h"
#include "train/learner.h"

/* A training process. */
struct bench_run {
    struct config cfg;
    const struct vocab *source, *target;
    struct model *model;
    struct learner learner;
    struct batches *batches;
    struct arena arena; /* for counting */
    size_t batch;       /* of the epoch: the next one */
    int epoch;
    uint64_t update; /* done so far */
};

/* The model and the way it is trained, whatever the defaults are. */
static const char *const settings[][2] = {
    { "model.type", "seq2seq" },         { "model.bridge", "dense" },
    { "model.tied_embeddings", "none" }, { "encoder.cell", "gru" },
    { "encoder.layers", "1" },           { "encoder.bidirectional", "true" },
    { "decoder.style", "bahdanau" },     { "decoder.cell", "gru" },
    { "decoder.layers", "1" },           { "decoder.readout", "tanh" },
    { "decoder.readout_size", "0" },     { "attention.score", "additive" },
    { "attention.kind", "global" },      { "attention.size", "0" },
    { "training.batch_size", "64" },     { "training.batch_unit", "sentences" },
    { "training.optimizer", "adam" },    { "training.learning_rate", "0.0005" },
    { "training.clip_norm", "1" },       { "training.dropout", "0" },
    { "training.word_dropout", "0" },    { "training.label_smoothing", "0" },
    { "training.average", "0" },
};

static int set_number(struct config *cfg, const char *key, int value)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", value);
    return config_set(cfg, key, text);
}

static int configure(struct config *cfg, const struct training_setup *setup)
{
    config_init(cfg);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        if (config_set(cfg, settings[i][0], settings[i][1]) < 0)
            return -1;
    if (set_number(cfg, "model.embedding", setup->embedding) < 0 ||
        set_number(cfg, "encoder.hidden", setup->hidden) < 0 ||
        set_number(cfg, "decoder.hidden", setup->hidden) < 0 ||
        set_number(cfg, "training.shards", setup->shards) < 0)
        return -1;
    return 0;
}

static void *start(const void *setup)
{
    const struct training_setup *s = setup;
    struct bench_run *r = xcalloc(1, sizeof(*r));
    r->source = s->source;
    r->target = s->target;
    if (configure(&r->cfg, s) < 0)
        return NULL;
    r->model = model_new(&r->cfg, s->source->size, s->target->size);
    if (!r->model)
        return NULL;
    params_initialise(&r->model->params, (uint64_t)r->cfg.training.seed, 0);
    struct workers *workers = workers_new(s->threads, gemm_thread_init);
    if (learner_init(&r->learner, r->model, workers, &r->cfg) < 0)
        return NULL;
    r->batches = batches_new(s->corpus, r->cfg.training.batch_size,
                             BATCH_SENTENCES, (uint64_t)r->cfg.training.seed);
    arena_init(&r->arena);
    return r;
}

/* What the next batch holds. */
static void count_tokens(struct bench_run *r, struct arithmetic_tokens *n)
{
    struct batch batch;
    arena_reset(&r->arena);
    batches_get(r->batches, r->batch, 0, 1, &r->arena, &batch);
    const int *s = batch.source.start, *t = batch.target.start;
    for (int b = 0; b < batch.source.sentences; b++)
        n->met += (double)(s[b + 1] - s[b]) * (t[b + 1] - t[b]);
    n->source += batch.source.tokens;
    n->target += batch.target.tokens;
}

/* One update, its time and its tokens. */
static int update(struct bench_run *r, struct training_answer *out)
{
    struct update_result result;
    if (r->batch == batches_count(r->batches)) {
        batches_epoch(r->batches, ++r->epoch);
        r->batch = 0;
    }
    count_tokens(r, &out->tokens);
    double begin = clock_seconds();
    if (learner_update(&r->learner, r->batches, r->batch, ++r->update,
                       r->cfg.training.learning_rate, &result) < 0)
        return -1;
    out->seconds += clock_seconds() - begin;
    out->loss += result.loss.nll;
    r->batch++;
    return 0;
}

static int save(const struct bench_run *r, const char *path)
{
    struct model_texts t = { .progress = xstrdup("") };
    t.config = config_text(&r->cfg, &t.config_len);
    t.source_vocab = vocab_text(r->source, &t.source_vocab_len);
    t.target_vocab = vocab_text(r->target, &t.target_vocab_len);
    struct npz_writer *w = npz_create(path);
    int got = -1;
    if (w && model_file_put_texts(w, &t) == 0 &&
        model_file_put_params(w, &r->model->params, "",
                              r->model->params.values) == 0)
        got = npz_commit(w);
    else if (w)
        npz_abort(w);
    model_texts_release(&t);
    return got;
}

static int measure(void *state, const void *question, void *answer)
{
    const struct training_question *q = question;
    struct training_answer *out = answer;
    for (int i = 0; i < q->updates; i++)
        if (update(state, out) < 0)
            return -1;
    if (out->tokens.target > 0)
        out->loss /= out->tokens.target;
    out->peak = process_peak();
    return q->save[0] ? save(state, q->save) : 0;
}

const struct probe_kind training_probe = { sizeof(struct training_question),
                                           sizeof(struct training_answer),
                                           start, measure };
