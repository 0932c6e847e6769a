/* The formats of alignments, byte by byte. */
#include "search/alignment.h"

#include <limits.h>
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

#include "search/alignment_drawing.h"
#include "search/alignment_label.h"

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
    struct alignment_writer w = {
        .format = alignment_format(format),
        .out = open_memstream(text, &len),
        .numbered = n > 0 && a->hypothesis >= 0,
    };

    assert_non_null(w.format);
    alignment_writer_begin(&w);
    for (int i = 0; i < n; i++)
        alignment_writer_print(&w, &a[i]);
    alignment_writer_end(&w);
    fclose(w.out);
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

/* --- drawings ----------------------------------------------------------- */

static const char *const drawn[] = { "svg", "html" };

enum { DRAWN = sizeof drawn / sizeof *drawn };

/* How often the piece stands in the text. */
static int count(const char *text, const char *piece)
{
    int n = 0;
    for (const char *s = strstr(text, piece); s != NULL;
         s = strstr(s + 1, piece))
        n++;
    return n;
}

static void assert_holds(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL)
        fail_msg("'%s' is not in:\n%s", piece, text);
}

static unsigned channel(unsigned colour, int shift)
{
    return colour >> shift & 0xff;
}

/* From white down to the darkest, every step as large as the others. */
static void test_weight_colour(void **state)
{
    (void)state;
    assert_int_equal(weight_colour(0), 0xffffff);
    assert_int_equal(weight_colour(-1), 0xffffff);
    assert_int_equal(weight_colour(NAN), 0xffffff);
    assert_int_equal(weight_colour(-INFINITY), 0xffffff);
    assert_int_equal(weight_colour(2), weight_colour(1));
    assert_int_equal(weight_colour(INFINITY), weight_colour(1));
    for (int i = 1; i <= 100; i++) {
        unsigned a = weight_colour((float)(i - 1) / 100);
        unsigned b = weight_colour((float)i / 100);
        for (int shift = 0; shift <= 16; shift += 8)
            assert_true(channel(b, shift) <= channel(a, shift));
        int step = (int)(channel(a, 8) - channel(b, 8));
        assert_in_range(step, 1, 3);
    }
}

/* Cells with their exact weights, and none where it would be white. */
static void test_svg(void **state)
{
    char *text;
    (void)state;
    print(&text, "svg", &house, 1);
    assert_int_equal(strncmp(text, "<svg xmlns=", 11), 0);
    assert_string_equal(text + strlen(text) - 7, "</svg>\n");
    assert_holds(text, ">sentence 0</text>");
    assert_holds(text, "<path d=\"M0 0h24v24h-24\" fill=\"#002e8e\"><title>"
                       "the ← das: 1</title></path>");
    assert_holds(text, "<title>house ← Haus: 0.699999988</title>");
    assert_holds(text, "<title>&lt;/s&gt; ← &lt;/s&gt;: 0.333333343</title>");
    assert_int_equal(count(text, "<title>"), 5);
    assert_int_equal(count(text, "class=\"row\""), 3);
    assert_int_equal(count(text, "rotate(-45)"), 3);
    free(text);
}

static void test_html(void **state)
{
    char *text;
    (void)state;
    print(&text, "html", &house, 1);
    assert_int_equal(strncmp(text, "<!DOCTYPE html>\n", 16), 0);
    assert_string_equal(text + strlen(text) - 8, "</html>\n");
    assert_holds(text, "<h2>sentence 0</h2>");
    assert_holds(text, "<span>das</span>\n<span>Haus</span>\n"
                       "<span>&lt;/s&gt;</span>\n");
    assert_holds(text, "data-weights=\"10 70 20\">house</span>");
    assert_holds(text, "data-weights=\"0 0 33\">&lt;/s&gt;</span>");
    assert_holds(text, "<title>house ← Haus: 0.699999988</title>");
    assert_int_equal(count(text, "://"), count(text, "\"http://www.w3.org/"));
    free(text);
}

/* No sentence, one, and several: what is opened is closed, once. */
static void test_drawings_are_whole(void **state)
{
    struct alignment a[] = { house, empty, house };
    (void)state;
    a[2].sentence = 2;
    for (int i = 0; i < DRAWN; i++) {
        for (int n = 0; n <= 3; n++) {
            char *text;
            print(&text, drawn[i], a, n);
            bool svg = strcmp(drawn[i], "svg") == 0;
            int maps = (n + 1) / 2, pictures = svg ? 1 : 1 + maps;
            assert_int_equal(count(text, "<svg "), pictures);
            assert_int_equal(count(text, "</svg>"), pictures);
            assert_int_equal(count(text, "</html>"), !svg);
            assert_int_equal(count(text, "<section>"), svg ? 0 : n);
            assert_int_equal(count(text, "class=\"row\""), 3 * maps);
            assert_int_equal(count(text, "<g"), count(text, "</g>"));
            assert_int_equal(count(text, ">sentence "), n);
            free(text);
        }
    }
}

/* Maps stand one below the other, within the picture. */
static void test_svg_extents(void **state)
{
    struct alignment a[] = { house, empty, house };
    int one[2], three[2];
    char *text;
    (void)state;
    print(&text, "svg", a, 1);
    assert_int_equal(sscanf(strstr(text, "viewBox"), "viewBox=\"0 0 %d %d\"",
                            &one[0], &one[1]),
                     2);
    free(text);
    print(&text, "svg", a, 3);
    assert_int_equal(sscanf(strstr(text, "viewBox"), "viewBox=\"0 0 %d %d\"",
                            &three[0], &three[1]),
                     2);
    assert_int_equal(three[0], one[0]);
    assert_in_range(three[1], 2 * one[1], 3 * one[1]);
    int last = 0;
    for (const char *s = strstr(text, "crispEdges"); s != NULL;
         s = strstr(s + 1, "crispEdges")) {
        const char *g = s;
        int x, y;
        while (strncmp(g, "<g ", 3) != 0)
            g--;
        assert_int_equal(sscanf(g, "<g transform=\"translate(%d %d)", &x, &y),
                         2);
        assert_true(y > last + 3 * 24 || last == 0);
        assert_true(y + 3 * 24 < three[1]);
        last = y;
    }
    free(text);
}

static void test_drawings_n_best(void **state)
{
    struct alignment a[] = { house, house };
    (void)state;
    a[0].hypothesis = 0;
    a[1].hypothesis = 1;
    for (int i = 0; i < DRAWN; i++) {
        char *text;
        print(&text, drawn[i], a, 2);
        assert_holds(text, ">sentence 0, hypothesis 0<");
        assert_holds(text, ">sentence 0, hypothesis 1<");
        free(text);
    }
}

static void test_svg_empty(void **state)
{
    struct alignment a = house;
    char *text;
    (void)state;
    print(&text, "svg", &empty, 1);
    assert_holds(text, ">sentence 1 (empty)</text>");
    free(text);
    a.targets = 0; /* a source without a translation */
    print(&text, "svg", &a, 1);
    assert_holds(text, ">sentence 0 (empty)</text>");
    free(text);
    print(&text, "html", &a, 1);
    assert_holds(text, "<span>Haus</span>");
    free(text);
}

static void test_svg_in_any_locale(void **state)
{
    char *plain, *text;
    (void)state;
    print(&plain, "svg", &house, 1);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL) {
        print_message("# no locale with a decimal comma here\n");
        free(plain);
        return;
    }
    print(&text, "svg", &house, 1);
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(text, plain);
    free(text);
    free(plain);
}

static void test_drawings_odd_weights(void **state)
{
    struct alignment a = house;
    (void)state;
    a.targets = 1;
    a.weights = (const float[]){ NAN, -1, 1e30f };
    for (int i = 0; i < DRAWN; i++) {
        char *text;
        print(&text, drawn[i], &a, 1);
        assert_int_equal(count(text, " ← "), 1);
        assert_holds(text, "the ← &lt;/s&gt;: 1.00000002e+30<");
        free(text);
    }
}

static void assert_xml(const char *word, const char *expected)
{
    struct text t = { 0 };
    xml_add(&t, word);
    assert_string_equal(t.s, expected);
    text_release(&t);
}

static void test_xml(void **state)
{
    (void)state;
    assert_xml("", "");
    assert_xml("<a href=\"x\">&amp;'",
               "&lt;a href=&quot;x&quot;&gt;&amp;amp;'");
    assert_xml("]]>", "]]&gt;");
    assert_xml("a\tb\nc\rd", "a&#9;b&#10;c&#13;d");
    assert_xml("\001\037\033[2J", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd[2J");
    assert_xml("\xff"
               "a\xc3",
               "\xef\xbf\xbd"
               "a\xef\xbf\xbd");
    assert_xml("\xef\xbf\xbe \xef\xbf\xbf \xef\xbf\xbd",
               "\xef\xbf\xbd \xef\xbf\xbd \xef\xbf\xbd");
    assert_xml("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_xml("Stra\xc3\x9f"
               "e \xe7\x8c\xab \xf0\x9f\x98\x80",
               "Stra\xc3\x9f"
               "e \xe7\x8c\xab \xf0\x9f\x98\x80");
}

static int width_of(const char *word)
{
    struct label l;
    label_init(&l, word, INT_MAX);
    int width = l.width;
    label_release(&l);
    return width;
}

static void test_label_width(void **state)
{
    (void)state;
    assert_int_equal(width_of(""), 0);
    assert_true(width_of("iii") < width_of("mmm"));
    assert_int_equal(width_of("\xe7\x8c\xab"), FONT_SIZE);  /* a square */
    assert_int_equal(width_of("e\xcc\x81"), width_of("e")); /* an accent */
    assert_true(width_of("\xf0\x9f\x98\x80") > FONT_SIZE);
}

/* What does not fit is cut between characters, and ends in an ellipsis. */
static void test_label_cut(void **state)
{
    struct label l;
    (void)state;
    label_init(&l, "&&&&&&", width_of("&&&&&&"));
    assert_string_equal(l.xml.s, "&amp;&amp;&amp;&amp;&amp;&amp;");
    label_release(&l);
    label_init(&l, "&&&&&&", width_of("&&&&"));
    assert_string_equal(l.xml.s, "&amp;&amp;…");
    assert_int_equal(l.width, width_of("&&&&"));
    label_release(&l);
    label_init(&l, "\xe7\x8c\xab\xe7\x8c\xab\xe7\x8c\xab", 2 * FONT_SIZE);
    assert_string_equal(l.xml.s, "\xe7\x8c\xab…");
    label_release(&l);
}

/* A word that turns the order keeps to itself. */
static void test_right_to_left(void **state)
{
    static const char shalom[] = "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d!";
    static const char override[] = "a\xe2\x80\xae"
                                   "b";
    struct alignment a = house;
    char *text;
    (void)state;
    a.source = (const char *const[]){ shalom, override };
    a.sources = 2;
    a.targets = 1;
    a.weights = (const float[]){ 1, 1 };
    print(&text, "svg", &a, 1);
    assert_int_equal(count(text, "unicode-bidi=\"plaintext\""), 2);
    assert_int_equal(count(text, "the ← \xe2\x81\xa8"), 2);
    assert_int_equal(count(text, "\xe2\x81\xa9: 1</title>"), 2);
    free(text);
}

/* What a picture of a usual sentence weighs, when no cell is white. */
static void test_svg_size(void **state)
{
    enum { N = 15 };
    const char *words[N];
    float w[N * N];
    struct alignment a = house;
    char *text;
    (void)state;
    for (int i = 0; i < N; i++)
        words[i] = i % 2 == 0 ? "the" : "standing";
    for (int i = 0; i < N * N; i++)
        w[i] = 1.0f / N;
    a.source = a.target = words;
    a.sources = a.targets = N;
    a.weights = w;
    print(&text, "svg", &a, 1);
    assert_int_equal(count(text, "<title>"), N * N);
    assert_true(strlen(text) < 30000);
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
        cmocka_unit_test(test_weight_colour),
        cmocka_unit_test(test_svg),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_drawings_are_whole),
        cmocka_unit_test(test_svg_extents),
        cmocka_unit_test(test_drawings_n_best),
        cmocka_unit_test(test_svg_empty),
        cmocka_unit_test(test_svg_in_any_locale),
        cmocka_unit_test(test_drawings_odd_weights),
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_label_width),
        cmocka_unit_test(test_label_cut),
        cmocka_unit_test(test_right_to_left),
        cmocka_unit_test(test_svg_size),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
