#include "train/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/profile.h"
#include "base/report.h"
#include "base/workers.h"
#include "config/config.h"
#include "model/model.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

/* About this many floats are one task of the reduction and the update. */
enum { STRETCH = 1 << 16 };

/* Rows first … first + rows - 1 of a parameter. */
struct stretch {
    int param, first, rows;
};

static void cut_stretches(struct learner *l)
{
    const struct params *p = &l->model->params;
    size_t cap = 0;
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        int step = STRETCH / one->cols > 0 ? STRETCH / one->cols : 1;
        for (int r = 0; r < one->rows; r += step) {
            ARRAY_GROW(l->stretch, (size_t)l->stretches + 1, cap);
            int rows = one->rows - r < step ? one->rows - r : step;
            l->stretch[l->stretches++] = (struct stretch){ i, r, rows };
        }
    }
    ARRAY_ZERO(l->square_sum, (size_t)l->stretches);
}

static float *new_block(const struct params *p)
{
    float *block = xaligned(array_bytes(p->size, sizeof(float)));
    vec_zero(block, p->size);
    return block;
}

int learner_init(struct learner *l, struct model *model,
                 struct workers *workers, const struct config *cfg)
{
    *l = (struct learner){ .model = model,
                           .workers = workers,
                           .cfg = cfg,
                           .shards = cfg->training.shards };
    l->optimizer = optimizer_named(cfg);
    int precision = config_name(cfg, "training.precision", precision_names,
                                PRECISION_INT8);
    if (!l->optimizer || precision < 0)
        return -1;
    l->precision = (enum precision)precision;
    if (packed_missing(l->precision))
        return config_error(cfg, "training.precision",
                            "no fast products in '%s': %s; take 'fp32'",
                            cfg->training.precision,
                            packed_missing(l->precision));
    for (int s = 0; s < l->optimizer->slots; s++)
        l->slot[s] = new_block(&model->params);
    if (cfg->training.average > 0) {
        l->average = new_block(&model->params);
        vec_copy(l->average, model->params.values, model->params.size);
    }
    ARRAY_ZERO(l->gradients, (size_t)l->shards);
    for (int s = 0; s < l->shards; s++)
        gradients_init(&l->gradients[s], &model->params);
    int threads = workers_count(workers);
    l->wave = threads < l->shards ? threads : l->shards;
    ARRAY_ZERO(l->noted, (size_t)model->params.count);
    l->order = params_by_size(&model->params);
    ARRAY_ZERO(l->graph, (size_t)l->wave);
    ARRAY_ZERO(l->tool, (size_t)threads);
    for (int k = 0; k < l->wave; k++)
        graph_init(&l->graph[k]);
    for (int w = 0; w < threads; w++)
        graph_init(&l->tool[w]);
    cut_stretches(l);
    model_train_in(model, l->precision);
    return 0;
}

static size_t graph_bytes(const struct learner *l)
{
    size_t sum = 0;
    for (int k = 0; l->graph && k < l->wave; k++)
        sum += arena_peak(&l->graph[k].arena);
    return sum;
}

/* Released graphs can be used again. */
static void release_graphs(struct learner *l)
{
    size_t bytes = graph_bytes(l);
    l->graph_bytes = bytes > l->graph_bytes ? bytes : l->graph_bytes;
    for (int k = 0; l->graph && k < l->wave; k++)
        graph_release(&l->graph[k]);
    for (int w = 0; l->tool && w < workers_count(l->workers); w++)
        graph_release(&l->tool[w]);
}

void learner_release(struct learner *l)
{
    for (int s = 0; l->gradients && s < l->shards; s++)
        gradients_release(&l->gradients[s], &l->model->params);
    release_graphs(l);
    for (int s = 0; s < OPTIMIZER_SLOTS; s++)
        free(l->slot[s]);
    free(l->average);
    free(l->gradients);
    free(l->noted);
    free(l->order);
    free(l->graph);
    free(l->tool);
    free(l->stretch);
    free(l->square_sum);
    memset(l, 0, sizeof(*l));
}

struct shard_result {
    struct loss loss;
    long sentences, source_tokens, target_tokens;
};

/* One update on its way. */
struct job {
    struct learner *l;
    const struct batches *batches;
    size_t batch;
    uint64_t number;
    float scale;
    struct shard_result *shard; // [shards]
    int first;                  /* shard of this wave */
    bool *written;              // [parameters]: a sum of products was begun
    struct update update;
    float average; /* share of the new weights */
};

/* The parameter of a task: the largest come first. */
static int number_of(const struct learner *l, int task)
{
    return (int)(l->order[task] - l->model->params.list);
}

/* The weights as they now stand, ready for products. */
static void prepare_weights(void *arg, int task, int worker)
{
    struct job *job = arg;
    profile_enter(workers_profile(job->l->workers, worker), "prepare weights",
                  PROFILE_FORWARD);
    model_prepare_training(job->l->model, number_of(job->l, task));
}

/* What the output layer is to write. */
static void mark_blank(const struct learner *l, struct graph *g)
{
    for (int i = 0; i < l->model->params.count; i++)
        g->leaf[i]->blank = l->model->params.list[i].output;
}

/* A gradient that nobody has written is zero. */
static void clear_blank(const struct learner *l, struct gradients *grads,
                        const struct graph *g)
{
    const struct params *p = &l->model->params;
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        if (one->output && (!g->leaf || g->leaf[i]->blank))
            vec_zero(grads->values + one->offset, param_size(one));
    }
}

/* batch -> loss -> back through the tape */
static void run_shard(void *arg, int task, int worker)
{
    struct job *job = arg;
    struct learner *l = job->l;
    struct graph *g = &l->graph[task];
    int shard = job->first + task;
    struct shard_result *out = &job->shard[shard];
    struct batch batch;
    graph_reset(g);
    g->profile = workers_profile(l->workers, worker);
    profile_enter(g->profile, "batch", PROFILE_FORWARD);
    batches_get(job->batches, job->batch, shard, l->shards, &g->arena, &batch);
    memset(out, 0, sizeof(*out));
    if (batch.source.sentences == 0) {
        clear_blank(l, &l->gradients[shard], g);
        return;
    }
    g->seed = (uint64_t)l->cfg->training.seed;
    g->update = job->number;
    g->part = (uint32_t)shard;
    model_bind(l->model, &l->gradients[shard], g);
    mark_blank(l, g);
    out->loss = model_loss(l->model, g, &batch, job->scale, NULL, NULL);
    out->sentences = batch.source.sentences;
    out->source_tokens = batch.source.tokens;
    out->target_tokens = batch.target.tokens;
    graph_backward_tape(g);
    clear_blank(l, &l->gradients[shard], g);
}

/* The gradient of a weight that linear() or lookup() reads, shard after shard,
 * in the block of the first. */
static void sum_notes(void *arg, int task, int worker)
{
    struct job *job = arg;
    struct learner *l = job->l;
    int param = number_of(l, task);
    struct graph *tool = &l->tool[worker];
    float *dw = l->gradients[0].values + l->model->params.list[param].offset;
    tool->profile = workers_profile(l->workers, worker);
    for (int k = 0; k < l->wave && job->first + k < l->shards; k++) {
        struct node *const *leaf = l->graph[k].leaf; /* NULL: an empty shard */
        if (!leaf || !leaf[param]->products)
            continue;
        if (node_is_looked_up(leaf[param])) {
            graph_lookup_gradient(tool, leaf[param], dw,
                                  l->gradients[0].touched[param]);
            continue;
        }
        graph_weight_gradient(tool, leaf[param], job->written[param], dw);
        job->written[param] = true;
    }
}

static void run_shards(struct job *job)
{
    struct learner *l = job->l;
    const struct params *p = &l->model->params;
    bool *written = ARRAY_ZERO(written, (size_t)p->count);
    job->written = written;
    for (job->first = 0; job->first < l->shards; job->first += l->wave) {
        int left = l->shards - job->first;
        workers_run(l->workers, left < l->wave ? left : l->wave, run_shard,
                    job);
        workers_run(l->workers, p->count, sum_notes, job);
    }
    for (int i = 0; i < p->count; i++) {
        const struct param *one = &p->list[i];
        if (l->noted[i] && !written[i])
            vec_zero(l->gradients[0].values + one->offset, param_size(one));
        l->noted[i] = written[i];
    }
    free(written);
}

/* Whether every shard has a part of this gradient. */
static bool is_scattered(const struct learner *l, int param)
{
    return !l->noted[param] && !l->model->params.list[param].table;
}

/* Whether the next update writes this gradient, instead of adding to it. */
static bool is_overwritten(const struct learner *l, int param)
{
    return l->noted[param] || l->model->params.list[param].output;
}

/* The gradient row of the first shard gets the sum over all of them. */
static void add_shards(const struct learner *l, size_t offset, size_t n)
{
    for (int step = 1; step < l->shards; step *= 2)
        for (int s = 0; s + step < l->shards; s += 2 * step)
            vec_add(l->gradients[s].values + offset,
                    l->gradients[s + step].values + offset, n);
}

/* Calls fn for the runs of floats in a stretch that have a gradient. */
typedef double run_fn(struct job *job, int param, size_t offset, size_t n);

static double each_run(struct job *job, int number, run_fn *fn)
{
    const struct learner *l = job->l;
    const struct stretch *s = &l->stretch[number];
    const struct param *p = &l->model->params.list[s->param];
    size_t cols = (size_t)p->cols;
    if (!p->table)
        return fn(job, s->param, p->offset + (size_t)s->first * cols,
                  (size_t)s->rows * cols);
    double sum = 0;
    for (int r = s->first; r < s->first + s->rows; r++)
        if (l->gradients[0].touched[s->param][r])
            sum += fn(job, s->param, p->offset + (size_t)r * cols, cols);
    return sum;
}

static double reduce_run(struct job *job, int param, size_t offset, size_t n)
{
    if (is_scattered(job->l, param))
        add_shards(job->l, offset, n);
    return vec_square_sum(job->l->gradients[0].values + offset, n);
}

static void reduce_stretch(void *arg, int number, int worker)
{
    struct job *job = arg;
    profile_enter(workers_profile(job->l->workers, worker),
                  "add gradients, norm", PROFILE_BACKWARD);
    job->l->square_sum[number] = each_run(job, number, reduce_run);
}

static double update_run(struct job *job, int param, size_t offset, size_t n)
{
    struct learner *l = job->l;
    float *s0 = l->slot[0] ? l->slot[0] + offset : NULL;
    float *s1 = l->slot[1] ? l->slot[1] + offset : NULL;
    l->optimizer->apply(&job->update, n, l->model->params.values + offset,
                        l->gradients[0].values + offset, s0, s1);
    int blocks = is_scattered(l, param) ? l->shards : 1;
    for (int s = 0; s < blocks && !is_overwritten(l, param); s++)
        vec_zero(l->gradients[s].values + offset, n);
    return 0;
}

/* average += share (w - average) */
KERNEL static void mix_average(float *restrict average, const float *restrict w,
                               float share, size_t n)
{
    for (size_t i = 0; i < n; i++)
        average[i] = fma32(share, w[i] - average[i], average[i]);
}

static void update_stretch(void *arg, int number, int worker)
{
    struct job *job = arg;
    struct learner *l = job->l;
    const struct stretch *s = &l->stretch[number];
    const struct param *p = &l->model->params.list[s->param];
    profile_enter(workers_profile(l->workers, worker), "optimizer",
                  PROFILE_BACKWARD);
    each_run(job, number, update_run);
    if (p->table)
        memset(l->gradients[0].touched[s->param] + s->first, 0,
               (size_t)s->rows);
    size_t offset = p->offset + (size_t)s->first * (size_t)p->cols;
    if (l->average)
        mix_average(l->average + offset, l->model->params.values + offset,
                    job->average, (size_t)s->rows * (size_t)p->cols);
}

/* Gradients that are not wanted after all. */
static void drop_gradients(struct learner *l)
{
    const struct params *p = &l->model->params;
    memset(l->noted, 0, (size_t)p->count * sizeof(*l->noted));
    for (int s = 0; s < l->shards; s++) {
        vec_zero(l->gradients[s].values, p->size);
        for (int i = 0; i < p->count; i++)
            if (p->list[i].table)
                memset(l->gradients[s].touched[i], 0, (size_t)p->list[i].rows);
    }
}

static void sum_shards(const struct job *job, struct update_result *out)
{
    memset(out, 0, sizeof(*out));
    for (int s = 0; s < job->l->shards; s++) {
        out->loss.smoothed += job->shard[s].loss.smoothed;
        out->loss.nll += job->shard[s].loss.nll;
        out->sentences += job->shard[s].sentences;
        out->source_tokens += job->shard[s].source_tokens;
        out->target_tokens += job->shard[s].target_tokens;
    }
}

static int check(const struct learner *l, uint64_t update, const char *what,
                 double value)
{
    if (isfinite(value))
        return 0;
    return failure("update %llu: the %s is %s; nothing was saved over the "
                   "last good checkpoint; a smaller training.learning_rate "
                   "(now %g) or training.clip_norm helps",
                   (unsigned long long)update, what,
                   isnan(value) ? "not a number" : "infinite",
                   l->cfg->training.learning_rate);
}

/* What the summed loss is divided by, known before the first product. */
static float loss_scale(const struct learner *l, const struct batches *batches,
                        size_t i)
{
    bool sentences = strcmp(l->cfg->training.normalization, "sentences") == 0;
    double n = sentences ? batches_sentences(batches, i)
                         : (double)batches_target_tokens(batches, i);
    return (float)(1.0 / n);
}

/* Share of the new weights in the average: early ones count for little. */
static float average_share(const struct learner *l, uint64_t update)
{
    double decay = l->cfg->training.average;
    double ramp = ((double)update + 1) / ((double)update + 10);
    return (float)(1 - (decay < ramp ? decay : ramp));
}

int learner_update(struct learner *l, const struct batches *batches, size_t i,
                   uint64_t update, double rate, struct update_result *result)
{
    struct shard_result shard[64];
    struct job job = { .l = l,
                       .batches = batches,
                       .batch = i,
                       .number = update,
                       .shard = shard,
                       .scale = loss_scale(l, batches, i),
                       .average = average_share(l, update) };
    workers_run(l->workers, l->model->training.count, prepare_weights, &job);
    run_shards(&job);
    sum_shards(&job, result);
    workers_run(l->workers, l->stretches, reduce_stretch, &job);
    double sum = 0;
    for (int s = 0; s < l->stretches; s++)
        sum += l->square_sum[s];
    result->gradient_norm = sqrt(sum);
    if (check(l, update, "loss", result->loss.nll) < 0 ||
        check(l, update, "norm of the gradient", result->gradient_norm) < 0) {
        drop_gradients(l);
        return -1;
    }
    job.update = optimizer_update(l->cfg, (double)update, rate);
    double clip = l->cfg->training.clip_norm;
    if (clip > 0 && result->gradient_norm > clip)
        job.update.gradient = (float)(clip / result->gradient_norm);
    workers_run(l->workers, l->stretches, update_stretch, &job);
    return 0;
}

int learner_check_weights(const struct learner *l, uint64_t update)
{
    const struct params *p = &l->model->params;
    return check(l, update, "weights' sum of squares",
                 vec_square_sum(p->values, p->size));
}

static void swap_average(struct learner *l)
{
    if (!l->average)
        return;
    float *swap = l->average;
    l->average = l->model->params.values;
    l->model->params.values = swap;
}

void learner_pause(struct learner *l)
{
    release_graphs(l);
    model_stop_training(l->model);
    swap_average(l);
    model_prepare(l->model, PRECISION_FP32);
}

void learner_go_on(struct learner *l)
{
    swap_average(l);
    model_unprepare(l->model);
    model_train_in(l->model, l->precision);
}

/* Of the blocks of all shards but the first only what they add to exists. */
static size_t gradient_floats(const struct learner *l)
{
    const struct params *p = &l->model->params;
    size_t scattered = 0;
    for (int i = 0; i < p->count; i++)
        if (is_scattered(l, i))
            scattered += param_size(&p->list[i]);
    return p->size + (size_t)(l->shards - 1) * scattered;
}

size_t learner_bytes(const struct learner *l)
{
    size_t blocks = 1 + (size_t)l->optimizer->slots + (l->average != NULL);
    size_t floats = blocks * l->model->params.size + gradient_floats(l);
    size_t graphs = graph_bytes(l);
    return floats * sizeof(float) + prepared_bytes(&l->model->training) +
           (graphs > l->graph_bytes ? graphs : l->graph_bytes);
}
