#include "search/window.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/workers.h"

/* The beams are the workers'; what is kept is each task's own, so that it does
 * not matter which worker did it. */
struct window {
    struct workers *workers;
    struct beam **beam;    /* [workers] */
    struct arena *scratch; /* [workers] */
    struct arena *kept;    /* [tasks] */
    size_t kept_count;
    int *order; /* sentences by falling length */
    size_t order_cap;
};

struct job {
    struct window *window;
    const struct window_sentence *sentences;
    const struct beam_config *config;
    struct window_result *results;
    int n, batch; /* sentences to search, of a batch */
};

struct window *window_new(const struct model *model, struct workers *workers)
{
    struct window *w = xcalloc(1, sizeof(*w));
    w->workers = workers;
    size_t n = (size_t)workers_count(workers);
    ARRAY_ZERO(w->beam, n);
    ARRAY_ZERO(w->scratch, n);
    for (size_t i = 0; i < n; i++)
        w->beam[i] = beam_new(model);
    return w;
}

void window_free(struct window *w)
{
    if (!w)
        return;
    for (int i = 0; i < workers_count(w->workers); i++) {
        beam_free(w->beam[i]);
        arena_release(&w->scratch[i]);
    }
    for (size_t i = 0; i < w->kept_count; i++)
        arena_release(&w->kept[i]);
    free(w->beam);
    free(w->scratch);
    free(w->kept);
    free(w->order);
    free(w);
}

/* Copies what the beam's next search would overwrite. */
static void keep(struct window_result *to, const struct beam_result *from,
                 int sources, struct arena *arena)
{
    size_t n = (size_t)from->count;
    to->count = from->count;
    to->best = arena_array(arena, n, sizeof(*to->best));
    for (size_t k = 0; k < n; k++) {
        struct hypothesis *h = &to->best[k];
        *h = from->best[k];
        size_t len = (size_t)h->len, rows = len + h->ended;
        int *ids = arena_array(arena, len, sizeof(*ids));
        if (len > 0)
            memcpy(ids, h->ids, len * sizeof(*ids));
        h->ids = ids;
        if (!h->weights)
            continue;
        const float **weights = arena_array(arena, rows, sizeof(*weights));
        for (size_t t = 0; t < rows; t++) {
            float *row = arena_array(arena, (size_t)sources, sizeof(*row));
            memcpy(row, h->weights[t], (size_t)sources * sizeof(*row));
            weights[t] = row;
        }
        h->weights = weights;
    }
}

static void search_batch(void *arg, int task, int worker)
{
    struct job *job = arg;
    struct window *w = job->window;
    int first = task * job->batch;
    int n = job->n - first < job->batch ? job->n - first : job->batch;
    const int *order = w->order + first;
    struct arena *scratch = &w->scratch[worker];
    arena_reset(scratch);
    const int **ids = arena_array(scratch, (size_t)n, sizeof(*ids));
    int *lengths = arena_array(scratch, (size_t)n, sizeof(*lengths));
    struct beam_result *found = arena_array(scratch, (size_t)n, sizeof(*found));
    for (int i = 0; i < n; i++) {
        ids[i] = job->sentences[order[i]].ids;
        lengths[i] = job->sentences[order[i]].len;
    }
    struct side side;
    side_gather(&side, scratch, ids, lengths, n);
    beam_set_profile(w->beam[worker], workers_profile(w->workers, worker));
    beam_search(w->beam[worker], &side, job->config, found);
    for (int i = 0; i < n; i++)
        keep(&job->results[order[i]], &found[i], lengths[i], &w->kept[task]);
}

/* Falling length, equal ones as they came; empty ones are left out. */
static int sort_by_length(int *order, const struct window_sentence *sentences,
                          int n)
{
    int longest = 0, searched = 0;
    for (int i = 0; i < n; i++)
        longest = sentences[i].len > longest ? sentences[i].len : longest;
    int *place = ARRAY_ZERO(place, (size_t)longest + 2);
    for (int i = 0; i < n; i++)
        place[longest - sentences[i].len + 1]++;
    for (int l = 0; l <= longest; l++)
        place[l + 1] += place[l];
    for (int i = 0; i < n; i++) {
        order[place[longest - sentences[i].len]++] = i;
        searched += sentences[i].len > 0;
    }
    free(place);
    return searched;
}

static void need_tasks(struct window *w, size_t tasks)
{
    if (tasks > w->kept_count) {
        w->kept = xrealloc(w->kept, array_bytes(tasks, sizeof(*w->kept)));
        for (; w->kept_count < tasks; w->kept_count++)
            arena_init(&w->kept[w->kept_count]);
    }
    for (size_t i = 0; i < w->kept_count; i++)
        arena_reset(&w->kept[i]);
}

void window_search(struct window *w, const struct window_sentence *sentences,
                   int n, int batch, const struct beam_config *config,
                   struct window_result *results)
{
    ARRAY_GROW(w->order, (size_t)n, w->order_cap);
    struct job job = { w, sentences, config, results, 0, batch };
    memset(results, 0, (size_t)n * sizeof(*results));
    job.n = sort_by_length(w->order, sentences, n);
    int tasks = (job.n + batch - 1) / batch;
    need_tasks(w, (size_t)tasks);
    workers_run(w->workers, tasks, search_batch, &job);
}

size_t window_peak(const struct window *w)
{
    size_t sum = 0;
    for (int i = 0; i < workers_count(w->workers); i++)
        sum += beam_peak(w->beam[i]) + arena_capacity(&w->scratch[i]);
    for (size_t i = 0; i < w->kept_count; i++)
        sum += arena_capacity(&w->kept[i]);
    return sum;
}
