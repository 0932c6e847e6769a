/* The formats of alignments, byte by byte. */
#include "search/alignment.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const source[] = { "das", "Haus", "</s>" };
static const char *const target[] = { "the", "house", "</s>" };
static const float weights[] = {
    1.0f, 0.0f,  0.0f,     // the
    0.1f, 0.7f,  0.2f,     // house
    0.0f, 1e-9f, 1.0f / 3, // </s>
};

static const struct alignment house = {
    .sentence = 0,
    .hypothesis = -1,
    .sources = 3,
    .targets = 3,
    .source_eos = true,
    .target_eos = true,
    .source = source,
    .target = target,
    .weights = weights,
};

static const struct alignment empty = { .sentence = 1, .hypothesis = -1 };

/* Prints n alignments; the text is the caller's. */
static void print(char **text, const char *format, const struct alignment *a,
                  int n)
{
    size_t len;
    FILE *out = open_memstream(text, &len);
    const struct alignment_format *f = alignment_format(format);

    assert_non_null(f);
    if (f->header != NULL)
        f->header(out, a->hypothesis >= 0);
    for (int i = 0; i < n; i++)
        f->print(out, &a[i]);
    fclose(out);
}

static void assert_prints(const char *format, const struct alignment *a, int n,
                          const char *expected)
{
    char *text;
    print(&text, format, a, n);
    assert_string_equal(text, expected);
    free(text);
}

static const char house_csv[] =
    "sentence,target_pos,target,source_pos,source,weight\n"
    "0,0,the,0,das,1\n"
    "0,0,the,1,Haus,0\n"
    "0,0,the,2,</s>,0\n"
    "0,1,house,0,das,0.100000001\n"
    "0,1,house,1,Haus,0.699999988\n"
    "0,1,house,2,</s>,0.200000003\n"
    "0,2,</s>,0,das,0\n"
    "0,2,</s>,1,Haus,9.99999972e-10\n"
    "0,2,</s>,2,</s>,0.333333343\n";

static void test_csv(void **state)
{
    (void)state;
    assert_prints("csv", &house, 1, house_csv);
}

/* An empty line has no rows, but the next one has its number. */
static void test_csv_numbers(void **state)
{
    struct alignment a[] = { empty, house };
    (void)state;
    a[0].sentence = 6;
    a[1].sentence = 7;
    a[1].targets = 1;
    a[1].sources = 1;
    assert_prints("csv", a, 2,
                  "sentence,target_pos,target,source_pos,source,weight\n"
                  "7,0,the,0,das,1\n");
    a[1].sources = 0;
    assert_prints("csv", a, 2,
                  "sentence,target_pos,target,source_pos,source,weight\n");
}

static void test_csv_n_best(void **state)
{
    struct alignment a[] = { house, house };
    (void)state;
    for (int i = 0; i < 2; i++) {
        a[i].hypothesis = i;
        a[i].targets = a[i].sources = 1;
    }
    assert_prints("csv", a, 2,
                  "sentence,hypothesis,target_pos,target,source_pos,source,"
                  "weight\n"
                  "0,0,0,the,0,das,1\n"
                  "0,1,0,the,0,das,1\n");
}

static void test_csv_quotes(void **state)
{
    static const char *const odd[] = { "a,b", "\"", "c\r", "d\n", "e f", "'" };
    struct alignment a = house;
    float w[6] = { 0 };
    (void)state;
    a.source = odd;
    a.sources = 6;
    a.targets = 1;
    a.weights = w;
    assert_prints("csv", &a, 1,
                  "sentence,target_pos,target,source_pos,source,weight\n"
                  "0,0,the,0,\"a,b\",0\n"
                  "0,0,the,1,\"\"\"\",0\n"
                  "0,0,the,2,\"c\r\",0\n"
                  "0,0,the,3,\"d\n\",0\n"
                  "0,0,the,4,e f,0\n"
                  "0,0,the,5,',0\n");
}

/* Nine digits bring the same float back. */
static void test_csv_weights_are_exact(void **state)
{
    struct alignment a = house;
    float w[1];
    (void)state;
    a.sources = a.targets = 1;
    a.weights = w;
    for (int i = 1; i < 2000; i++) {
        w[0] = (float)i / 1999.0f;
        char *text;
        print(&text, "csv", &a, 1);
        float read = strtof(strrchr(text, ',') + 1, NULL);
        assert_true(read == w[0]);
        free(text);
    }
}

static void test_csv_in_any_locale(void **state)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                         "fr_FR.UTF-8", "fr_FR" };
    const char *found = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names && found == NULL; i++)
        found = setlocale(LC_NUMERIC, names[i]);
    if (found == NULL) {
        print_message("# no locale with a decimal comma here\n");
        return;
    }
    assert_prints("csv", &house, 1, house_csv);
    setlocale(LC_NUMERIC, "C");
}

static void test_matrix(void **state)
{
    struct alignment a[] = { house, empty, house };
    (void)state;
    a[2].sentence = 2;
    a[2].targets = 1;
    assert_prints("matrix", a, 3,
                  ",das,Haus,</s>\n"
                  "the,1,0,0\n"
                  "house,0.100000001,0.699999988,0.200000003\n"
                  "</s>,0,9.99999972e-10,0.333333343\n"
                  "\n"
                  "\"\"\n"
                  "\n"
                  ",das,Haus,</s>\n"
                  "the,1,0,0\n");
}

static void test_matrix_n_best(void **state)
{
    struct alignment a[] = { house, house };
    (void)state;
    a[0].hypothesis = 0;
    a[1].hypothesis = 1;
    a[0].targets = a[1].targets = 1;
    assert_prints("matrix", a, 2,
                  ",das,Haus,</s>\n"
                  "the,1,0,0\n"
                  "\n"
                  ",das,Haus,</s>\n"
                  "the,1,0,0\n");
}

/* No link for </s>, nor to it, nor without a weight; of equal weights the
 * first. */
static void test_pharaoh(void **state)
{
    static const float w[] = {
        0.2f, 0.2f, 0.1f, // the
        0.1f, 0.4f, 0.5f, // house
        0.9f, 0.0f, 0.1f, // </s>
    };
    static const float none[9] = { NAN };
    struct alignment a[] = { house, empty, house, house, house };
    (void)state;
    a[2].weights = w;
    a[3].weights = none;
    a[4].weights = w; /* as if the last of each side were words */
    a[4].source_eos = a[4].target_eos = false;
    assert_prints("pharaoh", a, 5,
                  "0-0 1-1\n"
                  "\n"
                  "0-0\n"
                  "\n"
                  "0-0 2-1 0-2\n");
}

static void test_terminal(void **state)
{
    struct alignment a[] = { house, empty };
    (void)state;
    a[0].hypothesis = 1;
    assert_prints("terminal", a, 2,
                  "sentence 0, hypothesis 1   0 · ░░▒▒▓▓██ 1\n"
                  "       ┌ das\n"
                  "       │ ┌ Haus\n"
                  "       │ │ ┌ </s>\n"
                  "   the ██· · \n"
                  " house ░░▓▓░░\n"
                  "  </s> · · ▒▒\n"
                  "\n"
                  "sentence 1   (empty)\n"
                  "\n");
}

static void test_terminal_colours(void **state)
{
    struct alignment a = house;
    (void)state;
    a.colour = true;
    a.sources = 2;
    a.targets = 1;
    char *text;
    print(&text, "terminal", &a, 1);
    assert_non_null(
        strstr(text, "the \033[48;5;229m  \033[48;5;236m  \033[0m\n"));
    free(text);
}

/* Wide and combining characters keep the columns in line; what would harm a
 * terminal is replaced; long tokens are cut. */
static void test_terminal_widths(void **state)
{
    static const char *const odd[] = {
        "\xe7\x8c\xab",       /* cat, two columns */
        "e\xcc\x81t\xc3\xa9", /* combining accent */
        "\033[2J", "\xff\xc3", "Donaudampfschifffahrtsgesellschaft"
    };
    struct alignment a = house;
    (void)state;
    if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
        print_message("# no UTF-8 locale here\n");
        return;
    }
    setlocale(LC_CTYPE, "C");
    a.target = odd;
    a.targets = 5;
    a.sources = 1;
    a.weights = (const float[]){ 1, NAN, -1, 2, 0.5f };
    assert_prints("terminal", &a, 1,
                  "sentence 0   0 · ░░▒▒▓▓██ 1\n"
                  "                      ┌ das\n"
                  "                   \xe7\x8c\xab ██\n"
                  "                  e\xcc\x81t\xc3\xa9 · \n"
                  "                 \xef\xbf\xbd[2J · \n"
                  "                   \xef\xbf\xbd\xef\xbf\xbd ██\n"
                  " Donaudampfschifffah… ▓▓\n"
                  "\n");
}

/* No line is wider than 80 columns, and every token has its column. */
static void test_terminal_long(void **state)
{
    enum { S = 100 };
    const char *words[S];
    float w[2 * S] = { 0 };
    struct alignment a = house;
    int stairs = 0, rows = 0;
    (void)state;
    for (int i = 0; i < S; i++)
        words[i] = i % 2 == 0 ? "x" : "extraordinarily-long-token";
    a.source = words;
    a.sources = S;
    a.targets = 2;
    a.weights = w;
    char *text;
    print(&text, "terminal", &a, 1);
    for (char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n"), columns = 0;
        for (size_t i = 0; i < len; i++)
            columns += ((unsigned char)line[i] & 0xC0) != 0x80;
        assert_true(columns <= 80);
        line[len] = '\0';
        stairs += strstr(line, "┌ ") != NULL;
        rows += strncmp(line, " house ", 7) == 0;
        line += len + 1;
    }
    assert_int_equal(stairs, S);
    assert_int_equal(rows, 4);
    free(text);
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; alignment_formats[i] != NULL; i++)
        assert_ptr_equal(alignment_format(alignment_formats[i]->name),
                         alignment_formats[i]);
    assert_null(alignment_format("CSV"));
    assert_null(alignment_format(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_csv),
        cmocka_unit_test(test_csv_numbers),
        cmocka_unit_test(test_csv_n_best),
        cmocka_unit_test(test_csv_quotes),
        cmocka_unit_test(test_csv_weights_are_exact),
        cmocka_unit_test(test_csv_in_any_locale),
        cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_matrix_n_best),
        cmocka_unit_test(test_pharaoh),
        cmocka_unit_test(test_terminal),
        cmocka_unit_test(test_terminal_colours),
        cmocka_unit_test(test_terminal_widths),
        cmocka_unit_test(test_terminal_long),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
