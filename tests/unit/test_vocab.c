/* Vocabularies: reading and refusing, building, writing, looking up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/text.h"
#include "corpus/vocab.h"
#include "scratch.h"

#define HEAD "<unk>\n<s>\n</s>\n"

/* The vocabulary as "<unk>|<s>|</s>|a|b". */
static void assert_vocab(const struct vocab *v, const char *wanted)
{
    struct text t = { 0 };
    for (int id = 0; id < v->size; id++)
        text_addf(&t, "%s%s", id > 0 ? "|" : "", vocab_token(v, id));
    assert_string_equal(t.s, wanted);
    text_release(&t);
}

/* From a file, a gzip file and memory. */
static void check_loads(const char *bytes, size_t len, const char *wanted)
{
    struct vocab v;
    assert_int_equal(vocab_load(&v, scratch_file("v", bytes, len)), 0);
    assert_vocab(&v, wanted);
    vocab_release(&v);
    assert_int_equal(vocab_load(&v, scratch_gzip("v.gz", bytes, len)), 0);
    assert_vocab(&v, wanted);
    vocab_release(&v);
    assert_int_equal(vocab_parse(&v, "memory", bytes, len), 0);
    assert_vocab(&v, wanted);
    for (int id = VOCAB_CONTROLS; id < v.size; id++) {
        const char *word = vocab_token(&v, id);
        assert_int_equal(vocab_lookup(&v, word, strlen(word)), id);
    }
    vocab_release(&v);
    vocab_release(&v);
}

static void test_loads(void **state)
{
    (void)state;
    check_loads(BYTES(HEAD), "<unk>|<s>|</s>");
    check_loads(BYTES(HEAD "b\na\n"), "<unk>|<s>|</s>|b|a");
    check_loads(BYTES(HEAD "b\na"), "<unk>|<s>|</s>|b|a"); /* no last newline */
    check_loads(BYTES("<unk>\r\n<s>\r\n</s>\r\nb\r\na\r\n"),
                "<unk>|<s>|</s>|b|a");
    check_loads(BYTES("\xef\xbb\xbf" HEAD "b\n"), "<unk>|<s>|</s>|b");
    check_loads(BYTES(HEAD "\xef\xbb\xbf"
                           "b\nb\n"),
                "<unk>|<s>|</s>|\xef\xbb\xbf"
                "b|b");
    /* other separators are part of a word */
    check_loads(BYTES(HEAD "a\xe2\x80\xa8"
                           "b\n\xc2\x85\na\vb\n\xc2\xa0\n"),
                "<unk>|<s>|</s>|a\xe2\x80\xa8"
                "b|\xc2\x85|a\vb|\xc2\xa0");
    check_loads(BYTES(HEAD "<UNK>\n<pad>\n"), "<unk>|<s>|</s>|<UNK>|<pad>");
}

static void check_refused(const char *bytes, size_t len, const char *word)
{
    struct vocab v;
    capture_start();
    assert_int_equal(vocab_load(&v, scratch_file("v", bytes, len)), -1);
    const char *said = capture_stop();
    assert_holds(said, word);
    assert_ptr_equal(strchr(said, '\n'), strrchr(said, '\n')); /* once */
    assert_int_equal(v.size, 0);
    assert_int_equal(v.map.count, 0);

    capture_start();
    assert_int_equal(vocab_parse(&v, "v", bytes, len), -1);
    assert_holds(capture_stop(), word);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused(BYTES(""), "v: 0 lines");
    check_refused(BYTES("<unk>\n<s>\n"), "v: 2 lines");
    check_refused(BYTES("a\nb\nc\n"), "v:1: not '<unk>'");
    check_refused(BYTES("<unk>\n</s>\n<s>\n"), "v:2: not '<s>'");
    check_refused(BYTES("<s>\n</s>\n<unk>\n"), "v:1: not '<unk>'");
    check_refused(BYTES("<unk>\n<s>\n</s> \n"), "v:3: not '</s>'");
    check_refused(BYTES(HEAD "a\nb\na\n"),
                  "v:6: 'a': this word is there already");
    check_refused(BYTES(HEAD "a\n<s>\n"),
                  "v:5: '<s>': this word is there already");
    check_refused(BYTES(HEAD "a\n\nb\n"), "v:5: '': an empty line");
    check_refused(BYTES(HEAD "a\n\r\n"), "v:5: '': an empty line");
    check_refused(BYTES(HEAD "a 12\n"), "v:4: 'a 12': a blank");
    check_refused(BYTES(HEAD "a\t12\n"), "v:4: 'a\t12': a blank");
    check_refused(BYTES(HEAD " a\n"), "v:4: ' a': a blank");
    check_refused(BYTES(HEAD "a\nb\0c\n"), "v:5: byte offset 1");
    check_refused(BYTES(HEAD "a\n\xe9\n"), "v:5: byte offset 0");
    check_refused(BYTES("\xff\xfe<\0u\0n\0k\0"),
                  "v:1: byte offset 0: not UTF-8 but UTF-16");
}

static void test_cannot_open(void **state)
{
    struct vocab v;
    (void)state;
    capture_start();
    assert_int_equal(vocab_load(&v, scratch_path("missing")), -1);
    assert_holds(capture_stop(), "missing: cannot open: No such file");
    capture_start();
    assert_int_equal(vocab_load(&v, scratch_path(".")), -1);
    assert_holds(capture_stop(), "is a folder");
    vocab_release(&v);
}

static void test_longest_word(void **state)
{
    struct text t = { 0 };
    struct vocab v;
    (void)state;
    text_adds(&t, HEAD);
    for (int i = 0; i < VOCAB_WORD; i++)
        text_adds(&t, "w");
    assert_int_equal(vocab_parse(&v, "v", t.s, t.len), 0);
    assert_int_equal(v.size, 4);
    assert_int_equal(strlen(vocab_token(&v, 3)), VOCAB_WORD);
    vocab_release(&v);
    text_adds(&t, "w");
    capture_start();
    assert_int_equal(vocab_parse(&v, "v", t.s, t.len), -1);
    assert_holds(capture_stop(),
                 "v:4: a word of 4097 bytes, the limit is 4096");
    text_release(&t);
}

static void test_large(void **state)
{
    struct text t = { 0 };
    struct vocab v;
    (void)state;
    text_adds(&t, HEAD);
    for (int i = 0; i < 200000; i++)
        text_addf(&t, "w%d\n", i);
    assert_int_equal(vocab_parse(&v, "v", t.s, t.len), 0);
    assert_int_equal(v.size, 200003);
    assert_int_equal(vocab_lookup(&v, BYTES("w0")), 3);
    assert_int_equal(vocab_lookup(&v, BYTES("w199999")), 200002);
    assert_int_equal(vocab_lookup(&v, BYTES("w200000")), UNK);
    size_t len;
    char *text = vocab_text(&v, &len);
    assert_int_equal(len, t.len);
    assert_memory_equal(text, t.s, len);
    free(text);
    vocab_release(&v);
    text_release(&t);
}

/* ---- rule 6: controls are ids, not text --------------------------------------- */

static void test_controls_are_not_text(void **state)
{
    struct vocab v;
    (void)state;
    assert_int_equal(vocab_parse(&v, "v", BYTES(HEAD "a\n")), 0);
    assert_int_equal(UNK, 0);
    assert_int_equal(BOS, 1);
    assert_int_equal(EOS, 2);
    assert_int_equal(vocab_lookup(&v, BYTES("<s>")), UNK);
    assert_int_equal(vocab_lookup(&v, BYTES("</s>")), UNK);
    assert_int_equal(vocab_lookup(&v, BYTES("<unk>")), UNK);
    assert_int_equal(vocab_lookup(&v, BYTES("")), UNK);
    assert_int_equal(vocab_lookup(&v, BYTES("a")), 3);
    assert_int_equal(vocab_lookup(&v, BYTES("a\0")), UNK);
    assert_string_equal(vocab_token(&v, BOS), "<s>");
    vocab_release(&v);
}

static void test_encode(void **state)
{
    struct vocab v;
    int ids[5] = { -1, -1, -1, -1, -1 };
    (void)state;
    assert_int_equal(vocab_parse(&v, "v", BYTES(HEAD "a\nb\n")), 0);
    assert_int_equal(vocab_encode(&v, BYTES(" b\t a <s> x "), ids, 5), 4);
    assert_int_equal(ids[0], 4);
    assert_int_equal(ids[1], 3);
    assert_int_equal(ids[2], UNK);
    assert_int_equal(ids[3], UNK);
    assert_int_equal(ids[4], -1);
    ids[2] = -1;
    assert_int_equal(vocab_encode(&v, BYTES("a a a a"), ids, 2), 4);
    assert_int_equal(ids[2], -1);
    assert_int_equal(vocab_encode(&v, BYTES(" \t"), ids, 5), 0);
    vocab_release(&v);
}

/* ---- building ------------------------------------------------------------------ */

static void check_builds(const char *bytes, size_t len, int max_size,
                         int min_frequency, const char *wanted)
{
    struct vocab v;
    const char *path = scratch_file("text", bytes, len);
    assert_int_equal(vocab_build(&v, &path, 1, max_size, min_frequency), 0);
    assert_vocab(&v, wanted);
    vocab_release(&v);
}

static void test_builds(void **state)
{
    (void)state;
    check_builds(BYTES("b a b\n\nc b a\n"), 0, 1, "<unk>|<s>|</s>|b|a|c");
    /* equal counts: by the bytes, as unsigned, shorter ones first */
    check_builds(BYTES("b ab a \xc3\xa4 B aa z ~"), 0, 1,
                 "<unk>|<s>|</s>|B|a|aa|ab|b|z|~|\xc3\xa4");
    check_builds(BYTES("c c c b b a"), 5, 1, "<unk>|<s>|</s>|c|b");
    check_builds(BYTES("c c c b b a"), 3, 1, "<unk>|<s>|</s>");
    check_builds(BYTES("c c c b b a"), 100, 1, "<unk>|<s>|</s>|c|b|a");
    check_builds(BYTES("c c c b b a"), 0, 2, "<unk>|<s>|</s>|c|b");
    check_builds(BYTES("c c c b b a"), 0, 4, "<unk>|<s>|</s>");
    check_builds(BYTES("c c c b b a"), 4, 2, "<unk>|<s>|</s>|c");
    check_builds(BYTES(""), 0, 1, "<unk>|<s>|</s>");
    check_builds(BYTES(" \t \n\n"), 0, 1, "<unk>|<s>|</s>");
}

static void test_builds_by_the_rules(void **state)
{
    (void)state;
    /* 1, 2, 3: the same words as of the clean text */
    check_builds(BYTES("\xef\xbb\xbf"
                       "b \t a\r\n  b c\r\n"),
                 0, 1, "<unk>|<s>|</s>|b|a|c");
    check_builds(BYTES("a\xe2\x80\xa8"
                       "b a\xc2\xa0"
                       "c\n"),
                 0, 1,
                 "<unk>|<s>|</s>|a\xc2\xa0"
                 "c|a\xe2\x80\xa8"
                 "b");
    /* 6: spelled controls are no words */
    check_builds(BYTES("<s> a </s> <unk> <s>\n"), 0, 1, "<unk>|<s>|</s>|a");
}

static void test_build_refuses(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *word;
    } cases[] = {
        { BYTES("a\nb \xe9\n"),
          "text:2: byte offset 2 (4 in the file): not UTF-8" },
        { BYTES("a\0\n"), "text:1: byte offset 1" },
    };
    struct vocab v;
    (void)state;
    for (int i = 0; i < 2; i++) {
        const char *path = scratch_file("text", cases[i].bytes, cases[i].len);
        capture_start();
        assert_int_equal(vocab_build(&v, &path, 1, 0, 1), -1);
        assert_holds(capture_stop(), cases[i].word);
        assert_int_equal(v.size, 0);
    }
    const char *missing = scratch_path("missing");
    capture_start();
    assert_int_equal(vocab_build(&v, &missing, 1, 0, 1), -1);
    assert_holds(capture_stop(), "missing: cannot open");
    for (int size = 1; size < 3; size++) {
        const char *path = scratch_text("text", "a\n");
        capture_start();
        assert_int_equal(vocab_build(&v, &path, 1, size, 1), -1);
        assert_holds(capture_stop(), "no room for <unk>, <s> and </s>");
    }
}

static void test_builds_from_many_files(void **state)
{
    const char *paths[3] = {
        scratch_text("one", "a b"), /* no last newline: no word is glued */
        scratch_gzip("two", BYTES("c b\n")),
        scratch_text("three", "c c\n"),
    };
    struct vocab v;
    (void)state;
    assert_int_equal(vocab_build(&v, paths, 3, 0, 1), 0);
    assert_vocab(&v, "<unk>|<s>|</s>|c|b|a");
    vocab_release(&v);
    assert_int_equal(vocab_build(&v, paths, 0, 0, 1), 0);
    assert_vocab(&v, "<unk>|<s>|</s>");
    vocab_release(&v);
}

static void test_long_words_are_left_out(void **state)
{
    struct text t = { 0 };
    struct vocab v;
    (void)state;
    text_adds(&t, "a ");
    for (int i = 0; i <= VOCAB_WORD; i++)
        text_adds(&t, "w");
    text_adds(&t, " b\n");
    const char *path = scratch_file("text", t.s, t.len);
    capture_start();
    assert_int_equal(vocab_build(&v, &path, 1, 0, 1), 0);
    assert_holds(capture_stop(), "1 words longer than 4096 bytes");
    assert_vocab(&v, "<unk>|<s>|</s>|a|b");
    vocab_release(&v);
    text_release(&t);
}

/* The order of the lines in the text must not matter. */
static void test_order_of_text_does_not_matter(void **state)
{
    uint32_t order[500];
    struct text t = { 0 };
    char *first = NULL;
    (void)state;
    for (uint64_t round = 0; round < 5; round++) {
        text_reset(&t);
        for (uint32_t i = 0; i < 500; i++)
            order[i] = i;
        rng_shuffle(order, 500, 1, RNG_DEMO, round);
        for (int i = 0; i < 500; i++)
            text_addf(&t, "w%d w%d\n", order[i] % 100, order[i] % 37);
        const char *path = scratch_file("text", t.s, t.len);
        struct vocab v;
        size_t len;
        assert_int_equal(vocab_build(&v, &path, 1, 0, 1), 0);
        char *text = vocab_text(&v, &len);
        if (first == NULL)
            first = xstrdup(text);
        assert_string_equal(text, first);
        free(text);
        vocab_release(&v);
    }
    free(first);
    text_release(&t);
}

/* ---- writing ---------------------------------------------------------------------- */

/* Any words that a text can hold come back, those that end in 0x0D too. */
static void test_round_trip(void **state)
{
    const char *path = scratch_file(
        "text",
        BYTES("a\r b\r\r \r c\r\rd \xef\xbb\xbf e\xe2\x80\xa8 \v \"q\" # '\n"));
    struct vocab v, again;
    size_t len;
    (void)state;
    assert_int_equal(vocab_build(&v, &path, 1, 0, 1), 0);
    assert_int_equal(v.size, 3 + 10);
    const char *saved = scratch_path("saved");
    assert_int_equal(vocab_save(&v, saved), 0);
    assert_int_equal(vocab_load(&again, saved), 0);
    assert_int_equal(again.size, v.size);
    for (int id = 0; id < v.size; id++)
        assert_string_equal(vocab_token(&again, id), vocab_token(&v, id));
    vocab_release(&again);

    char *text = vocab_text(&v, &len);
    assert_string_equal(text, scratch_read(saved, NULL));
    assert_int_equal(strlen(text), len);
    assert_int_equal(vocab_parse(&again, "memory", text, len), 0);
    assert_int_equal(again.size, v.size);
    vocab_release(&again);
    vocab_release(&v);
    free(text);
}

static void test_save_fails(void **state)
{
    struct vocab v;
    (void)state;
    assert_int_equal(vocab_parse(&v, "v", BYTES(HEAD "a\n")), 0);
    capture_start();
    assert_int_equal(vocab_save(&v, scratch_path("no/such/v")), -1);
    assert_holds(capture_stop(), "its folder does not exist");
    vocab_release(&v);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_cannot_open),
        cmocka_unit_test(test_longest_word),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_controls_are_not_text),
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_builds),
        cmocka_unit_test(test_builds_by_the_rules),
        cmocka_unit_test(test_build_refuses),
        cmocka_unit_test(test_builds_from_many_files),
        cmocka_unit_test(test_long_words_are_left_out),
        cmocka_unit_test(test_order_of_text_does_not_matter),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_save_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
