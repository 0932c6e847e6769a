/* The arithmetic of attn-bench: the figures that were worked out by hand, and
 * those of the model's own matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/arithmetic.h"
#include "config/config.h"
#include "model/model.h"

static double millions(int E, int H, struct arithmetic_tokens n)
{
    struct arithmetic_model m = { E, H, 8000 };
    return arithmetic_forward(&m, &n) / 1e6;
}

/* A pair of tokens, 13 source tokens to a sentence. */
static void by_hand(void **state)
{
    static const struct arithmetic_tokens pair = { 1, 1, 13 };
    (void)state;
    assert_float_equal(millions(128, 128, pair), 1.54, 0.005);
    assert_float_equal(millions(256, 256, pair), 4.1, 0.05);
    assert_float_equal(millions(512, 512, pair), 12.2, 0.05);
    assert_float_equal(millions(512, 1024, pair), 29.5, 0.1);
}

static void parts_by_hand(void **state)
{
    (void)state;
    assert_float_equal(millions(512, 512,
                                (struct arithmetic_tokens){ .source = 1 }),
                       3.15 + 0.52, 0.01);
    assert_float_equal(millions(512, 512,
                                (struct arithmetic_tokens){ .target = 1 }),
                       3.15 + 0.26 + 1.05 + 4.10, 0.01);
    assert_float_equal(millions(512, 512,
                                (struct arithmetic_tokens){ .met = 1000 }),
                       1.536, 1e-6);
}

static void a_step_is_three_times_two(void **state)
{
    static const struct arithmetic_model m = { 512, 512, 8000 };
    static const struct arithmetic_tokens pair = { 1, 1, 13 };
    (void)state;
    assert_float_equal(arithmetic_training(&m, &pair) / 1e6, 73, 0.5);
}

/* One row of everything: each matrix is read for each token, and little else;
 * with many rows a product's own rows are what is moved. */
static void bytes(void **state)
{
    static const struct arithmetic_model m = { 512, 512, 8000 };
    static const struct arithmetic_tokens pair = { 1, 1, 0 };
    static const struct arithmetic_rows one = { 1, 1, 1, 1 };
    static const struct arithmetic_rows many = { 1e9, 1e9, 1e9, 1e9 };
    double weights = arithmetic_forward(&m, &pair);
    (void)state;
    double rows = arithmetic_bytes(&m, &pair, &many);
    assert_float_equal(arithmetic_bytes(&m, &pair, &one), 4 * weights + rows,
                       1);
    /* x and y of: input and two recurrences of the encoder, keys; input,
     * context and recurrence of the decoder, query, readout, output */
    assert_float_equal(rows / 4,
                       (512 + 3072) + 2 * (512 + 1536) + (1024 + 512) +
                           (512 + 1536) + (1024 + 1536) + (512 + 1536) +
                           (512 + 512) + (2048 + 512) + (512 + 8000),
                       1);
}

/* Entries of the matrices whose names start so: each is used once a token. */
static double entries(const struct params *p, const char *const *prefix)
{
    double sum = 0;
    for (int i = 0; i < p->count; i++)
        for (const char *const *start = prefix; *start; start++)
            if (p->list[i].rows > 1 && !p->list[i].table &&
                strncmp(p->list[i].name, *start, strlen(*start)) == 0)
                sum += (double)p->list[i].rows * p->list[i].cols;
    return sum;
}

/* The model as it is built, of the widths 5 and 7. */
static void by_the_model(void **state)
{
    static const char *const source[] = { "encoder.", "attention.U", NULL };
    static const char *const target[] = { "decoder.", "attention.W", "readout.",
                                          "output.", NULL };
    static const struct arithmetic_model small = { 5, 7, 11 };
    struct config cfg;
    (void)state;
    config_init(&cfg);
    assert_int_equal(config_set(&cfg, "model.embedding", "5"), 0);
    assert_int_equal(config_set(&cfg, "encoder.hidden", "7"), 0);
    assert_int_equal(config_set(&cfg, "decoder.hidden", "7"), 0);
    struct model *m = model_new(&cfg, 13, 11);
    assert_non_null(m);
    assert_float_equal(
        arithmetic_forward(&small, &(struct arithmetic_tokens){ .source = 1 }),
        entries(&m->params, source), 1e-9);
    assert_float_equal(
        arithmetic_forward(&small, &(struct arithmetic_tokens){ .target = 1 }),
        entries(&m->params, target), 1e-9);
    model_free(m);
    config_release(&cfg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(parts_by_hand),
        cmocka_unit_test(a_step_is_three_times_two),
        cmocka_unit_test(bytes),
        cmocka_unit_test(by_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
