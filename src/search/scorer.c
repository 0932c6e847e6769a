#include "search/scorer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/workers.h"
#include "corpus/batch.h"
#include "model/model.h"

struct scorer {
    const struct model *model;
    struct workers *workers;
    struct graph *graph; // [workers]
};

struct job {
    struct scorer *scorer;
    const struct batches *batches;
    double *nll;
    float **weights; /* NULL: not wanted */
};

struct scorer *scorer_new(const struct model *model, struct workers *workers)
{
    struct scorer *s = xcalloc(1, sizeof(*s));
    s->model = model;
    s->workers = workers;
    ARRAY_ZERO(s->graph, (size_t)workers_count(workers));
    for (int w = 0; w < workers_count(workers); w++)
        graph_init(&s->graph[w]);
    return s;
}

void scorer_free(struct scorer *s)
{
    if (!s)
        return;
    for (int w = 0; w < workers_count(s->workers); w++)
        graph_release(&s->graph[w]);
    free(s->graph);
    free(s);
}

static int length(const struct side *s, int b)
{
    return s->start[b + 1] - s->start[b];
}

/* The weights of sentence b, which stand in its row of the nodes of its
 * steps: a batch's rows are sorted as the trace has them. */
static float *copy_weights(const struct model_trace *trace,
                           const struct batch *batch, int b)
{
    int S = length(&batch->source, b), T = length(&batch->target, b);
    float *weights = ARRAY_ZERO(weights, (size_t)S * (size_t)T);
    for (int t = 0; t < T; t++)
        if (trace->weights[t])
            memcpy(weights + (size_t)t * (size_t)S,
                   node_row(trace->weights[t], b),
                   (size_t)S * sizeof(*weights));
    return weights;
}

static void score_batch(void *arg, int task, int worker)
{
    struct job *job = arg;
    struct graph *g = &job->scorer->graph[worker];
    const struct model *model = job->scorer->model;
    struct batch batch;
    struct model_trace trace;
    graph_reset(g);
    g->profile = workers_profile(job->scorer->workers, worker);
    batches_get(job->batches, (size_t)task, 0, 1, &g->arena, &batch);
    int n = batch.source.sentences;
    double *nll = arena_array(&g->arena, (size_t)n, sizeof(*nll));
    model_bind(model, NULL, g);
    model_loss(model, g, &batch, 1, nll, job->weights ? &trace : NULL);
    for (int i = 0; i < n; i++)
        job->nll[batch.pair[i]] = nll[i];
    for (int i = 0; i < n && job->weights; i++)
        job->weights[batch.pair[i]] = copy_weights(&trace, &batch, i);
}

void scorer_align(struct scorer *s, const struct corpus *corpus, int mini_batch,
                  double *nll, float **weights)
{
    if (corpus->pairs == 0)
        return;
    struct batches *batches = batches_sequential(corpus, mini_batch);
    struct job job = { s, batches, nll, weights };
    workers_run(s->workers, (int)batches_count(batches), score_batch, &job);
    batches_free(batches);
}

void scorer_corpus(struct scorer *s, const struct corpus *corpus,
                   int mini_batch, double *nll)
{
    scorer_align(s, corpus, mini_batch, nll, NULL);
}

size_t scorer_peak(const struct scorer *s)
{
    size_t sum = 0;
    for (int w = 0; w < workers_count(s->workers); w++)
        sum += arena_peak(&s->graph[w].arena);
    return sum;
}
