/* Alignments that train otherwise than they translate: what they do in either
 * case, and what the one has to do with the other. (Values of all scores and
 * alignments in translation: tests/reference.py.) */
#include "attention/attention.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "numbers.h"
#include "tensor/gemm.h"

/* Three queries: of two sentences of 4 and 3 words, and the first once more. */
enum { QUERIES = 3, ROWS = 7, WIDTH = 4, STEPS = 5, M = 6 };

static const int start[] = { 0, 4, 0 }, length[] = { 4, 3, 4 };
static const struct ragged over = { start, length, WIDTH, NULL };

/* An alignment with the score 'dot', and all that it computes on. */
struct bench {
    struct attention attention;
    struct params params;
    struct graph g;
    struct attention_memory memory;
    struct attention_state state;
    struct node *query[STEPS];
};

static void bench_init(struct bench *b, const char *kind)
{
    struct config cfg;
    memset(b, 0, sizeof(*b));
    config_init(&cfg);
    assert_int_equal(config_set(&cfg, "attention.kind", kind), 0);
    assert_int_equal(config_set(&cfg, "attention.score", "dot"), 0);
    assert_int_equal(attention_declare(&b->attention, &b->params, &cfg, M, M),
                     0);
    config_release(&cfg);
    params_allocate(&b->params);
    params_initialise(&b->params, 1, 0);
    graph_init(&b->g);
}

static void bench_release(struct bench *b)
{
    graph_release(&b->g);
    params_release(&b->params);
}

static struct node *random_leaf(struct graph *g, int rows, float bound,
                                uint64_t seed)
{
    size_t n = (size_t)rows * M;
    float *value = arena_array(&g->arena, n, sizeof(*value));
    float *grad = arena_array(&g->arena, n, sizeof(*grad));
    numbers_fill(value, n, bound, seed);
    memset(grad, 0, n * sizeof(*grad));
    return graph_leaf(g, rows, M, value, grad);
}

/* A new sentence: states within +- 1, queries within +- bound. */
static void bench_begin(struct bench *b, bool training, float bound)
{
    static float advantage[QUERIES];
    graph_reset(&b->g);
    b->g.training = training;
    params_bind(&b->params, NULL, NULL, &b->g);
    attention_memory_init(&b->attention, &b->g, random_leaf(&b->g, ROWS, 1, 2),
                          &b->memory);
    b->memory.advantage = advantage;
    b->memory.scale = 1;
    for (int t = 0; t < STEPS; t++)
        b->query[t] = random_leaf(&b->g, QUERIES, bound, 10 + (uint64_t)t);
    attention_begin(&b->attention, &b->g, &b->memory, &over, b->query[0],
                    &b->state);
}

/* Step t; its weights. */
static struct node *bench_step(struct bench *b, int t, struct node **context)
{
    struct attention_step step;
    *context = attention_step(&b->attention, &b->g, &b->memory, &over,
                              b->query[t], &b->state, &step);
    b->state = step.after;
    return step.weights;
}

static double at(const struct node *x, int row, int column)
{
    return (double)node_row(x, row)[column];
}

static double score(const struct bench *b, int t, int i, int j)
{
    double sum = 0;
    for (int m = 0; m < M; m++)
        sum += at(b->query[t], i, m) * at(b->memory.values, start[i] + j, m);
    return sum;
}

static void check_context(const struct bench *b, const struct node *context,
                          const struct node *weights)
{
    for (int i = 0; i < QUERIES; i++)
        for (int m = 0; m < M; m++) {
            double sum = 0;
            for (int j = 0; j < length[i]; j++)
                sum += at(weights, i, j) *
                       at(b->memory.values, start[i] + j, m);
            assert_true(fabs(at(context, i, m) - sum) < 1e-5);
        }
}

static bool is_one_hot(const struct node *weights, int row, int *place)
{
    int ones = 0, zeros = 0;
    for (int j = 0; j < WIDTH; j++)
        if (node_row(weights, row)[j] == 1) {
            *place = j;
            ones++;
        } else {
            zeros += node_row(weights, row)[j] == 0;
        }
    return ones == 1 && zeros == WIDTH - 1;
}

/* --- monotonic --------------------------------------------------------------- */

/* The noise that a step adds, which is a function of the number of draws. */
static struct node *noise_of(struct graph *g, uint32_t draws)
{
    uint32_t now = g->draws;
    g->draws = draws;
    struct node *noise = add_noise(g, graph_zeros(g, QUERIES, WIDTH));
    g->draws = now;
    return noise;
}

/* The sum over where the process stood before, k, and went on to j:
 *     a_tj = sum_{k <= j} a_{t-1,k} prod_{k <= l < j} (1 - p_tl) p_tj */
static void expect_step(const double *p, const double *before, int S,
                        double *after)
{
    for (int j = 0; j < S; j++) {
        after[j] = 0;
        for (int k = 0; k <= j; k++) {
            double way = before[k];
            for (int l = k; l < j; l++)
                way *= 1 - p[l];
            after[j] += way * p[j];
        }
    }
}

static void test_monotonic_expectation(void **state)
{
    (void)state;
    struct bench b;
    double expected[QUERIES][WIDTH] = { { 1 }, { 1 }, { 1 } };
    bench_init(&b, "monotonic");
    bench_begin(&b, true, 1);
    double r = (double)param(&b.g, b.attention.r)->value[0];
    assert_true(r == -1);
    for (int t = 0; t < STEPS; t++) {
        uint32_t draws = b.g.draws;
        struct node *context, *weights = bench_step(&b, t, &context);
        struct node *noise = noise_of(&b.g, draws);
        for (int i = 0; i < QUERIES; i++) {
            double p[WIDTH], after[WIDTH];
            for (int j = 0; j < length[i]; j++)
                p[j] = 1 / (1 + exp(-score(&b, t, i, j) - r - at(noise, i, j)));
            expect_step(p, expected[i], length[i], after);
            for (int j = 0; j < length[i]; j++) {
                assert_true(fabs(at(weights, i, j) - after[j]) < 1e-5);
                expected[i][j] = after[j];
            }
        }
        check_context(&b, context, weights);
    }
    bench_release(&b);
}

/* Where stopping is as good as sure or excluded, noise or not, training
 * expects what the process does. */
static void test_monotonic_process(void **state)
{
    (void)state;
    struct bench trained, walked;
    int stopped = 0, passed = 0;
    bench_init(&trained, "monotonic");
    bench_init(&walked, "monotonic");
    bench_begin(&trained, true, 300);
    bench_begin(&walked, false, 300);
    bool standing[QUERIES] = { true, true, true };
    for (int t = 0; t < STEPS; t++) {
        struct node *context, *other;
        struct node *expected = bench_step(&trained, t, &other);
        struct node *weights = bench_step(&walked, t, &context);
        check_context(&walked, context, weights);
        for (int i = 0; i < QUERIES; i++) {
            int place = -1;
            bool one = is_one_hot(weights, i, &place);
            for (int j = 0; j < length[i] && standing[i]; j++)
                assert_true(fabs(at(expected, i, j) - at(weights, i, j)) <
                            0.02);
            /* a process that stopped nowhere starts from where it stood, of
             * which an expectation knows nothing */
            standing[i] = standing[i] && one;
            stopped += one;
            passed += one && place > 0;
        }
    }
    assert_true(stopped > 3 && passed > 1);
    bench_release(&trained);
    bench_release(&walked);
}

/* --- hard ----------------------------------------------------------------------- */

static void test_hard(void **state)
{
    (void)state;
    struct bench b;
    struct node *context;
    int seen[WIDTH] = { 0 }, place = -1;
    bench_init(&b, "hard");
    for (uint64_t update = 0; update < 50; update++) {
        b.g.update = update;
        bench_begin(&b, true, 0.1f);
        struct node *weights = bench_step(&b, 0, &context);
        check_context(&b, context, weights);
        for (int i = 0; i < QUERIES; i++)
            assert_true(is_one_hot(weights, i, &place) && place < length[i]);
        seen[place]++;
    }
    for (int j = 0; j < WIDTH; j++)
        assert_true(seen[j] > 2);
    bench_begin(&b, false, 1);
    struct node *weights = bench_step(&b, 0, &context);
    for (int i = 0; i < QUERIES; i++) {
        assert_true(is_one_hot(weights, i, &place));
        for (int j = 0; j < length[i]; j++)
            assert_true(score(&b, 0, i, j) <= score(&b, 0, i, place) + 1e-5);
    }
    bench_release(&b);
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_monotonic_expectation),
        cmocka_unit_test(test_monotonic_process),
        cmocka_unit_test(test_hard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
