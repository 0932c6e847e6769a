/* Shortlists: what is on them, the files they come from, and products of some
 * columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/text.h"
#include "corpus/vocab.h"
#include "graph/ops.h"
#include "numbers.h"
#include "scratch.h"
#include "search/shortlist.h"
#include "tensor/gemm.h"
#include "tensor/vec.h"

#define HEAD "<unk>\n<s>\n</s>\n"

static struct vocab source, target;

/* Source words a b c are 3 4 5; target words A … H are 3 … 10. */
static int make_vocabularies(void **state)
{
    (void)state;
    if (vocab_parse(&source, "source", BYTES(HEAD "a\nb\nc\n")) < 0)
        return -1;
    return vocab_parse(&target, "target",
                       BYTES(HEAD "A\nB\nC\nD\nE\nF\nG\nH\n"));
}

static int release_vocabularies(void **state)
{
    (void)state;
    vocab_release(&source);
    vocab_release(&target);
    return 0;
}

static struct shortlist *read_table(const char *table, int first, int best)
{
    struct shortlist_config config = { first, best };
    return shortlist_read(scratch_text("lex", table), &source, &target,
                          &config);
}

/* The list of the source words as "0 1 2 5". */
static void assert_list(const struct shortlist *s, const int *ids, int len,
                        const char *wanted)
{
    struct arena arena = { 0 };
    struct text got = { 0 };
    const int *words;
    int n = shortlist_words(s, ids, len, &arena, &words);
    for (int i = 0; i < n; i++)
        text_addf(&got, "%s%d", i > 0 ? " " : "", words[i]);
    assert_string_equal(got.s, wanted);
    text_release(&got);
    arena_release(&arena);
}

#define LIST(s, wanted, ...)                       \
    assert_list((s), (const int[]){ __VA_ARGS__ }, \
                (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), (wanted))

static const char table[] = "H a 0.5\n"
                            "F a 0.3\n"
                            "D b 0.9\n"
                            "G a 0.3\n"
                            "C\ta  2e-1 \n"
                            "H b 0.05\n";

static void test_lists(void **state)
{
    (void)state;
    capture_start();
    struct shortlist *s = read_table(table, 4, 100);
    assert_holds(capture_stop(), "6 translations");
    LIST(s, "0 1 2 3 5 8 9 10", 3, EOS);
    LIST(s, "0 1 2 3 6 10", 4, EOS);
    LIST(s, "0 1 2 3 5 6 8 9 10", 4, 3, 3, EOS);
    LIST(s, "0 1 2 3", 5, UNK, EOS); /* a word without translations */
    shortlist_free(s);
    capture_start();
    s = read_table(table, 0, 2); /* ties: the lower id */
    assert_holds(capture_stop(), "2 beyond the best");
    LIST(s, "0 1 2 8 10", 3, EOS);
    LIST(s, "0 1 2 6 8 10", 4, 3, EOS);
    shortlist_free(s);
    capture_start();
    s = read_table(table, 100, 0);
    capture_stop();
    LIST(s, "0 1 2 3 4 5 6 7 8 9 10", 3, EOS);
    shortlist_free(s);
}

/* A pair that comes twice takes one place, that of its best line. */
static void test_repeated_pairs(void **state)
{
    (void)state;
    capture_start();
    struct shortlist *s = read_table("A a 0.45\nB a 0.4\nA a 0.5\nC a 0.2\n", 0,
                                     2);
    capture_stop();
    LIST(s, "0 1 2 3 4", 3, EOS);
    shortlist_free(s);
}

static void test_passed_over(void **state)
{
    (void)state;
    capture_start();
    struct shortlist *s = read_table("A a 1\nX a 1\nA x 1\nNULL a 1\nA NULL 1\n"
                                     "</s> a 1\nB NULL 0.5\n",
                                     0, 100);
    const char *said = capture_stop();
    assert_holds(said, "1 translations");
    assert_holds(said, "3 lines with words");
    assert_holds(said, "3 of the empty word");
    LIST(s, "0 1 2 3", 3, EOS);
    shortlist_free(s);
}

static void test_gzip(void **state)
{
    struct shortlist_config config = { 0, 100 };
    (void)state;
    capture_start();
    struct shortlist *s = shortlist_read(scratch_gzip("lex.gz", table,
                                                      strlen(table)),
                                         &source, &target, &config);
    capture_stop();
    LIST(s, "0 1 2 6 10", 4, EOS);
    shortlist_free(s);
}

static void check_refused(const char *text, const char *why)
{
    capture_start();
    assert_null(read_table(text, 100, 100));
    assert_holds(capture_stop(), why);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused("A a 1\nA a\n", "lex:2: less than three words");
    check_refused("A a 1\n\n", "lex:2: less than three words");
    check_refused("A a 1 1\n", "lex:1: more than three words");
    check_refused("A a 1\nB a 1.5\n", "lex:2: '1.5' is no probability");
    check_refused("A a -0.5\n", "lex:1: '-0.5' is no probability");
    check_refused("A a nan\n", "lex:1: 'nan' is no probability");
    check_refused("A a 0.5x\n", "lex:1: '0.5x' is no probability");
    check_refused("A 0.5 a\n", "lex:1: 'a' is no probability");
    check_refused("A \xff 0.5\n", "lex:1");
    check_refused("", "no line in 0");
    check_refused("a A 0.5\nb B 0.5\n", "no line in 2"); /* the wrong way */
    capture_start();
    struct shortlist_config config = { 1, 1 };
    assert_null(
        shortlist_read(scratch_path("nowhere"), &source, &target, &config));
    assert_holds(capture_stop(), "nowhere");
}

/* Each row against a product of its columns alone. */
static void check_product(int k, const int *size, const int *which, int n)
{
    enum { M = 90 };
    struct graph g;
    const struct columns *columns[3];
    float *rows = numbers_new((size_t)M * (size_t)k, 1, 1);
    float *b = numbers_new(M, 1, 2), *x = numbers_new((size_t)(n * k), 1, 3);
    graph_init(&g);
    for (int c = 0; c < 3; c++) {
        int *index = arena_array(&g.arena, (size_t)size[c], sizeof(*index));
        for (int j = 0; j < size[c]; j++)
            index[j] = M - size[c] + j;
        columns[c] = pick_columns(&g, rows, b, k, index, size[c]);
    }
    struct node *y = linear_columns(&g, graph_leaf(&g, n, k, x, NULL), columns,
                                    which);
    for (int i = 0; i < n; i++) {
        const struct columns *c = columns[which[i]];
        float one[M];
        vec_copy(one, c->b, (size_t)c->size);
        gemm_rows(1, c->size, k, x + i * k, c->w, true, one);
        assert_true(same_bits(one, node_row(y, i), (size_t)c->size));
        for (int j = 0; j < c->size; j++) {
            double dot = (double)b[c->index[j]];
            for (int p = 0; p < k; p++)
                dot += (double)x[i * k + p] * (double)rows[c->index[j] * k + p];
            assert_true(dot - (double)one[j] < 1e-4 &&
                        (double)one[j] - dot < 1e-4);
        }
    }
    graph_release(&g);
    free(rows);
    free(b);
    free(x);
}

static void test_products(void **state)
{
    (void)state;
    check_product(24, (const int[]){ 5, 90, 33 },
                  (const int[]){ 0, 0, 1, 2, 2, 2, 2 }, 7);
    check_product(24, (const int[]){ 5, 17, 3 },
                  (const int[]){ 2, 2, 2, 2, 2, 2, 0 }, 7);
    check_product(7, (const int[]){ 31, 1, 1 }, (const int[]){ 0 }, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_repeated_pairs),
        cmocka_unit_test(test_passed_over),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_products),
    };
    gemm_thread_init();
    return cmocka_run_group_tests(tests, make_vocabularies,
                                  release_vocabularies);
}
