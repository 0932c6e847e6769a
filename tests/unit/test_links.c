/* Links between words: reading, checking, printing. */
#include "metrics/links.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/lines.h"
#include "scratch.h"

/* A file of links in memory. */
struct file {
    struct lines lines;
    struct links_reader reader;
    struct links links;
};

static void file_open(struct file *f, const char *text)
{
    *f = (struct file){ 0 };
    lines_open_text(&f->lines, "gold", text, strlen(text));
    f->reader.in = &f->lines;
    f->reader.option = "--base";
}

/* Parses the next line; what links_parse() says, or 1 at the end. */
static int file_next(struct file *f)
{
    char *line;
    size_t len;

    if (lines_next(&f->lines, &line, &len) == 0)
        return 1;
    return links_parse(&f->links, &f->reader, line, len);
}

static void file_release(struct file *f)
{
    links_release(&f->links);
    lines_release(&f->lines);
}

static void assert_links(const struct links *l, const char *expected)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);

    links_print(l, out);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

/* The links of a text of one line. */
static void assert_reads(int base, bool reversed, const char *text,
                         const char *expected)
{
    struct file f;

    file_open(&f, text);
    f.reader.base = base;
    f.reader.reversed = reversed;
    assert_int_equal(file_next(&f), 0);
    assert_links(&f.links, expected);
    file_release(&f);
}

static void test_reads(void **state)
{
    (void)state;
    assert_reads(0, false, "0-0 1-2", "0-0 1-2\n");
    assert_reads(0, false, "\n", "\n");
    assert_reads(0, false, " \t 3-1\t0-0  ", "0-0 3-1\n");
    assert_reads(0, false, "007-0010", "7-10\n");
    assert_reads(0, false, "33554431-0", "33554431-0\n");
    assert_reads(0, false, "2?1 0p0 1-1", "0?0 1-1 2?1\n");
    assert_reads(1, false, "1-1 2?3", "0-0 1?2\n");
    assert_reads(0, true, "0-1 2?0", "1-0 0?2\n");
    assert_reads(1, true, "1-2", "1-0\n");
}

/* Sorted by target and then source word; a sure link hides a possible one. */
static void test_is_a_set(void **state)
{
    (void)state;
    assert_reads(0, false, "5-1 0-2 3-1 10-0", "10-0 3-1 5-1 0-2\n");
    assert_reads(0, false, "1-1 1-1 1-1", "1-1\n");
    assert_reads(0, false, "1?1 1-1 2-2 2?2 0?0 0?0", "0?0 1-1 2-2\n");
}

static void assert_refused(int base, const char *text, const char *message)
{
    struct file f;

    file_open(&f, text);
    f.reader.base = base;
    capture_start();
    int got = 0;
    while (got == 0)
        got = file_next(&f);
    const char *said = capture_stop();
    assert_int_equal(got, -1);
    assert_holds(said, message);
    file_release(&f);
}

static void test_refuses(void **state)
{
    static const char *const bad[] = { "x",    "1",     "1-",   "-1",  "1-2-",
                                       "1-2x", "1--2",  "-1-2", "1:2", "1_2",
                                       "+1-2", "1-2,0", "?",    "1?",  "1??2" };
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "0-0\n1-1 %s 2-2\n", bad[i]);
        assert_refused(0, text, "gold:2: '");
        assert_refused(0, text, bad[i]);
    }
    assert_refused(0, "33554432-0", "is not a link");
    assert_refused(0, "0-99999999999999999999999", "is not a link");
    assert_refused(1, "1-1\n\n2-0\n",
                   "gold:3: link 2-0: words should be numbered from 1 here "
                   "(--base 1)");
}

/* A NUL byte is no link either. */
static void test_refuses_nul(void **state)
{
    struct file f;
    char line[] = "1\0002";
    (void)state;
    file_open(&f, "");
    capture_start();
    assert_int_equal(links_parse(&f.links, &f.reader, line, 3), -1);
    assert_holds(capture_stop(), "is not a link");
    file_release(&f);
}

/* What is said of the first line, for sentences of so many words. */
static const char *check(struct file *f, int sources, int targets, int status)
{
    assert_int_equal(file_next(f), 0);
    capture_start();
    assert_int_equal(links_check(&f->links, &f->reader, sources, targets),
                     status);
    return capture_stop();
}

static void assert_check(int base, bool reversed, const char *text,
                         const int words[2], const char *message)
{
    struct file f;

    file_open(&f, text);
    f.reader.base = base;
    f.reader.reversed = reversed;
    const char *said = check(&f, words[0], words[1], message ? -1 : 0);
    if (message != NULL)
        assert_holds(said, message);
    else
        assert_string_equal(said, "");
    file_release(&f);
}

static void test_range(void **state)
{
    const int w23[] = { 2, 3 }, unknown[] = { -1, -1 }, w_3[] = { -1, 3 },
              none[] = { 0, 1 };
    (void)state;
    assert_check(0, false, "0-0 1-2", w23, NULL);
    assert_check(1, false, "1-1 2-3", w23, NULL);
    assert_check(0, true, "2-1", w23, NULL);
    assert_check(0, false, "1000-1000", unknown, NULL);
    assert_check(0, false, "9-2", w_3, NULL);
    assert_check(0, false, "\n", none, NULL);
    assert_check(0, false, "0-0 2-1", w23,
                 "gold:1: link 2-1: the source sentence has 2 words, numbered "
                 "from 0\n");
    assert_check(0, false, "0-0 1?3", w23,
                 "gold:1: link 1?3: the target sentence has 3 words, numbered "
                 "from 0\n");
    assert_check(
        1, false, "3-1", w23,
        "link 3-1: the source sentence has 2 words, numbered from 1\n");
    assert_check(0, true, "3-1 0-0", w23,
                 "link 3-1: the target sentence has 3 words");
    assert_check(0, false, "0-0", none, "the source sentence has 0 words");
}

/* Numbered from 1: the word behind the last, and no 0 in the whole file. */
static void test_numbered_from_1(void **state)
{
    const int words[] = { 2, 2 };
    const char *hint = "so it seems to be numbered from 1: give --base 1";
    struct file f;
    (void)state;
    assert_check(0, false, "2-2\n1-1 10-20\n", words, hint);
    assert_check(0, false, "1-2", words, hint);
    file_open(&f, "2-2\n1-0 junk\n");
    assert_null(strstr(check(&f, 2, 2, -1), "--base"));
    file_release(&f);
    file_open(&f, "3-3\n1-1\n");
    assert_null(strstr(check(&f, 2, 2, -1), "--base"));
    file_release(&f);
}

static const char *hint_of(int base, const char *text)
{
    struct file f;

    file_open(&f, text);
    f.reader.base = base;
    while (file_next(&f) == 0)
        ;
    capture_start();
    links_hint(&f.reader);
    file_release(&f);
    return capture_stop();
}

static void test_hint(void **state)
{
    (void)state;
    assert_holds(hint_of(0, "1-1 2-2\n3-1\n"), "give --base 1");
    assert_string_equal(hint_of(0, "1-1 2-2\n3-0\n"), "");
    assert_string_equal(hint_of(1, "1-1 2-2\n"), "");
    assert_string_equal(hint_of(0, "\n\n"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_is_a_set),
        cmocka_unit_test(test_refuses),
        cmocka_unit_test(test_refuses_nul),
        cmocka_unit_test(test_range),
        cmocka_unit_test(test_hint),
        cmocka_unit_test(test_numbered_from_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
