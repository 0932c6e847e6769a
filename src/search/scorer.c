#include "search/scorer.h"

#include <stdlib.h>

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

static void score_batch(void *arg, int task, int worker)
{
    struct job *job = arg;
    struct graph *g = &job->scorer->graph[worker];
    const struct model *model = job->scorer->model;
    struct batch batch;
    graph_reset(g);
    batches_get(job->batches, (size_t)task, 0, 1, &g->arena, &batch);
    int n = batch.source.sentences;
    double *nll = arena_array(&g->arena, (size_t)n, sizeof(*nll));
    model_bind(model, NULL, g);
    model_loss(model, g, &batch, 1, nll, NULL);
    for (int i = 0; i < n; i++)
        job->nll[batch.pair[i]] = nll[i];
}

void scorer_corpus(struct scorer *s, const struct corpus *corpus,
                   int mini_batch, double *nll)
{
    if (corpus->pairs == 0)
        return;
    struct batches *batches = batches_sequential(corpus, mini_batch);
    struct job job = { s, batches, nll };
    workers_run(s->workers, (int)batches_count(batches), score_batch, &job);
    batches_free(batches);
}

size_t scorer_peak(const struct scorer *s)
{
    size_t sum = 0;
    for (int w = 0; w < workers_count(s->workers); w++)
        sum += arena_peak(&s->graph[w].arena);
    return sum;
}
