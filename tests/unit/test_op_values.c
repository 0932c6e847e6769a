/* Operations give what their formulas say, computed here in double; what dropout
 * and draws do on average. */
#include "graph/ops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "graph/gradcheck.h"
#include "numbers.h"
#include "queries.h"
#include "tensor/gemm.h"
#include "tensor/vec.h"

/* --- values --------------------------------------------------------------- */

/* For operations that use up what they read. */
static struct node *copy(struct graph *g, struct node *x)
{
    return scale(g, x, 1);
}

static struct graph scratch_graph(void)
{
    struct graph g;
    graph_init(&g);
    return g;
}

/* A leaf of random numbers, in the graph's memory. */
static struct node *random_leaf(struct graph *g, int rows, int cols,
                                float bound, uint64_t seed)
{
    size_t n = (size_t)rows * (size_t)cols;
    float *value = arena_array(&g->arena, n, sizeof(*value));
    float *grad = arena_array(&g->arena, n, sizeof(*grad));
    numbers_fill(value, n, bound, seed);
    memset(grad, 0, n * sizeof(*grad));
    return graph_leaf(g, rows, cols, value, grad);
}

static double at(const struct node *x, int row, int col)
{
    return (double)node_row(x, row)[col];
}

static double sigma(double x)
{
    return 1 / (1 + exp(-x));
}

static void assert_near(const struct node *y, int row, int col, double expected)
{
    if (!(fabs(at(y, row, col) - expected) <= 2e-6 * (1 + fabs(expected))))
        fail_msg("[%d,%d] is %.8g, not %.8g", row, col, at(y, row, col),
                 expected);
}

static void test_gru_values(void **state)
{
    (void)state;
    enum { B = 3, H = 21 };
    struct graph g = scratch_graph();
    struct node *gx = random_leaf(&g, B, 3 * H, 2, 1);
    struct node *gh = random_leaf(&g, B, 3 * H, 2, 2);
    struct node *h = random_leaf(&g, B, H, 1, 3);
    struct node *y = gru_gates(&g, copy(&g, gx), copy(&g, gh), h);
    for (int b = 0; b < B; b++)
        for (int i = 0; i < H; i++) {
            double r = sigma(at(gx, b, i) + at(gh, b, i));
            double z = sigma(at(gx, b, H + i) + at(gh, b, H + i));
            double n = tanh(at(gx, b, 2 * H + i) + r * at(gh, b, 2 * H + i));
            assert_near(y, b, i, (1 - z) * n + z * at(h, b, i));
        }
    graph_release(&g);
}

static void test_lstm_values(void **state)
{
    (void)state;
    enum { B = 3, H = 21 };
    struct graph g = scratch_graph();
    struct node *a = random_leaf(&g, B, 4 * H, 2, 1);
    struct node *c = random_leaf(&g, B, H, 2, 3);
    struct node *spent = copy(&g, a), *cell = lstm_cell(&g, spent, c);
    struct node *h = lstm_state(&g, spent, cell);
    for (int b = 0; b < B; b++)
        for (int k = 0; k < H; k++) {
            double i = sigma(at(a, b, k)), f = sigma(at(a, b, H + k));
            double n = tanh(at(a, b, 2 * H + k)),
                   o = sigma(at(a, b, 3 * H + k));
            double expected = f * at(c, b, k) + i * n;
            assert_near(cell, b, k, expected);
            assert_near(h, b, k, o * tanh(expected));
        }
    graph_release(&g);
}

/* The j-th of a row of k, normalised. */
static double normalised_at(const struct node *x, int row, int j)
{
    int k = x->cols;
    double mean = 0, variance = 0;
    for (int l = 0; l < k; l++)
        mean += at(x, row, l) / k;
    for (int l = 0; l < k; l++)
        variance += (at(x, row, l) - mean) * (at(x, row, l) - mean) / k;
    return (at(x, row, j) - mean) / sqrt(variance + 1e-5);
}

/* Rows of all sizes, one that is almost constant, and one of zeros. */
static void test_layer_norm_values(void **state)
{
    (void)state;
    enum { ROWS = 5 };
    static const int widths[] = { 2, 3, 16, 21, 64, 300 };
    static const float factors[ROWS] = { 1, 100, 1e-2f, 1e-4f, 0 };
    for (int w = 0; w < 6; w++) {
        int k = widths[w];
        struct graph g = scratch_graph();
        struct node *x = random_leaf(&g, ROWS, k, 1, 1);
        struct node *gain = random_leaf(&g, 1, k, 2, 2);
        struct node *bias = random_leaf(&g, 1, k, 2, 3);
        struct node *start = random_leaf(&g, ROWS, k, 2, 4);
        for (int i = 0; i < ROWS; i++)
            vec_scale(node_row(x, i), factors[i], (size_t)k);
        struct node *y = layer_norm(&g, x, gain, bias);
        struct node *plain = layer_norm(&g, x, gain, NULL);
        struct node *zeros = graph_zeros(&g, ROWS, k);
        struct node *sum = layer_norm_into(&g, add(&g, start, zeros), x, gain);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < k; j++) {
                double z = at(gain, 0, j) * normalised_at(x, i, j);
                assert_near(y, i, j, z + at(bias, 0, j));
                assert_near(plain, i, j, z);
                assert_near(sum, i, j, z + at(start, i, j));
            }
        assert_true(same_bits(node_row(y, ROWS - 1), bias->value, (size_t)k));
        graph_release(&g);
    }
}

/* A row's values have the same bits in whatever company. */
static void test_layer_norm_of_one_row(void **state)
{
    (void)state;
    enum { ROWS = 6, K = 53 };
    struct graph g = scratch_graph();
    struct node *x = random_leaf(&g, ROWS, K, 1, 1);
    struct node *gain = random_leaf(&g, 1, K, 2, 2);
    struct node *bias = random_leaf(&g, 1, K, 2, 3);
    struct node *y = layer_norm(&g, x, gain, bias);
    for (int i = 0; i < ROWS; i++) {
        struct node *one = layer_norm(&g, graph_view(&g, x, i, 1), gain, bias);
        assert_true(same_bits(node_row(y, i), one->value, K));
    }
    node_row(x, 2)[K - 1] = NAN;
    y = layer_norm(&g, x, gain, bias);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < K; j++)
            assert_int_equal(isnan(node_row(y, i)[j]) != 0, i == 2);
    graph_release(&g);
}

static void test_score_values(void **state)
{
    (void)state;
    enum { A = 260 };
    struct graph g = scratch_graph();
    struct node *q = random_leaf(&g, QUERIES, A, 1, 1);
    struct node *k = random_leaf(&g, MEMORY, A, 1, 2);
    struct node *v = random_leaf(&g, 1, A, 1, 3);
    struct node *additive = additive_scores(&g, q, k, v, &over);
    struct node *dot = dot_scores(&g, q, k, &over);
    assert_int_equal(additive->cols, WIDTH);
    for (int i = 0; i < QUERIES; i++)
        for (int j = 0; j < WIDTH; j++) {
            double sum[2] = { 0, 0 };
            for (int a = 0; a < A && j < over_length[i]; a++) {
                double key = at(k, over_start[i] + j, a);
                sum[0] += at(v, 0, a) * tanh(at(q, i, a) + key);
                sum[1] += at(q, i, a) * key;
            }
            assert_true(fabs(at(additive, i, j) - sum[0]) < 1e-4);
            assert_true(fabs(at(dot, i, j) - sum[1]) < 1e-4);
            if (j >= over_length[i])
                assert_true(at(additive, i, j) == 0 && at(dot, i, j) == 0);
        }
    graph_release(&g);
}

/* What is behind the length has no influence, whatever it is. */
static void test_softmax_values(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    struct node *e = random_leaf(&g, QUERIES, WIDTH, 30, 1);
    for (int i = 0; i < QUERIES; i++)
        for (int j = over_length[i]; j < WIDTH; j++)
            node_row(e, i)[j] = NAN;
    struct node *a = ragged_softmax(&g, e, &over);
    for (int i = 0; i < QUERIES; i++) {
        double sum = 0, total = 0;
        for (int j = 0; j < over_length[i]; j++)
            sum += exp(at(e, i, j));
        for (int j = 0; j < WIDTH; j++) {
            bool inside = j < over_length[i];
            assert_near(a, i, j, inside ? exp(at(e, i, j)) / sum : 0);
            assert_true(at(a, i, j) >= 0);
            total += at(a, i, j);
        }
        assert_true(fabs(total - 1) < 1e-6);
    }
    graph_release(&g);
}

/* Scores so large that their exponentials overflow. */
static void test_softmax_of_large_scores(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    struct node *e = random_leaf(&g, QUERIES, WIDTH, 3e4f, 1);
    struct node *a = ragged_softmax(&g, e, &over);
    for (int i = 0; i < QUERIES; i++) {
        double total = 0;
        for (int j = 0; j < WIDTH; j++)
            total += at(a, i, j);
        assert_true(fabs(total - 1) < 1e-6);
    }
    graph_release(&g);
}

static void test_context_values(void **state)
{
    (void)state;
    enum { M = 21 };
    struct graph g = scratch_graph();
    struct node *a = random_leaf(&g, QUERIES, WIDTH, 1, 1);
    struct node *v = random_leaf(&g, MEMORY, M, 1, 2);
    struct node *c = weighted_sum(&g, a, v, &over);
    struct node *mean = ragged_mean(&g, v, &over, QUERIES);
    for (int i = 0; i < QUERIES; i++)
        for (int m = 0; m < M; m++) {
            double sum = 0, plain = 0;
            for (int j = 0; j < over_length[i]; j++) {
                sum += at(a, i, j) * at(v, over_start[i] + j, m);
                plain += at(v, over_start[i] + j, m);
            }
            assert_near(c, i, m, sum);
            assert_near(mean, i, m, plain / over_length[i]);
        }
    graph_release(&g);
}

static void test_rows_are_moved(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    struct node *x = random_leaf(&g, 4, 5, 1, 1);
    static const int index[] = { 3, -1, 0 };
    struct node *y = pick_rows(&g, x, index, 3);
    assert_true(same_bits(node_row(y, 0), node_row(x, 3), 5));
    assert_true(same_bits(node_row(y, 2), node_row(x, 0), 5));
    for (int j = 0; j < 5; j++)
        assert_true(node_row(y, 1)[j] == 0);
    assert_ptr_equal(graph_view(&g, x, 0, 4), x);
    assert_ptr_equal(graph_view(&g, x, 2, 1)->value, node_row(x, 2));
    graph_release(&g);
}

static void test_touched_rows(void **state)
{
    (void)state;
    static const int ids[] = { 4, 1, 4 };
    static const unsigned char expected[6] = { 0, 1, 0, 0, 1, 0 };
    unsigned char touched[6] = { 0 };
    struct graph g = scratch_graph();
    g.training = true;
    struct node *table = random_leaf(&g, 6, 3, 1, 1);
    table->touched = touched;
    gradcheck_functional(lookup(&g, table, ids, 3), 1);
    graph_backward(&g);
    assert_memory_equal(touched, expected, sizeof(touched));
    graph_release(&g);
}

/* --- dropout --------------------------------------------------------------- */

typedef struct node *dropout_fn(struct graph *g, struct node *x, float rate);

/* The factors of a mask, in memory of the graph. */
static float *mask_of(struct graph *g, dropout_fn *drop, int rows, int cols,
                      float rate)
{
    struct node *x = random_leaf(g, rows, cols, 1, 1);
    for (size_t i = 0; i < node_size(x); i++)
        x->value[i] = 1;
    return drop(g, x, rate)->value;
}

static void check_rate(dropout_fn *drop, int rows, int cols, float rate,
                       double independent)
{
    struct graph g = scratch_graph();
    g.training = true;
    size_t n = (size_t)rows * (size_t)cols, dropped = 0;
    const float *mask = mask_of(&g, drop, rows, cols, rate);
    for (size_t i = 0; i < n; i++) {
        assert_true(mask[i] == 0 || mask[i] == 1 / (1 - rate));
        dropped += mask[i] == 0;
    }
    double expected = (double)rate,
           deviation = sqrt(expected * (1 - expected) / independent);
    assert_true(fabs((double)dropped / (double)n - expected) < 4 * deviation);
    graph_release(&g);
}

static void test_dropout_rates(void **state)
{
    (void)state;
    static const float rates[] = { 0.01f, 0.1f, 0.5f, 0.9f };
    for (int i = 0; i < 4; i++) {
        check_rate(dropout, 100, 200, rates[i], 20000);
        check_rate(dropout_rows, 20000, 2, rates[i], 20000);
    }
}

/* Neighbours in a row, in a column and in the next draw are dropped together
 * as often as independent ones: a quarter of the time. */
static void test_dropout_is_independent(void **state)
{
    (void)state;
    enum { N = 150 };
    struct graph g = scratch_graph();
    g.training = true;
    const float *a = mask_of(&g, dropout, N, N, 0.5f);
    const float *b = mask_of(&g, dropout, N, N, 0.5f);
    int row = 0, column = 0, draw = 0;
    for (int i = 0; i + 1 < N; i++)
        for (int j = 0; j + 1 < N; j++) {
            const float *here = a + i * N + j;
            row += here[0] == 0 && here[1] == 0;
            column += here[0] == 0 && here[N] == 0;
            draw += here[0] == 0 && b[i * N + j] == 0;
        }
    double n = (N - 1) * (N - 1), slack = 4 * sqrt(n * 3 / 16);
    assert_true(fabs(row - n / 4) < slack);
    assert_true(fabs(column - n / 4) < slack);
    assert_true(fabs(draw - n / 4) < slack);
    graph_release(&g);
}

static void test_dropped_rows_are_whole(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    g.training = true;
    const float *mask = mask_of(&g, dropout_rows, 50, 7, 0.5f);
    for (int i = 0; i < 50; i++)
        for (int j = 1; j < 7; j++)
            assert_true(mask[i * 7 + j] == mask[i * 7]);
    graph_release(&g);
}

/* A mask is a function of seed, update, part, draw, row and column. */
static void test_dropout_is_a_function(void **state)
{
    (void)state;
    enum { ROWS = 6, COLS = 40 };
    struct graph g = scratch_graph(), other = scratch_graph();
    g.training = other.training = true;
    const float *first = mask_of(&g, dropout, ROWS, COLS, 0.5f);
    const float *second = mask_of(&g, dropout, ROWS, COLS, 0.5f);
    assert_false(same_bits(first, second, ROWS * COLS));
    const float *same = mask_of(&other, dropout, ROWS, COLS, 0.5f);
    assert_true(same_bits(first, same, ROWS * COLS));
    for (int word = 0; word < 3; word++) {
        other.draws = 0;
        other.seed = word == 0;
        other.update = word == 1;
        other.part = word == 2;
        const float *changed = mask_of(&other, dropout, ROWS, COLS, 0.5f);
        assert_false(same_bits(first, changed, ROWS * COLS));
    }
    graph_release(&g);
    graph_release(&other);
}

/* Nor does it depend on how many rows and columns there are beside. */
static void test_dropout_does_not_depend_on_the_size(void **state)
{
    (void)state;
    struct graph g = scratch_graph(), other = scratch_graph();
    g.training = other.training = true;
    const float *small = mask_of(&g, dropout, 3, 21, 0.5f);
    const float *large = mask_of(&other, dropout, 8, 50, 0.5f);
    for (int i = 0; i < 3; i++)
        assert_true(same_bits(small + 21 * i, large + 50 * i, 21));
    graph_release(&g);
    graph_release(&other);
}

static void test_no_dropout(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    struct node *x = random_leaf(&g, 3, 4, 1, 1);
    assert_ptr_equal(dropout(&g, x, 0.5f), x);
    assert_ptr_equal(dropout_rows(&g, x, 0.5f), x);
    g.training = true;
    assert_ptr_equal(dropout(&g, x, 0), x);
    assert_ptr_equal(dropout_rows(&g, x, 0), x);
    graph_release(&g);
}

/* --- hard choices ---------------------------------------------------------- */

enum { CHOICES = 4 };

/* One draw from leaf e; its gradient is written, its choice returned. */
static int draw_once(struct graph *g, float *e, float *grad, uint64_t update,
                     const float *costs, float entropy)
{
    static const int start[] = { 0 }, length[] = { CHOICES };
    static const struct ragged all = { start, length, CHOICES, NULL };
    float advantage = 0;
    graph_reset(g);
    g->training = true;
    g->seed = 3;
    g->update = update;
    memset(grad, 0, CHOICES * sizeof(*grad));
    struct node *leaf = graph_leaf(g, 1, CHOICES, e, grad);
    struct choice_costs told = { &advantage, 0.5f, entropy };
    struct node *y = draw_position(g, leaf, &all, &told);
    int drawn = 0;
    while (y->value[drawn] == 0)
        drawn++;
    advantage = costs[drawn] - 1.0f; /* any baseline will do */
    graph_backward(g);
    return drawn;
}

static double entropy_of(const double *p)
{
    double h = 0;
    for (int j = 0; j < CHOICES; j++)
        h -= p[j] * log(p[j]);
    return h;
}

/* The mean of the estimate is the gradient of scale * (E[cost] - entropy H),
 * within four standard errors; choices come as often as they should. */
static void test_draws_estimate_the_gradient(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    float e[CHOICES] = { 0.3f, -0.8f, 1.1f, 0.0f }, grad[CHOICES];
    static const float costs[CHOICES] = { 2.0f, 0.5f, 3.0f, -1.0f };
    const double entropy = 0.3;
    double p[CHOICES], total = 0, mean_cost = 0;
    double sum[CHOICES] = { 0 }, squares[CHOICES] = { 0 };
    int count[CHOICES] = { 0 };
    struct graph g;
    for (int j = 0; j < CHOICES; j++)
        total += p[j] = exp((double)e[j]);
    for (int j = 0; j < CHOICES; j++)
        mean_cost += (p[j] /= total) * (double)costs[j];
    graph_init(&g);
    for (int i = 0; i < DRAWS; i++) {
        count[draw_once(&g, e, grad, (uint64_t)i, costs, (float)entropy)]++;
        for (int j = 0; j < CHOICES; j++) {
            sum[j] += (double)grad[j];
            squares[j] += (double)grad[j] * (double)grad[j];
        }
    }
    graph_release(&g);
    for (int j = 0; j < CHOICES; j++) {
        double exact = 0.5 * p[j] * ((double)costs[j] - mean_cost) +
                       0.5 * entropy * p[j] * (log(p[j]) + entropy_of(p));
        double mean = sum[j] / DRAWS;
        double error = sqrt((squares[j] / DRAWS - mean * mean) / DRAWS);
        assert_true(fabs(mean - exact) < 4 * error);
        assert_true(fabs(count[j] - p[j] * DRAWS) <
                    4 * sqrt(p[j] * (1 - p[j]) * DRAWS));
    }
}

static void test_best_position(void **state)
{
    (void)state;
    float e[2 * 3] = { 1, 4, 9, 2, 2, -1 };
    static const int start[] = { 0, 0 }, length[] = { 2, 3 };
    static const struct ragged two = { start, length, 3, NULL };
    static const float right[2 * 3] = { 0, 1, 0, 1, 0, 0 };
    struct graph g;
    graph_init(&g);
    struct node *y = best_position(&g, graph_leaf(&g, 2, 3, e, NULL), &two);
    assert_memory_equal(y->value, right, sizeof(right));
    graph_release(&g);
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gru_values),
        cmocka_unit_test(test_lstm_values),
        cmocka_unit_test(test_layer_norm_values),
        cmocka_unit_test(test_layer_norm_of_one_row),
        cmocka_unit_test(test_score_values),
        cmocka_unit_test(test_softmax_values),
        cmocka_unit_test(test_softmax_of_large_scores),
        cmocka_unit_test(test_context_values),
        cmocka_unit_test(test_rows_are_moved),
        cmocka_unit_test(test_touched_rows),
        cmocka_unit_test(test_dropout_rates),
        cmocka_unit_test(test_dropout_is_independent),
        cmocka_unit_test(test_dropped_rows_are_whole),
        cmocka_unit_test(test_dropout_is_a_function),
        cmocka_unit_test(test_dropout_does_not_depend_on_the_size),
        cmocka_unit_test(test_no_dropout),
        cmocka_unit_test(test_draws_estimate_the_gradient),
        cmocka_unit_test(test_best_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
