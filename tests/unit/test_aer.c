/* Alignment error rates, worked by hand. */
#include "metrics/aer.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/lines.h"
#include "metrics/links.h"

static struct links links(const char *text)
{
    struct lines lines = { .name = (char *)"links", .number = 1 };
    struct links_reader r = { .in = &lines };
    struct links l = { 0 };

    assert_int_equal(links_parse(&l, &r, text, strlen(text)), 0);
    return l;
}

static void add(struct aer *a, const char *gold, const char *hypothesis)
{
    struct links g = links(gold), h = links(hypothesis);

    aer_add(a, &g, &h);
    links_release(&g);
    links_release(&h);
}

static void assert_score(const struct aer *a, double rate, double precision,
                         double recall)
{
    struct aer_score s = aer_score(a);

    assert_true(fabs(s.rate - rate) < 1e-12);
    assert_true(fabs(s.precision - precision) < 1e-12);
    assert_true(fabs(s.recall - recall) < 1e-12);
}

/* Sure: 0-0 1-1 2-2. Of five links two are sure, one more is possible. */
static void test_by_hand(void **state)
{
    struct aer a = { 0 };
    (void)state;
    add(&a, "0-0 1-1 2-2 2?3 3?3", "0-0 1-1 2-3 0-3 5-9");
    assert_int_equal(a.links, 5);
    assert_int_equal(a.sure, 3);
    assert_int_equal(a.possible, 5);
    assert_int_equal(a.links_sure, 2);
    assert_int_equal(a.links_possible, 3);
    assert_score(&a, 1 - (2 + 3) / 8.0, 3 / 5.0, 2 / 3.0);

    /* The counts of all sentences make the score, not the mean of scores. */
    add(&a, "0-0", "");
    assert_score(&a, 1 - (2 + 3) / 9.0, 3 / 5.0, 2 / 4.0);
    add(&a, "", "0-0");
    assert_score(&a, 1 - (2 + 3) / 10.0, 3 / 6.0, 2 / 4.0);
    add(&a, "", "");
    assert_score(&a, 1 - (2 + 3) / 10.0, 3 / 6.0, 2 / 4.0);
}

static void test_extremes(void **state)
{
    struct aer a = { 0 };
    (void)state;
    assert_score(&a, 0, 0, 0);
    add(&a, "3-1 0-0 2?2", "0-0 3-1");
    assert_score(&a, 0, 1, 1);
    a = (struct aer){ 0 };
    add(&a, "3-1 0-0 2?2", "2-2 0-0 3-1");
    assert_score(&a, 0, 1, 1);
    a = (struct aer){ 0 };
    add(&a, "0-0 1-1", "0-1 1-0");
    assert_score(&a, 1, 0, 0);
    a = (struct aer){ 0 };
    add(&a, "0-0 1-1", "");
    assert_score(&a, 1, 0, 0);
}

/* Links that are there twice count once, possible ones of the hypothesis as
 * any other. */
static void test_sets(void **state)
{
    struct aer a = { 0 };
    (void)state;
    add(&a, "0-0 0-0 1?1 1-1", "1?1 1-1 1-1 0?0");
    assert_int_equal(a.links, 2);
    assert_int_equal(a.sure, 2);
    assert_score(&a, 0, 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
