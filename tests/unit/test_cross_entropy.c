/* The output layer and its loss: values, gradients, chunks. */
#include "graph/ops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "graph/gradcheck.h"
#include "numbers.h"
#include "tensor/gemm.h"

struct output {
    const char *name;
    int rows, width, vocabulary;
    bool transposed;
    float smoothing, scale;
    size_t samples;
};

/* More than 512 rows are more than one chunk. */
static const struct output outputs[] = {
    { "plain", 7, 4, 9, false, 0, 1, 0 },
    { "smoothed", 7, 4, 9, false, 0.1f, 1, 0 },
    { "transposed", 7, 4, 9, true, 0, 1, 0 },
    { "transposed and smoothed", 7, 4, 9, true, 0.3f, 1, 0 },
    { "scaled", 5, 3, 20, false, 0.1f, 0.25f, 0 },
    { "one word", 3, 4, 1, false, 0.1f, 1, 0 },
    { "several chunks", 520, 3, 5, false, 0.1f, 0.1f, 3 },
    { "several chunks, transposed", 520, 3, 5, true, 0.1f, 0.1f, 3 },
};

enum { OUTPUTS = sizeof(outputs) / sizeof(outputs[0]), PARTS = 3 };

struct output_trial {
    const struct output *output;
    struct graph g;
    size_t size[PARTS];
    float *value[PARTS], *grad[PARTS]; /* r, w, b */
    int *gold;
    float *row_nll;
    struct loss loss;
    bool inference, constant[PARTS];
};

static void output_init(struct output_trial *t, const struct output *o)
{
    *t = (struct output_trial){ .output = o };
    graph_init(&t->g);
    t->size[0] = (size_t)o->rows * (size_t)o->width;
    t->size[1] = (size_t)o->width * (size_t)o->vocabulary;
    t->size[2] = (size_t)o->vocabulary;
    for (int p = 0; p < PARTS; p++) {
        t->value[p] = numbers_new(t->size[p], 1.0f, (uint64_t)p + 1);
        t->grad[p] = xcalloc(t->size[p], sizeof(float));
    }
    t->gold = ARRAY_ALLOC(t->gold, (size_t)o->rows);
    for (int i = 0; i < o->rows; i++)
        t->gold[i] = numbers_pick(o->vocabulary, 4, (uint64_t)i);
    t->row_nll = ARRAY_ZERO(t->row_nll, (size_t)o->rows);
}

static void output_release(struct output_trial *t)
{
    graph_release(&t->g);
    for (int p = 0; p < PARTS; p++) {
        free(t->value[p]);
        free(t->grad[p]);
    }
    free(t->gold);
    free(t->row_nll);
}

static float *gradient_of(struct output_trial *t, int p)
{
    return t->constant[p] ? NULL : t->grad[p];
}

/* Gradients start from the operation itself: a call that is to give a value
 * only is of an inference graph. */
static double run_output(void *arg, bool backward)
{
    struct output_trial *t = arg;
    const struct output *o = t->output;
    graph_reset(&t->g);
    t->g.training = backward;
    struct node *r = graph_leaf(&t->g, o->rows, o->width, t->value[0],
                                gradient_of(t, 0));
    struct node *w = graph_leaf(&t->g, o->transposed ? o->vocabulary : o->width,
                                o->transposed ? o->width : o->vocabulary,
                                t->value[1], gradient_of(t, 1));
    struct node *b = graph_leaf(&t->g, 1, o->vocabulary, t->value[2],
                                gradient_of(t, 2));
    struct loss_config config = { .transposed = o->transposed,
                                  .smoothing = o->smoothing,
                                  .scale = o->scale };
    t->loss = cross_entropy(&t->g, r, w, b, t->gold, &config, t->row_nll);
    if (backward)
        graph_backward(&t->g);
    return (double)o->scale * t->loss.smoothed;
}

static void test_cross_entropy_gradients(void **state)
{
    (void)state;
    static const char *const names[PARTS] = { "r", "w", "b" };
    for (int k = 0; k < OUTPUTS; k++) {
        struct output_trial t;
        struct gradcheck_leaf leaves[PARTS];
        output_init(&t, &outputs[k]);
        for (int p = 0; p < PARTS; p++)
            leaves[p] = (struct gradcheck_leaf){ names[p], t.value[p],
                                                 t.grad[p], t.size[p] };
        struct gradcheck check = { .function = run_output,
                                   .arg = &t,
                                   .leaves = leaves,
                                   .count = PARTS,
                                   .samples = outputs[k].samples };
        if (gradcheck(&check) < 0)
            fail_msg("%s", outputs[k].name);
        output_release(&t);
    }
}

static double logit(const struct output_trial *t, int i, int v)
{
    const struct output *o = t->output;
    double sum = (double)t->value[2][v];
    for (int e = 0; e < o->width; e++) {
        float w = o->transposed ? t->value[1][v * o->width + e]
                                : t->value[1][e * o->vocabulary + v];
        sum += (double)t->value[0][i * o->width + e] * (double)w;
    }
    return sum;
}

/* - sum_v t_v log p_v, t = (1 - s) onehot + s / V */
static double row_loss(const struct output_trial *t, int i, double smoothing)
{
    int V = t->output->vocabulary;
    double sum = 0, loss = 0;
    for (int v = 0; v < V; v++)
        sum += exp(logit(t, i, v));
    for (int v = 0; v < V; v++) {
        double share = smoothing / V + (v == t->gold[i] ? 1 - smoothing : 0);
        loss -= share * (logit(t, i, v) - log(sum));
    }
    return loss;
}

static void check_losses(const struct output_trial *t)
{
    double nll = 0, smoothed = 0;
    for (int i = 0; i < t->output->rows; i++) {
        double row = row_loss(t, i, 0);
        assert_true(fabs((double)t->row_nll[i] - row) < 2e-6 * (1 + row));
        nll += row;
        smoothed += row_loss(t, i, (double)t->output->smoothing);
    }
    assert_true(fabs(t->loss.nll - nll) < 1e-6 * (1 + nll));
    assert_true(fabs(t->loss.smoothed - smoothed) < 1e-6 * (1 + smoothed));
}

static void test_cross_entropy_values(void **state)
{
    (void)state;
    for (int k = 0; k < OUTPUTS; k++) {
        struct output_trial t;
        output_init(&t, &outputs[k]);
        run_output(&t, false);
        check_losses(&t);
        run_output(&t, true);
        check_losses(&t);
        output_release(&t);
    }
}

/* Logits far outside of what exp() can take; and the loss of a row that is
 * sure, which is small but not negative. */
static void test_cross_entropy_of_large_logits(void **state)
{
    (void)state;
    struct output_trial t;
    output_init(&t, &outputs[0]);
    for (size_t i = 0; i < t.size[1]; i++)
        t.value[1][i] *= 300;
    run_output(&t, true);
    assert_true(isfinite(t.loss.nll));
    for (int i = 0; i < outputs[0].rows; i++)
        assert_true(t.row_nll[i] >= 0);
    for (size_t i = 0; i < t.size[0]; i++)
        assert_true(isfinite(t.grad[0][i]));
    output_release(&t);
}

static void test_cross_entropy_is_not_a_number(void **state)
{
    (void)state;
    struct output_trial t;
    output_init(&t, &outputs[0]);
    t.value[0][5] = NAN;
    run_output(&t, true);
    assert_true(isnan(t.loss.nll) && isnan(t.loss.smoothed));
    output_release(&t);
}

/* Rows that are the same have the same gradient, whatever chunk they are in. */
static void test_cross_entropy_in_chunks(void **state)
{
    (void)state;
    enum { PERIOD = 13 };
    for (int k = 0; k < OUTPUTS; k++) {
        const struct output *o = &outputs[k];
        struct output_trial t;
        output_init(&t, o);
        for (int i = PERIOD; i < o->rows; i++) {
            t.gold[i] = t.gold[i - PERIOD];
            memcpy(t.value[0] + i * o->width,
                   t.value[0] + (i - PERIOD) * o->width,
                   (size_t)o->width * sizeof(float));
        }
        run_output(&t, true);
        for (int i = PERIOD * o->width; i < o->rows * o->width; i++) {
            double was = (double)t.grad[0][i - PERIOD * o->width];
            assert_true(fabs((double)t.grad[0][i] - was) < 1e-6);
        }
        output_release(&t);
    }
}

static void test_cross_entropy_of_constants(void **state)
{
    (void)state;
    for (int k = 0; k < OUTPUTS; k++)
        for (int p = 0; p < PARTS; p++) {
            struct output_trial all, some;
            output_init(&all, &outputs[k]);
            output_init(&some, &outputs[k]);
            some.constant[p] = true;
            run_output(&all, true);
            run_output(&some, true);
            for (int q = 0; q < PARTS; q++)
                assert_true(q == p ||
                            same_bits(all.grad[q], some.grad[q], all.size[q]));
            output_release(&all);
            output_release(&some);
        }
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cross_entropy_gradients),
        cmocka_unit_test(test_cross_entropy_values),
        cmocka_unit_test(test_cross_entropy_of_large_logits),
        cmocka_unit_test(test_cross_entropy_is_not_a_number),
        cmocka_unit_test(test_cross_entropy_in_chunks),
        cmocka_unit_test(test_cross_entropy_of_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
