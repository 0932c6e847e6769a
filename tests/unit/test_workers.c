/* Worker threads: each task once, whatever the number of threads. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/workers.h"

struct job {
    int *runs; /* of each task */
    int worker_limit;
    int *in_use; /* of each worker: is a task running? */
    int faults;
    pthread_t caller;
    int in_caller;
};

static void run_task(void *arg, int task, int worker)
{
    struct job *job = arg;
    if (worker < 0 || worker >= job->worker_limit ||
        __atomic_exchange_n(&job->in_use[worker], 1, __ATOMIC_SEQ_CST) != 0)
        __atomic_add_fetch(&job->faults, 1, __ATOMIC_SEQ_CST);
    if ((worker == 0) != (pthread_equal(pthread_self(), job->caller) != 0))
        __atomic_add_fetch(&job->faults, 1, __ATOMIC_SEQ_CST);
    job->runs[task]++; /* plain: a task belongs to one worker */
    __atomic_store_n(&job->in_use[worker], 0, __ATOMIC_SEQ_CST);
}

static void check_rounds(int threads, int tasks, int rounds)
{
    struct workers *w = workers_new(threads, NULL);
    struct job job = { .worker_limit = threads, .caller = pthread_self() };
    assert_int_equal(workers_count(w), threads);
    ARRAY_ZERO(job.runs, (size_t)tasks);
    ARRAY_ZERO(job.in_use, (size_t)threads);
    for (int round = 1; round <= rounds; round++) {
        workers_run(w, tasks, run_task, &job);
        for (int i = 0; i < tasks; i++)
            assert_int_equal(job.runs[i], round);
    }
    assert_int_equal(job.faults, 0);
    workers_free(w);
    free(job.runs);
    free(job.in_use);
}

static void test_each_task_once(void **state)
{
    static const int threads[] = { 1, 2, 3, 8 }, tasks[] = { 0, 1, 2, 7, 500 };
    (void)state;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 5; k++)
            check_rounds(threads[i], tasks[k], 40);
}

static void test_many_short_rounds(void **state)
{
    (void)state;
    check_rounds(4, 3, 5000);
}

static void note_order(void *arg, int task, int worker)
{
    int *next = arg;
    assert_int_equal(worker, 0);
    assert_int_equal(task, (*next)++);
}

static void test_one_thread_runs_in_order(void **state)
{
    struct workers *w = workers_new(1, NULL);
    int next = 0;
    (void)state;
    workers_run(w, 100, note_order, &next);
    assert_int_equal(next, 100);
    workers_free(w);
}

/* ---- start ------------------------------------------------------------------ */

static int starts;
static _Thread_local int started_here;

static void start(void)
{
    __atomic_add_fetch(&starts, 1, __ATOMIC_SEQ_CST);
    started_here++;
}

static void check_started(void *arg, int task, int worker)
{
    (void)task;
    (void)worker;
    if (started_here != 1)
        __atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static void test_start_once_in_each(void **state)
{
    int faults = 0;
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        starts = 0;
        started_here = 0;
        struct workers *w = workers_new(threads, start);
        for (int i = 0; i < 50; i++)
            workers_run(w, 20, check_started, &faults);
        workers_free(w);
        assert_int_equal(starts, threads);
    }
    assert_int_equal(faults, 0);
}

/* ---- the work is shared ------------------------------------------------------- */

/* Each task waits until all four are running, which needs four threads. */
static void meet(void *arg, int task, int worker)
{
    (void)task;
    (void)worker;
    pthread_barrier_wait(arg);
}

static void test_tasks_run_at_once(void **state)
{
    struct workers *w = workers_new(4, NULL);
    pthread_barrier_t barrier;
    (void)state;
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 20; i++)
        workers_run(w, 4, meet, &barrier);
    pthread_barrier_destroy(&barrier);
    workers_free(w);
}

static void look_at_mask(void *arg, int task, int worker)
{
    sigset_t mask;
    (void)task;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ((int *)arg)[worker] = sigismember(&mask, SIGINT);
    sched_yield();
}

static void test_signals_go_to_the_caller(void **state)
{
    struct workers *w = workers_new(2, NULL);
    int blocked[2] = { -1, -1 };
    (void)state;
    for (int i = 0; i < 10000 && (blocked[0] < 0 || blocked[1] < 0); i++)
        workers_run(w, 8, look_at_mask, blocked);
    assert_int_equal(blocked[0], 0);
    assert_int_equal(blocked[1], 1);
    workers_free(w);
}

static void test_as_many_as_processors(void **state)
{
    struct workers *w = workers_new(0, NULL);
    (void)state;
    assert_in_range(workers_count(w), 1, WORKERS_LIMIT);
#ifdef __linux__
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(workers_count(w), CPU_COUNT(&set));
#endif
    workers_free(w);
    workers_free(NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_task_once),
        cmocka_unit_test(test_many_short_rounds),
        cmocka_unit_test(test_one_thread_runs_in_order),
        cmocka_unit_test(test_start_once_in_each),
        cmocka_unit_test(test_tasks_run_at_once),
        cmocka_unit_test(test_signals_go_to_the_caller),
        cmocka_unit_test(test_as_many_as_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
