#include "cli/probe_limit.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/workers.h"
#include "tensor/gemm.h"
#include "tensor/packed.h"
#include "tensor/vec.h"

struct contest {
    const struct limit_question *question;
    int threads;
    int ready;
    double *begin, *finish; // [threads]
    long *times;            // [threads]
};

/* What one thread works with. */
struct operands {
    size_t len; /* of the vectors */
    float *x, *w, *y;
    struct packed *packed; /* w, where that is not sgemm's */
    struct multiplier *multiplier;
};

static float *operand(size_t n, float value)
{
    float *x = xaligned(array_bytes(n, sizeof(*x)));
    for (size_t i = 0; i < n; i++)
        x[i] = value;
    return x;
}

static size_t area(int rows, int cols)
{
    return (size_t)rows * (size_t)cols;
}

static void operands_init(struct operands *o, const struct limit_question *q)
{
    *o = (struct operands){ .len = q->bytes / 2 / sizeof(float) };
    o->x = operand(q->m > 0 ? area(q->m, q->k) : o->len, 0.5f);
    o->y = operand(q->m > 0 ? area(q->m, q->n) : o->len, 0);
    if (q->m > 0)
        o->w = operand(area(q->k, q->n), 0.25f);
    if (q->precision == PRECISION_FP32)
        return;
    o->packed = packed_new(q->precision, q->k, q->n);
    o->multiplier = multiplier_new();
    packed_fill(o->packed, o->w, false);
}

static void operands_release(struct operands *o)
{
    if (o->packed)
        multiplier_free(o->multiplier);
    packed_free(o->packed);
    free(o->x);
    free(o->w);
    free(o->y);
}

static void work(const struct operands *o, const struct limit_question *q)
{
    if (q->m == 0)
        vec_axpy(o->y, 0.5f, o->x, o->len);
    else if (o->packed)
        packed_product(o->packed, o->multiplier, q->m, o->x, NULL, o->y);
    else
        gemm_nn(q->m, q->n, q->k, o->x, o->w, false, o->y);
}

/* Holds the thread until all are here: so each of them has one task. */
static void wait_for_all(struct contest *c)
{
    __atomic_fetch_add(&c->ready, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&c->ready, __ATOMIC_SEQ_CST) < c->threads)
        sched_yield();
}

static void compete(void *arg, int task, int worker)
{
    struct contest *c = arg;
    const struct limit_question *q = c->question;
    struct operands o;
    (void)worker;
    operands_init(&o, q);
    work(&o, q);
    wait_for_all(c);
    double now = c->begin[task] = clock_seconds();
    while (now - c->begin[task] < q->seconds) {
        work(&o, q);
        c->times[task]++;
        now = clock_seconds();
    }
    c->finish[task] = now;
    operands_release(&o);
}

/* 1e9 operations, or bytes, of one time. */
static double cost(const struct limit_question *q)
{
    if (q->m > 0)
        return 2e-9 * q->m * q->n * q->k;
    return 1e-9 * 3 * (double)(q->bytes / 2);
}

/* All of it, in the time from the first beginning to the last end. */
static double rate(const struct contest *c)
{
    double begin = c->begin[0], finish = c->finish[0], times = 0;
    for (int t = 0; t < c->threads; t++) {
        begin = c->begin[t] < begin ? c->begin[t] : begin;
        finish = c->finish[t] > finish ? c->finish[t] : finish;
        times += (double)c->times[t];
    }
    return times * cost(c->question) / (finish - begin);
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
    ARRAY_ZERO(c.times, (size_t)c.threads);
    workers_run(workers, c.threads, compete, &c);
    out->rate = rate(&c);
    free(c.begin);
    free(c.finish);
    free(c.times);
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

int limit_ask(struct probe *p, const struct limit_question *question,
              double *found)
{
    struct limit_answer answer;
    if (probe_ask(p, question, &answer) < 0)
        return -1;
    *found = answer.rate;
    return 0;
}
