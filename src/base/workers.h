/* Worker threads that run tasks 0 … n-1.
 *
 *     struct workers *w = workers_new(threads, start);
 *     workers_run(w, shards, forward_backward, &job);
 *     workers_free(w);
 *
 * Which worker runs which task is open, so results must not depend on it: a
 * task writes only to what belongs to the task, and uses what belongs to the
 * worker (an arena) as a tool. The calling thread is worker 0 and works too.
 * Worker threads have all signals blocked: handlers run in the caller. */
#ifndef ATTN_BASE_WORKERS_H
#define ATTN_BASE_WORKERS_H

#include <stdio.h>

struct profile;

typedef void workers_task_fn(void *arg, int task, int worker);
typedef void workers_start_fn(void);

struct workers;

#define WORKERS_LIMIT 256

/* `threads` in all (1 … WORKERS_LIMIT; 0: one for each processor this process
 * may use). `start`, if not NULL, is called once in each of the threads, the
 * caller's included, before its first task. When the system gives fewer
 * threads, that is warned about and those do the work. */
struct workers *workers_new(int threads, workers_start_fn *start);

/* How many threads there are; the worker numbers are below this. */
int workers_count(const struct workers *w);

/* Runs each task once and returns when all are done; what the tasks wrote is
 * then visible to the caller. With one thread the tasks run in order in the
 * caller. Not from within a task, and by one thread at a time. */
void workers_run(struct workers *w, int tasks, workers_task_fn *fn, void *arg);

/* Starts to take times (base/profile.h); before the first workers_run(). */
void workers_start_profile(struct workers *w);

/* The profile of a worker, for the tasks it runs; NULL: no times are taken. */
struct profile *workers_profile(const struct workers *w, int worker);

/* Prints the times of all workers since workers_start_profile(), if that was
 * called. */
void workers_print_profile(const struct workers *w, FILE *out);

void workers_free(struct workers *w);

#endif
