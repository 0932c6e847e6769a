/* Text: growing, UTF-8, tokens, distance of words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "base/text.h"
#include "scratch.h"

static void test_growing(void **state)
{
    struct text t = { 0 };
    (void)state;
    text_reset(&t); /* of an empty one */
    text_add(&t, NULL, 0);
    assert_string_equal(t.s, "");
    text_add(&t, BYTES("a\0b"));
    assert_int_equal(t.len, 3);
    assert_memory_equal(t.s, "a\0b", 4);
    text_reset(&t);
    text_adds(&t, "x");
    text_addf(&t, "%d-%s", 12, "y");
    assert_string_equal(t.s, "x12-y");
    for (int i = 0; i < 5000; i++)
        text_addf(&t, "%d", i % 10);
    assert_int_equal(t.len, 5005);
    assert_int_equal(t.s[5004], '9');
    assert_int_equal(t.s[5005], '\0');
    text_release(&t);
    text_release(&t);
    assert_null(t.s);
}

/* ---- UTF-8 -------------------------------------------------------------- */

/* The slow way: decode by the bit pattern, then refuse what is not minimal, a
 * surrogate or too large. Returns the length, or 0. */
static size_t decode(const unsigned char *s, size_t left)
{
    static const uint32_t least[5] = { 0, 1, 0x80, 0x800, 0x10000 };
    size_t len = s[0] < 0x80       ? 1
                 : s[0] >> 5 == 6  ? 2
                 : s[0] >> 4 == 14 ? 3
                 : s[0] >> 3 == 30 ? 4
                                   : 0;
    if (len == 0 || len > left)
        return 0;
    uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    return len;
}

static size_t slow_prefix(const char *s, size_t len)
{
    size_t i = 0;
    while (i < len) {
        size_t n = decode((const unsigned char *)s + i, len - i);
        if (n == 0)
            break;
        i += n;
    }
    return i;
}

static void test_utf8_all_short_ones(void **state)
{
    (void)state;
    for (int x = 0; x < 65536; x++) {
        char s[2] = { (char)(x >> 8), (char)x };
        assert_int_equal(utf8_valid_prefix(s, 2), slow_prefix(s, 2));
        assert_int_equal(utf8_valid_prefix(s, 1), slow_prefix(s, 1));
    }
}

/* Every lead and second byte with third and fourth ones at all edges. */
static void test_utf8_all_leads(void **state)
{
    static const char edge[] = {
        '\x01', '\x7f', '\x80', '\xbf', '\xc0', '\xff'
    };
    (void)state;
    for (int x = 0; x < 65536; x++) {
        for (int y = 0; y < 36; y++) {
            char s[4] = { (char)(x >> 8), (char)x, edge[y / 6], edge[y % 6] };
            assert_int_equal(utf8_valid_prefix(s, 4), slow_prefix(s, 4));
            assert_int_equal(utf8_valid_prefix(s, 3), slow_prefix(s, 3));
        }
    }
}

/* Long texts, where eight bytes are looked at together: a fault anywhere. */
static void test_utf8_fault_at_every_place(void **state)
{
    static const char *const faults[] = { "", "\x80", "\xc3", "\xff",
                                          "\xed\xa0" };
    (void)state;
    for (size_t len = 1; len < 40; len++) {
        for (size_t place = 0; place < len; place++) {
            for (int f = 0; f < 5; f++) {
                char s[48];
                memset(s, 'a' + (int)len % 20, sizeof s);
                s[place] = faults[f][0]; /* NUL for the first */
                if (f == 4 && place + 1 < len)
                    s[place + 1] = faults[f][1];
                assert_int_equal(utf8_valid_prefix(s, len), place);
            }
        }
    }
}

static void test_utf8_random(void **state)
{
    static const char *const pieces[] = {
        "a",
        "abcdefgh",
        "\xc3\xa4",
        "\xe2\x80\xa8",
        "\xf0\x9f\x98\x80",
        "\xf4\x8f\xbf\xbf",
        "\x7f",
        " ",
        "\x80",
        "\xe2\x80",
        "\xc0\x80",
    };
    struct rng_key key = rng_key(1, RNG_DEMO, 0);
    uint64_t draw = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct text t = { 0 };
        uint64_t n = rng_below(12, key, draw++);
        for (uint64_t i = 0; i < n; i++)
            text_adds(&t, pieces[rng_below(round % 2 ? 8 : 11, key, draw++)]);
        assert_int_equal(utf8_valid_prefix(t.s, t.len),
                         slow_prefix(t.s, t.len));
        text_release(&t);
    }
}

static void check_repair(const char *s, size_t len, const char *wanted,
                         size_t replaced)
{
    struct text t = { 0 };
    assert_int_equal(utf8_repair(&t, s, len), replaced);
    assert_string_equal(t.s, wanted);
    text_release(&t);
}

#define FFFD "\xef\xbf\xbd"

static void test_repair(void **state)
{
    (void)state;
    check_repair(BYTES(""), "", 0);
    check_repair(BYTES("a \xc3\xa4"), "a \xc3\xa4", 0);
    check_repair(BYTES("a\0b"), "a" FFFD "b", 1);
    check_repair(BYTES("a\xe9 b"), "a" FFFD " b", 1);
    check_repair(BYTES("\xe9"), FFFD, 1);
    /* the example of the Unicode standard (table 3-8): one for each maximal
     * beginning */
    check_repair(BYTES("a\xf1\x80\x80\xe1\x80\xc2"
                       "b\x80"
                       "c\x80\xbf"
                       "d"),
                 "a" FFFD FFFD FFFD "b" FFFD "c" FFFD FFFD "d", 6);
    check_repair(BYTES("\xc0\x80"), FFFD FFFD, 2);          /* overlong */
    check_repair(BYTES("\xed\xa0\x80"), FFFD FFFD FFFD, 3); /* surrogate */
    check_repair(BYTES("\xf5\x80\x80\x80"), FFFD FFFD FFFD FFFD, 4);
    check_repair(BYTES("x\xe2\x82"), "x" FFFD, 1); /* cut off */
}

/* ---- tokens ------------------------------------------------------------- */

/* The tokens as "[a][b]". */
static void check_tokens(const char *s, size_t len, const char *wanted)
{
    struct text t = { 0 };
    const char *cursor = s, *token;
    size_t n;
    text_adds(&t, "");
    while ((token = next_token(&cursor, s + len, &n)) != NULL) {
        text_adds(&t, "[");
        text_add(&t, token, n);
        text_adds(&t, "]");
    }
    assert_null(next_token(&cursor, s + len, &n)); /* and stays at the end */
    assert_string_equal(t.s, wanted);
    assert_int_equal(text_is_blank(s, len), wanted[0] == '\0');
    text_release(&t);
}

static void test_split(void **state)
{
    char text[] = "  ab c\td  \0";
    const char *token[4] = { NULL };
    (void)state;
    assert_int_equal(split_tokens(text, sizeof text - 2, token, 4), 3);
    assert_string_equal(token[0], "ab");
    assert_string_equal(token[1], "c");
    assert_string_equal(token[2], "d");
    assert_null(token[3]);

    char two[] = "a bc";
    assert_int_equal(split_tokens(two, 4, token, 1), 1);
    assert_string_equal(token[0], "a");
    char last[] = "a bc";
    assert_int_equal(split_tokens(last, 4, token, 2), 2);
    assert_string_equal(token[1], "bc");
    assert_int_equal(split_tokens(last, 0, token, 2), 0);
    assert_int_equal(split_tokens(last, 1, token, 0), 0);
}

static void test_tokens(void **state)
{
    (void)state;
    check_tokens(BYTES(""), "");
    check_tokens(BYTES("   \t "), "");
    check_tokens(BYTES("a"), "[a]");
    check_tokens(BYTES("a b"), "[a][b]");
    check_tokens(BYTES("  a \t\t b  "), "[a][b]");
    check_tokens(BYTES("a\tb"), "[a][b]");
    check_tokens("a bc", 3, "[a][b]"); /* the length counts, not the '\0' */
    /* what is white space elsewhere is text here */
    check_tokens(BYTES("a\vb c\fd e\rf"), "[a\vb][c\fd][e\rf]");
    check_tokens(BYTES("a\xc2\xa0"
                       "b c\xe2\x80\xa8"
                       "d \xc2\x85 \xe3\x80\x80"),
                 "[a\xc2\xa0"
                 "b][c\xe2\x80\xa8"
                 "d][\xc2\x85][\xe3\x80\x80]");
}

/* ---- what was meant ------------------------------------------------------ */

static void test_edit_distance(void **state)
{
    static const struct {
        const char *a, *b;
        int distance;
    } cases[] = {
        { "", "", 0 },
        { "abc", "abc", 0 },
        { "", "abc", 3 },
        { "abc", "", 3 },
        { "abc", "abd", 1 },
        { "abc", "ab", 1 },
        { "abc", "xabc", 1 },
        { "abc", "acb", 1 },
        { "kitten", "sitting", 3 },
        { "GRU", "gru", 0 },
        { "ab", "ba", 1 },
        { "hidden", "hiden", 1 },
        { "abcd", "badc", 2 },
        { "layers", "laer", 2 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(edit_distance(cases[i].a, cases[i].b),
                         cases[i].distance);
        assert_int_equal(edit_distance(cases[i].b, cases[i].a),
                         cases[i].distance);
    }
    char a[1000], b[1000]; /* of long words only the beginning counts */
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    a[999] = b[999] = '\0';
    assert_int_equal(edit_distance(a, b), 63);
}

static void test_nearest(void **state)
{
    static const char *const words[] = { "hidden", "layers", "cell",
                                         "dropout" };
    (void)state;
    assert_string_equal(nearest("hiden", words, 4), "hidden");
    assert_string_equal(nearest("layer", words, 4), "layers");
    assert_string_equal(nearest("Layers", words, 4), "layers");
    assert_string_equal(nearest("dorpout", words, 4), "dropout");
    assert_string_equal(nearest("cel", words, 4), "cell");
    assert_null(nearest("xyzzy", words, 4));
    assert_null(nearest("optimizer", words, 4));
    assert_null(nearest("hidden", words, 0));
    assert_null(nearest("", words, 4));

    static const char *const close[] = { "batc", "batch", "batches" };
    assert_string_equal(nearest("batch", close, 3), "batch");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_utf8_all_short_ones),
        cmocka_unit_test(test_utf8_all_leads),
        cmocka_unit_test(test_utf8_fault_at_every_place),
        cmocka_unit_test(test_utf8_random),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_edit_distance),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
