#include "train/trainer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/report.h"
#include "config/config.h"
#include "tensor/gemm.h"
#include "train/log.h"
#include "train/run.h"

static bool limit_reached(const struct run *r)
{
    const struct config *cfg = r->cfg;
    const struct position *p = &r->position;
    return (cfg->training.epochs > 0 && p->epoch >= cfg->training.epochs) ||
           (cfg->training.updates > 0 &&
            p->update >= (uint64_t)cfg->training.updates) ||
           (cfg->training.minutes > 0 &&
            p->seconds >= 60 * cfg->training.minutes) ||
           (cfg->training.early_stopping > 0 &&
            p->stalled >= cfg->training.early_stopping);
}

static bool epoch_done(const struct run *r)
{
    return r->position.batch == batches_count(r->batches);
}

static bool validation_due(const struct run *r)
{
    const struct position *p = &r->position;
    int every = r->cfg->validation.every;
    if (p->update == 0 || p->validated == p->update)
        return false;
    return every > 0 ? p->update % (uint64_t)every == 0 : epoch_done(r);
}

static bool save_due(const struct run *r)
{
    int every = r->cfg->validation.save_every;
    return every > 0 && r->position.update % (uint64_t)every == 0;
}

static int do_update(struct run *r)
{
    struct position *p = &r->position;
    struct update_result result;
    double start = clock_seconds();
    double rate = schedule_rate(r->schedule, r->cfg, p);
    if (learner_update(&r->learner, r->batches, p->batch, p->update + 1, rate,
                       &result) < 0)
        return -1;
    p->update++;
    p->batch++;
    p->updates++;
    p->nll += result.loss.nll;
    p->norm += result.gradient_norm;
    p->sentences += (uint64_t)result.sentences;
    p->tokens += (uint64_t)result.target_tokens;
    if (r->cfg->training.minutes > 0)
        p->seconds += clock_seconds() - start;
    log_update(&r->log, p, &result, (long)batches_count(r->batches));
    if (p->update % (uint64_t)r->cfg->validation.log_every == 0)
        log_training(&r->log, p, rate);
    return save_due(r) ? run_save_checkpoint(r) : 0;
}

static void next_epoch(struct run *r)
{
    r->position.epoch++;
    r->position.batch = 0;
    batches_epoch(r->batches, r->position.epoch);
}

/* Keeps account of better and worse. True when the result is a new best. */
static bool judge(struct run *r, const struct validation_result *v)
{
    struct position *p = &r->position;
    const struct validation_metric *metric = r->metric;
    double value = metric->value(v);
    bool better = !p->has_best || (metric->larger_is_better ? value > p->best
                                                            : value < p->best);
    p->stalled = better ? 0 : p->stalled + 1;
    p->since_decay = better ? 0 : p->since_decay + 1;
    if (better) {
        p->best = value;
        p->best_update = p->update;
        p->has_best = 1;
    } else if (r->schedule->falls &&
               p->since_decay > r->cfg->training.patience) {
        p->factor *= r->cfg->training.decay;
        p->since_decay = 0;
    }
    return better;
}

/* Validates the average where there is one; saves what is best. */
static int validate(struct run *r)
{
    struct position *p = &r->position;
    struct validation_result v = { 0, -1 };
    double start = clock_seconds();
    bool best = true;
    p->validated = p->update;
    p->validations++;
    if (r->validation.nll) {
        learner_pause(&r->learner);
        validation_run(&r->validation, &v);
        learner_go_on(&r->learner);
        p->perplexity = v.perplexity;
        p->bleu = v.bleu;
        best = judge(r, &v);
        log_validation(&r->log, p, v.bleu, clock_seconds() - start, best);
    }
    return best ? run_save_best(r) : 0;
}

/* The end of training need not be a place where validation is due. It is
 * validated all the same, for best.npz; but the checkpoint is that of before,
 * so that a run with a higher limit goes on as if it had never ended here. */
static int finish(struct run *r)
{
    const struct position *p = &r->position;
    if (p->update == 0 || p->validated == p->update)
        return 0;
    return run_save_checkpoint(r) < 0 ? -1 : validate(r);
}

/* Training is one step after the other, each a function of the position. */
static int loop(struct run *r, const volatile sig_atomic_t *stop)
{
    int got = 0;
    while (got == 0 && !*stop) {
        if (validation_due(r))
            got = validate(r) < 0 ? -1 : run_save_checkpoint(r);
        else if (limit_reached(r))
            break;
        else if (epoch_done(r))
            next_epoch(r);
        else
            got = do_update(r);
    }
    if (got < 0)
        return -1;
    if (*stop)
        return run_save_checkpoint(r) < 0 ? -1 : 1;
    return finish(r);
}

static void say_begin(const struct run *r)
{
    const struct params *p = &r->model->params;
    size_t numbers = 0;
    for (int i = 0; i < p->count; i++)
        numbers += (size_t)p->list[i].rows * (size_t)p->list[i].cols;
    note("vocabularies of %d and %d, %zu parameters, %d threads, %s",
         r->source.size, r->target.size, numbers, workers_count(r->workers),
         gemm_library());
    if (r->position.update > 0)
        note("goes on from update %" PRIu64 " of '%s'%s", r->position.update,
             r->cfg->model.path,
             limit_reached(r) ? ", where it has already ended: raise its limit "
                                "(training.updates, …) for more"
                              : "");
}

static void say_end(const struct run *r, int got, double seconds)
{
    const struct position *p = &r->position;
    if (got == 1)
        note("stopped after update %" PRIu64 ", saved; the same command goes "
             "on from here",
             p->update);
    if (got == 0 && p->has_best)
        note("done: best %s %.4f at update %" PRIu64 " in '%s/best.npz'",
             r->metric->name, p->best, p->best_update, r->cfg->model.path);
    note("%.1f s, %.0f MiB for weights, gradients and graphs", seconds,
         (double)learner_bytes(&r->learner) / (1 << 20));
}

int trainer_run(const struct config *cfg, const struct trainer_options *options)
{
    struct run r;
    double start = clock_seconds();
    int got = run_init(&r, cfg, options->restart);
    if (got == 0) {
        say_begin(&r);
        if (options->profile)
            workers_start_profile(r.workers);
        got = loop(&r, options->stop);
        workers_print_profile(r.workers, stderr);
        if (run_finish(&r) < 0)
            got = -1;
        if (got >= 0)
            say_end(&r, got, clock_seconds() - start);
    }
    run_release(&r);
    return got;
}
