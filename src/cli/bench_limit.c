#include "cli/bench_limit.h"

#include <sched.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/workers.h"
#include "tensor/gemm.h"
#include "tensor/vec.h"

struct contest {
    const struct limit_question *question;
    int threads;
    int ready;
    double *begin, *finish; // [threads]
    long *products;         // [threads]
};

static float *operand(int rows, int cols, float value)
{
    size_t n = (size_t)rows * (size_t)cols;
    float *x = xaligned(array_bytes(n, sizeof(*x)));
    for (size_t i = 0; i < n; i++)
        x[i] = value;
    return x;
}

/* Holds the thread until all are here: so each of them has one task. */
static void wait_for_all(struct contest *c)
{
    __atomic_fetch_add(&c->ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&c->ready, __ATOMIC_SEQ_CST) < c->threads)
        sched_yield();
}

static void multiply(void *arg, int task, int worker)
{
    struct contest *c = arg;
    const struct limit_question *q = c->question;
    float *x = operand(q->m, q->k, 0.5f), *w = operand(q->k, q->n, 0.25f),
          *y = operand(q->m, q->n, 0);
    (void)worker;
    gemm_nn(q->m, q->n, q->k, x, w, false, y);
    wait_for_all(c);
    double now = c->begin[task] = clock_seconds();
    while (now - c->begin[task] < q->seconds) {
        gemm_nn(q->m, q->n, q->k, x, w, false, y);
        c->products[task]++;
        now = clock_seconds();
    }
    c->finish[task] = now;
    free(x);
    free(w);
    free(y);
}

/* All products, in the time from the first beginning to the last end. */
static double gflops(const struct contest *c)
{
    const struct limit_question *q = c->question;
    double begin = c->begin[0], finish = c->finish[0], products = 0;
    for (int t = 0; t < c->threads; t++) {
        begin = c->begin[t] < begin ? c->begin[t] : begin;
        finish = c->finish[t] > finish ? c->finish[t] : finish;
        products += (double)c->products[t];
    }
    return products * 2e-9 * q->m * q->n * q->k / (finish - begin);
}

static int measure(void *state, const void *question, void *answer)
{
    struct contest c = { .question = question };
    struct limit_answer *out = answer;
    (void)state;
    struct workers *workers = workers_new(c.question->threads,
                                          gemm_thread_init);
    c.threads = workers_count(workers);
    ARRAY_ZERO(c.begin, (size_t)c.threads);
    ARRAY_ZERO(c.finish, (size_t)c.threads);
    ARRAY_ZERO(c.products, (size_t)c.threads);
    workers_run(workers, c.threads, multiply, &c);
    out->gflops = gflops(&c);
    free(c.begin);
    free(c.finish);
    free(c.products);
    workers_free(workers);
    return 0;
}

/* Nothing to prepare; the address stands for success. */
static void *start(const void *setup)
{
    static char nothing;
    (void)setup;
    return &nothing;
}

const struct probe_kind limit_probe = { sizeof(struct limit_question),
                                        sizeof(struct limit_answer), start,
                                        measure };
