/* Parameters: where they stand, how they start, and how a graph sees them. */
#include "nn/params.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "graph/ops.h"
#include "numbers.h"
#include "tensor/gemm.h"

static int declare(struct params *p, const char *name, int rows, int cols,
                   enum init init, int blocks)
{
    return params_declare(p, &(struct param){ .name = name,
                                              .rows = rows,
                                              .cols = cols,
                                              .init = init,
                                              .blocks = blocks });
}

/* One parameter of that kind, started. */
static struct params one(int rows, int cols, enum init init, int blocks,
                         float scale)
{
    struct params p = { 0 };
    declare(&p, "x", rows, cols, init, blocks);
    params_allocate(&p);
    params_initialise(&p, 3, scale);
    return p;
}

/* --- layout -------------------------------------------------------------- */

static void test_layout(void **state)
{
    (void)state;
    struct params p = { 0 };
    char name[] = "a.W";
    assert_int_equal(declare(&p, name, 3, 5, INIT_GLOROT, 0), 0);
    name[0] = 'b'; /* names are copied */
    assert_int_equal(declare(&p, name, 1, 16, INIT_ZERO, 4), 1);
    assert_int_equal(declare(&p, "c", 7, 7, INIT_ORTHOGONAL, 0), 2);
    params_allocate(&p);
    assert_int_equal(p.count, 3);
    assert_string_equal(p.list[0].name, "a.W");
    assert_string_equal(p.list[1].name, "b.W");
    assert_int_equal(p.list[0].offset, 0);
    assert_int_equal(p.list[1].offset, 16);
    assert_int_equal(p.list[2].offset, 32);
    assert_int_equal(p.size, 32 + 64);
    assert_int_equal((uintptr_t)p.values % 64, 0);
    for (size_t i = 0; i < p.size; i++)
        assert_true(p.values[i] == 0);
    params_release(&p);
}

/* More than the first growth of the list has room for. */
static void test_many(void **state)
{
    (void)state;
    struct params p = { 0 };
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof(name), "p.%d", i);
        assert_int_equal(declare(&p, name, 1 + i % 7, 3, INIT_ZERO, 0), i);
    }
    assert_ptr_equal(params_find(&p, "p.0"), &p.list[0]);
    assert_ptr_equal(params_find(&p, "p.299"), &p.list[299]);
    assert_null(params_find(&p, "p.300"));
    assert_null(params_find(&p, "p."));
    for (int i = 1; i < 300; i++)
        assert_true(p.list[i].offset >=
                    p.list[i - 1].offset +
                        (size_t)p.list[i - 1].rows * p.list[i - 1].cols);
    params_release(&p);
}

static void test_by_size(void **state)
{
    (void)state;
    static const int expected[] = { 2, 1, 4, 3, 0 };
    struct params p = { 0 };
    declare(&p, "a", 1, 1, INIT_ZERO, 0);
    declare(&p, "b", 3, 4, INIT_ZERO, 0);
    declare(&p, "c", 2, 9, INIT_ZERO, 0);
    declare(&p, "d", 11, 1, INIT_ZERO, 0);
    declare(&p, "e", 4, 3, INIT_ZERO, 0);
    const struct param **order = params_by_size(&p);
    for (int i = 0; i < p.count; i++)
        assert_ptr_equal(order[i], &p.list[expected[i]]);
    free(order);
    params_release(&p);
}

static void test_release_of_nothing(void **state)
{
    (void)state;
    struct params p = { 0 };
    struct gradients g = { 0 };
    params_release(&p);
    gradients_release(&g, &p);
}

/* --- starting values --------------------------------------------------------- */

struct moments {
    double mean, deviation, largest;
};

static struct moments moments_of(const float *x, size_t n)
{
    struct moments m = { 0, 0, 0 };
    for (size_t i = 0; i < n; i++) {
        m.mean += (double)x[i] / (double)n;
        m.largest = fmax(m.largest, fabs((double)x[i]));
    }
    for (size_t i = 0; i < n; i++)
        m.deviation += pow((double)x[i] - m.mean, 2) / (double)n;
    m.deviation = sqrt(m.deviation);
    return m;
}

static void check_uniform(const float *x, size_t n, double bound)
{
    struct moments m = moments_of(x, n);
    double deviation = bound / sqrt(3), error = deviation / sqrt((double)n);
    assert_true(fabs(m.mean) < 4 * error);
    assert_true(fabs(m.deviation - deviation) < 4 * error);
    assert_true(m.largest <= bound * (1 + 1e-6) && m.largest > 0.98 * bound);
}

static void test_constants(void **state)
{
    (void)state;
    struct params p = { 0 };
    declare(&p, "zero", 1, 8, INIT_ZERO, 0);
    declare(&p, "one", 1, 8, INIT_ONE, 0);
    declare(&p, "forget", 1, 8, INIT_FORGET, 4);
    params_allocate(&p);
    numbers_fill(p.values, p.size, 1, 1); /* what was there is gone */
    params_initialise(&p, 3, 0);
    for (int i = 0; i < 8; i++) {
        assert_true(p.values[p.list[0].offset + (size_t)i] == 0);
        assert_true(p.values[p.list[1].offset + (size_t)i] == 1);
        assert_true(p.values[p.list[2].offset + (size_t)i] ==
                    (i / 2 == 1 ? 1 : 0));
    }
    params_release(&p);
}

static void test_glorot(void **state)
{
    (void)state;
    struct params p = one(60, 90, INIT_GLOROT, 0, 0);
    check_uniform(p.values, 5400, sqrt(6.0 / 150));
    params_release(&p);
}

/* Gates side by side: a matrix each, with a bound of its own size. */
static void test_glorot_of_blocks(void **state)
{
    (void)state;
    enum { ROWS = 50, COLS = 40, BLOCKS = 3 };
    struct params p = one(ROWS, COLS * BLOCKS, INIT_GLOROT, BLOCKS, 0);
    float block[BLOCKS][ROWS * COLS];
    for (int k = 0; k < BLOCKS; k++) {
        for (int i = 0; i < ROWS; i++)
            memcpy(block[k] + i * COLS,
                   p.values + (size_t)i * COLS * BLOCKS + (size_t)k * COLS,
                   COLS * sizeof(float));
        check_uniform(block[k], ROWS * COLS, sqrt(6.0 / (ROWS + COLS)));
        for (int other = 0; other < k; other++)
            assert_false(same_bits(block[k], block[other], COLS));
    }
    params_release(&p);
}

static void test_embedding(void **state)
{
    (void)state;
    struct params p = one(400, 25, INIT_EMBEDDING, 0, 0);
    struct moments m = moments_of(p.values, 10000);
    assert_true(fabs(m.mean) < 4 * 0.2 / 100);
    assert_true(fabs(m.deviation - 0.2) < 4 * 0.2 / 141);
    assert_true(m.largest > 0.5 && m.largest < 1.4);
    params_release(&p);
}

/* Rows i and k (of columns, when by_columns) of a block are orthonormal. */
static double product(const float *block, int stride, int length, int i, int k,
                      bool by_columns)
{
    double sum = 0;
    for (int j = 0; j < length; j++) {
        const float *a = by_columns ? block + j * stride + i
                                    : block + i * stride + j;
        const float *b = by_columns ? block + j * stride + k
                                    : block + k * stride + j;
        sum += (double)*a * (double)*b;
    }
    return sum;
}

static void check_orthogonal(int rows, int cols, int blocks)
{
    struct params p = one(rows, cols * blocks, INIT_ORTHOGONAL, blocks, 0);
    bool tall = rows > cols;
    int n = tall ? cols : rows, length = tall ? rows : cols;
    for (int k = 0; k < blocks; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j <= i; j++) {
                double dot = product(p.values + k * cols, cols * blocks, length,
                                     i, j, tall);
                assert_true(fabs(dot - (i == j)) < 1e-5);
            }
    if (blocks > 1) /* each has a draw of its own */
        assert_false(same_bits(p.values, p.values + cols, (size_t)cols));
    params_release(&p);
}

static void test_orthogonal(void **state)
{
    (void)state;
    check_orthogonal(24, 24, 3);
    check_orthogonal(100, 100, 1);
    check_orthogonal(10, 30, 2);
    check_orthogonal(30, 10, 2);
    check_orthogonal(1, 1, 1);
}

/* One scale for all weights; biases stay as they are. */
static void test_scale(void **state)
{
    (void)state;
    static const enum init inits[] = { INIT_GLOROT, INIT_ORTHOGONAL,
                                       INIT_EMBEDDING };
    for (int i = 0; i < 3; i++) {
        struct params p = one(40, 60, inits[i], 3, 0.08f);
        check_uniform(p.values, 2400, 0.08);
        params_release(&p);
    }
    struct params p = one(1, 8, INIT_FORGET, 4, 0.08f);
    assert_true(p.values[0] == 0 && p.values[2] == 1 && p.values[4] == 0);
    params_release(&p);
}

/* A function of seed, number and place: not of the shapes of the others. */
static void test_determinism(void **state)
{
    (void)state;
    struct params p = { 0 }, q = { 0 };
    declare(&p, "first", 4, 4, INIT_GLOROT, 0);
    declare(&p, "x", 8, 8, INIT_GLOROT, 0);
    declare(&p, "y", 8, 8, INIT_GLOROT, 0);
    declare(&q, "first", 9, 31, INIT_EMBEDDING, 0);
    declare(&q, "x", 8, 8, INIT_GLOROT, 0);
    params_allocate(&p);
    params_allocate(&q);
    params_initialise(&p, 3, 0);
    params_initialise(&q, 3, 0);
    const float *x = p.values + p.list[1].offset;
    float kept[64];
    assert_true(same_bits(x, q.values + q.list[1].offset, 64));
    assert_false(same_bits(x, p.values + p.list[2].offset, 64));
    memcpy(kept, x, sizeof(kept));
    params_initialise(&p, 4, 0);
    assert_false(same_bits(x, kept, 64));
    params_initialise(&p, 3, 0);
    assert_true(same_bits(x, kept, 64));
    params_release(&p);
    params_release(&q);
}

/* --- graphs --------------------------------------------------------------------- */

static struct params table_and_matrix(void)
{
    struct params p = { 0 };
    params_declare(&p, &(struct param){ .name = "table",
                                        .rows = 6,
                                        .cols = 3,
                                        .init = INIT_EMBEDDING,
                                        .table = true });
    declare(&p, "W", 3, 2, INIT_GLOROT, 0);
    params_allocate(&p);
    params_initialise(&p, 3, 0);
    return p;
}

static void test_bind_for_training(void **state)
{
    (void)state;
    static const int ids[] = { 4, 1 };
    struct params p = table_and_matrix();
    struct gradients grads;
    struct graph g;
    graph_init(&g);
    gradients_init(&grads, &p);
    assert_int_equal((uintptr_t)grads.values % 64, 0);
    g.training = true;
    params_bind(&p, &grads, NULL, &g);
    for (int i = 0; i < p.count; i++) {
        assert_ptr_equal(param(&g, i)->value, p.values + p.list[i].offset);
        assert_ptr_equal(param(&g, i)->grad, grads.values + p.list[i].offset);
        assert_int_equal(param(&g, i)->rows, p.list[i].rows);
        assert_int_equal(param(&g, i)->cols, p.list[i].cols);
    }
    struct node *y = linear(&g, lookup(&g, param(&g, 0), ids, 2), param(&g, 1),
                            NULL);
    for (int i = 0; i < 4; i++)
        y->grad[i] = 1;
    graph_backward(&g);
    for (int r = 0; r < 6; r++) {
        assert_int_equal(grads.touched[0][r], r == 4 || r == 1);
        assert_int_equal(grads.values[3 * r] != 0, r == 4 || r == 1);
    }
    assert_null(grads.touched[1]);
    graph_release(&g);
    gradients_release(&grads, &p);
    params_release(&p);
}

static void test_bind_for_inference(void **state)
{
    (void)state;
    struct params p = table_and_matrix();
    struct graph g;
    graph_init(&g);
    params_bind(&p, NULL, NULL, &g);
    for (int i = 0; i < p.count; i++)
        assert_null(param(&g, i)->grad);
    graph_release(&g);
    params_release(&p);
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_by_size),
        cmocka_unit_test(test_release_of_nothing),
        cmocka_unit_test(test_constants),
        cmocka_unit_test(test_glorot),
        cmocka_unit_test(test_glorot_of_blocks),
        cmocka_unit_test(test_embedding),
        cmocka_unit_test(test_orthogonal),
        cmocka_unit_test(test_scale),
        cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_bind_for_training),
        cmocka_unit_test(test_bind_for_inference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
