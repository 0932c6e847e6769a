#include "base/workers.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/profile.h"
#include "base/report.h"

struct worker {
    struct workers *all;
    int number;
    pthread_t thread;
    struct profile *profile; /* NULL: no times are taken */
};

struct workers {
    int count; /* the caller included */
    struct worker *worker;
    workers_start_fn *start;
    double profiled_since;

    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    /* below the mutex */
    unsigned long round; /* how many times workers_run() has begun */
    int busy;            /* threads that have not finished this round */
    bool quit;
    workers_task_fn *fn;
    void *arg;
    int tasks;

    int next; /* task, taken atomically */
};

static int processors_online(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1)
        return 1;
    return n < WORKERS_LIMIT ? (int)n : WORKERS_LIMIT;
}

#ifdef __linux__
/* Those this process may use. */
static int processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return processors_online();
}
#else
static int processors(void)
{
    return processors_online();
}
#endif

static void run_tasks(struct workers *w, int number)
{
    for (;;) {
        int task = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
        if (task >= w->tasks)
            return;
        w->fn(w->arg, task, number);
        profile_leave(w->worker[number].profile);
    }
}

/* Waits for a round after `last`; its number, or 0 when there is none to come. */
static unsigned long await_round(struct workers *w, unsigned long last)
{
    pthread_mutex_lock(&w->mutex);
    while (w->round == last && !w->quit)
        pthread_cond_wait(&w->work, &w->mutex);
    unsigned long round = w->quit ? 0 : w->round;
    pthread_mutex_unlock(&w->mutex);
    return round;
}

static void *worker_main(void *arg)
{
    struct worker *self = arg;
    struct workers *w = self->all;
    unsigned long round = 0;

    if (w->start != NULL)
        w->start();
    for (;;) {
        round = await_round(w, round);
        if (round == 0)
            return NULL;
        run_tasks(w, self->number);
        pthread_mutex_lock(&w->mutex);
        if (--w->busy == 0)
            pthread_cond_signal(&w->done);
        pthread_mutex_unlock(&w->mutex);
    }
}

/* Starts the threads 1 … count-1 with all signals blocked. */
static void start_threads(struct workers *w, int count)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (w->count = 1; w->count < count; w->count++) {
        struct worker *worker = &w->worker[w->count];
        *worker = (struct worker){ .all = w, .number = w->count };
        int err = pthread_create(&worker->thread, NULL, worker_main, worker);
        if (err != 0) {
            warn("only %d of %d threads could be started: %s", w->count, count,
                 strerror(err));
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

struct workers *workers_new(int threads, workers_start_fn *start)
{
    assert(threads >= 0 && threads <= WORKERS_LIMIT);
    int count = threads > 0 ? threads : processors();
    if (count > WORKERS_LIMIT)
        count = WORKERS_LIMIT;

    struct workers *w = xcalloc(1, sizeof *w);
    ARRAY_ZERO(w->worker, (size_t)count);
    w->start = start;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->work, NULL);
    pthread_cond_init(&w->done, NULL);
    if (start != NULL)
        start();
    start_threads(w, count);
    return w;
}

int workers_count(const struct workers *w)
{
    return w->count;
}

static void begin_round(struct workers *w)
{
    pthread_mutex_lock(&w->mutex);
    w->round++;
    w->busy = w->count - 1;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->mutex);
}

static void end_round(struct workers *w)
{
    pthread_mutex_lock(&w->mutex);
    while (w->busy > 0)
        pthread_cond_wait(&w->done, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}

void workers_run(struct workers *w, int tasks, workers_task_fn *fn, void *arg)
{
    assert(tasks >= 0 && w->busy == 0);
    w->fn = fn; /* the others sleep: nobody reads these now */
    w->arg = arg;
    w->tasks = tasks;
    w->next = 0;
    if (w->count > 1 && tasks > 1) {
        begin_round(w);
        run_tasks(w, 0);
        end_round(w);
    } else {
        run_tasks(w, 0);
    }
}

void workers_start_profile(struct workers *w)
{
    for (int i = 0; i < w->count; i++)
        w->worker[i].profile = profile_new();
    w->profiled_since = clock_seconds();
}

struct profile *workers_profile(const struct workers *w, int worker)
{
    return w->worker[worker].profile;
}

void workers_print_profile(const struct workers *w, FILE *out)
{
    if (!w->worker[0].profile)
        return;
    double seconds = clock_seconds() - w->profiled_since;
    struct profile *sum = profile_new();
    for (int i = 0; i < w->count; i++)
        profile_add(sum, w->worker[i].profile);
    profile_print(sum, seconds * w->count, out);
    profile_free(sum);
}

void workers_free(struct workers *w)
{
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->mutex);
    w->quit = true;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->mutex);
    for (int i = 1; i < w->count; i++)
        pthread_join(w->worker[i].thread, NULL);
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->done);
    for (int i = 0; i < w->count; i++)
        profile_free(w->worker[i].profile);
    free(w->worker);
    free(w);
}
