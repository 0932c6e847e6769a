#include "cli/probe_training.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/process.h"
#include "base/workers.h"
#include "cli/bench_model.h"
#include "config/config.h"
#include "corpus/batch.h"
#include "model/model.h"
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

static int configure_attention(struct config *cfg,
                               const struct training_setup *s)
{
    if (s->score && config_set(cfg, "attention.score", s->score) < 0)
        return -1;
    if (s->kind && config_set(cfg, "attention.kind", s->kind) < 0)
        return -1;
    if (s->narrow &&
        bench_model_set(cfg, "encoder.hidden", s->size.hidden / 2) < 0)
        return -1;
    return bench_model_set(cfg, "attention.length_limit", BENCH_MAX_LENGTH + 1);
}

static int configure(struct config *cfg, const struct training_setup *s)
{
    if (bench_model_configure(cfg, &s->size) < 0 ||
        configure_attention(cfg, s) < 0 ||
        bench_model_set(cfg, "training.shards", s->shards) < 0)
        return -1;
    return config_set(cfg, "training.precision", precision_names[s->precision]);
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

static void go_to(struct bench_run *r, int first)
{
    if (r->epoch != 0)
        batches_epoch(r->batches, 0);
    r->epoch = 0;
    r->batch = (size_t)first % batches_count(r->batches);
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

static int measure(void *state, const void *question, void *answer)
{
    struct bench_run *r = state;
    const struct training_question *q = question;
    struct training_answer *out = answer;
    if (q->first >= 0)
        go_to(r, q->first);
    for (int i = 0; i < q->updates; i++)
        if (update(r, out) < 0)
            return -1;
    if (out->tokens.target > 0)
        out->loss /= out->tokens.target;
    out->peak = process_peak();
    return q->save[0] ? bench_model_write(q->save, &r->cfg, r->model, r->source,
                                          r->target, PRECISION_FP32)
                      : 0;
}

const struct probe_kind training_probe = { sizeof(struct training_question),
                                           sizeof(struct training_answer),
                                           start, measure };

int training_ask(struct probe *p, int updates, struct training_answer *answer)
{
    struct training_question question = { .updates = updates, .first = -1 };
    return probe_ask(p, &question, answer);
}
