/* Symmetrisation on small cases worked by hand. tests/cli/aer.t compares many
 * more with tests/reference_links.py. */
#include "metrics/symmetrize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/lines.h"
#include "metrics/links.h"
#include "scratch.h"

static struct links links(const char *text)
{
    struct lines lines = { .name = (char *)"links", .number = 1 };
    struct links_reader r = { .in = &lines };
    struct links l = { 0 };

    assert_int_equal(links_parse(&l, &r, text, strlen(text)), 0);
    return l;
}

/* expected: of each method, in the order of the table. */
static void assert_makes(const char *forward, const char *backward,
                         const char *const expected[4])
{
    struct links f = links(forward), b = links(backward), out = { 0 };

    for (int i = 0; symmetrizations[i].name != NULL; i++) {
        char *text;
        size_t len;
        FILE *stream = open_memstream(&text, &len);
        symmetrize(&symmetrizations[i], &f, &b, &out);
        links_print(&out, stream);
        fclose(stream);
        text[len - 1] = '\0';
        assert_string_equal(text, expected[i]);
        free(text);
    }
    links_release(&f);
    links_release(&b);
    links_release(&out);
}

static void test_empty(void **state)
{
    static const char *const nothing[] = { "", "", "", "" };
    static const char *const one[] = { "", "1-2", "", "1-2" };
    (void)state;
    assert_makes("", "", nothing);
    assert_makes("1-2", "", one);
    assert_makes("", "1-2", one);
}

static void test_equal(void **state)
{
    static const char *const all[] = { "1-0 0-1 5-5", "1-0 0-1 5-5",
                                       "1-0 0-1 5-5", "1-0 0-1 5-5" };
    (void)state;
    assert_makes("0-1 1-0 5-5", "5-5 1-0 0-1", all);
}

/* From 0-0 to its neighbours 1-0 and 1-1: 1-0 first (source 1 is free), then
 * 1-1 (target 1 is free), from there 2-2. 5-4 is no neighbour of anything, but
 * both its words are free; of 5-4 and 5-6, which share a word, the forward one
 * comes first. */
static void test_grows(void **state)
{
    static const char *const expected[] = {
        "0-0",
        "0-0 1-0 1-1 2-2 5-4 5-6",
        "0-0 1-0 1-1 2-2",
        "0-0 1-0 1-1 2-2 5-4",
    };
    (void)state;
    assert_makes("0-0 1-1 5-4", "0-0 1-0 2-2 5-6", expected);
}

/* A neighbour whose words both have links stays out: 1-0 between 0-0 and
 * 1-1. */
static void test_stops(void **state)
{
    static const char *const expected[] = { "0-0 1-1", "0-0 1-0 1-1", "0-0 1-1",
                                            "0-0 1-1" };
    (void)state;
    assert_makes("0-0 1-1", "0-0 1-0 1-1", expected);
}

/* What was added in a pass is grown from in the same pass when it comes later
 * in the order, else in the next: 1-1 is reached backwards, by way of 2-2. */
static void test_grows_backwards(void **state)
{
    static const char *const expected[] = { "3-3", "0-0 1-1 2-2 3-3",
                                            "0-0 1-1 2-2 3-3",
                                            "0-0 1-1 2-2 3-3" };
    (void)state;
    assert_makes("3-3 2-2 1-1 0-0", "3-3", expected);
}

/* The order of neighbours decides: around 1-1, target 0 goes to source 1, not
 * to sources 0 or 2, which are free but come later; these get their links
 * because they are free themselves. */
static void test_order(void **state)
{
    static const char *const expected[] = { "1-1", "0-0 1-0 2-0 1-1",
                                            "0-0 1-0 2-0 1-1",
                                            "0-0 1-0 2-0 1-1" };
    static const char *const diagonal[] = { "1-1", "2-0 1-1 2-1", "2-0 1-1 2-1",
                                            "2-0 1-1 2-1" };
    (void)state;
    assert_makes("1-1 0-0 1-0 2-0", "1-1", expected);
    assert_makes("1-1 2-0", "1-1 2-1", diagonal);
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; symmetrizations[i].name != NULL; i++)
        assert_ptr_equal(symmetrization_named(symmetrizations[i].name),
                         &symmetrizations[i]);
    capture_start();
    assert_null(symmetrization_named("grow-diag-final"));
    assert_holds(capture_stop(), "grow-diag-final-and");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty), cmocka_unit_test(test_equal),
        cmocka_unit_test(test_grows), cmocka_unit_test(test_stops),
        cmocka_unit_test(test_order), cmocka_unit_test(test_grows_backwards),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
