/* IBM Model 1: an estimate done by hand, pruning, any number of threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/report.h"
#include "base/text.h"
#include "base/workers.h"
#include "corpus/corpus.h"
#include "corpus/lexicon.h"
#include "corpus/vocab.h"
#include "numbers.h"
#include "scratch.h"

struct text_pair {
    struct vocab source, target;
    struct corpus corpus;
};

/* Vocabularies of at most `most` entries, 0: of all words. */
static void read_pair(struct text_pair *p, const char *source,
                      const char *target, int most)
{
    const char *s = scratch_text("source", source),
               *t = scratch_text("target", target);
    assert_int_equal(vocab_build(&p->source, &s, 1, most, 1), 0);
    assert_int_equal(vocab_build(&p->target, &t, 1, most, 1), 0);
    assert_int_equal(corpus_read(&p->corpus, s, t, &p->source, &p->target, 0),
                     0);
}

static void release_pair(struct text_pair *p)
{
    corpus_release(&p->corpus);
    vocab_release(&p->source);
    vocab_release(&p->target);
}

static struct lexicon estimate(const struct text_pair *p, int iterations,
                               int threads)
{
    struct lexicon l;
    struct workers *w = workers_new(threads, NULL);
    struct lexicon_config config = { p->source.size, p->target.size,
                                     iterations };
    lexicon_estimate(&l, &p->corpus, &config, w);
    workers_free(w);
    return l;
}

static void assert_probability(const struct text_pair *p,
                               const struct lexicon *l, const char *source,
                               const char *target, double wanted)
{
    int s = *source ? vocab_lookup(&p->source, source, strlen(source)) : BOS;
    int t = vocab_lookup(&p->target, target, strlen(target));
    double got = (double)lexicon_probability(l, s, t);
    if (fabs(got - wanted) > 1e-6)
        fail_msg("t(%s | %s) is %.9g, not %.9g", target, source, got, wanted);
}

/* Two pairs, (a b; x y) and (a; x), with the null word. At first every source
 * word of a pair has the same share of each target word, so that
 *     c(x | a) = c(x | null) = 1/3 + 1/2,  c(y | a) = c(y | null) = 1/3,
 *     c(x | b) = c(y | b) = 1/3;
 * hence t(x | a) = t(x | null) = 5/7, and t(x | b) = 1/2. With these, x of the
 * first pair gives 10/27 to null and a each, and 7/27 to b; y gives 4/15, 4/15
 * and 7/15; x of the second pair 1/2 to null and a each. */
static void test_by_hand(void **state)
{
    struct text_pair p;
    (void)state;
    read_pair(&p, "a b\na\n", "x y\nx\n", 0);
    struct lexicon l = estimate(&p, 1, 1);
    assert_int_equal(lexicon_entries(&l), 6);
    assert_probability(&p, &l, "", "x", 5.0 / 7);
    assert_probability(&p, &l, "", "y", 2.0 / 7);
    assert_probability(&p, &l, "a", "x", 5.0 / 7);
    assert_probability(&p, &l, "a", "y", 2.0 / 7);
    assert_probability(&p, &l, "b", "x", 1.0 / 2);
    assert_probability(&p, &l, "b", "y", 1.0 / 2);
    lexicon_release(&l);
    l = estimate(&p, 2, 2);
    double x = 10.0 / 27 + 1.0 / 2, y = 4.0 / 15;
    assert_probability(&p, &l, "a", "x", x / (x + y));
    assert_probability(&p, &l, "", "y", y / (x + y));
    assert_probability(&p, &l, "b", "x", (7.0 / 27) / (7.0 / 27 + 7.0 / 15));
    lexicon_release(&l);
    release_pair(&p);
}

/* A word said twice has two shares; a word that never meets another has no
 * entry. */
static void test_repeated_words(void **state)
{
    struct text_pair p;
    (void)state;
    read_pair(&p, "a a b\nc\n", "x x\nz\n", 0);
    struct lexicon l = estimate(&p, 3, 1);
    assert_probability(&p, &l, "a", "x", 1);
    assert_probability(&p, &l, "a", "z", 0);
    assert_probability(&p, &l, "c", "z", 1);
    assert_int_equal(lexicon_entries(&l), 2 + 1 + 1 + 1);
    lexicon_release(&l);
    release_pair(&p);
}

static const char *written(const struct text_pair *p, const struct lexicon *l)
{
    const char *path = scratch_path("table");
    FILE *out = fopen(path, "w");
    lexicon_write(l, &p->source, &p->target, out);
    fclose(out);
    return scratch_read(path, NULL);
}

/* Rows best first; neither the null word nor unknown ones are written. */
static void test_prunes(void **state)
{
    struct text_pair p;
    (void)state;
    read_pair(&p, "a b\na\n", "x y\nx\n", 0);
    struct lexicon l = estimate(&p, 1, 1);
    lexicon_prune(&l, 100, 0);
    assert_string_equal(written(&p, &l), "x a 0.7142857\ny a 0.2857143\n"
                                         "x b 0.5\ny b 0.5\n");
    lexicon_release(&l);
    l = estimate(&p, 1, 1);
    lexicon_prune(&l, 1, 0);
    assert_string_equal(written(&p, &l), "x a 0.7142857\nx b 0.5\n");
    lexicon_release(&l);
    l = estimate(&p, 1, 1);
    lexicon_prune(&l, 100, 0.5);
    assert_string_equal(written(&p, &l), "x a 0.7142857\nx b 0.5\ny b 0.5\n");
    lexicon_release(&l);
    release_pair(&p);
    capture_start();                          /* many words are unknown */
    read_pair(&p, "a b\na\n", "x y\nx\n", 4); /* a and x only */
    capture_stop();
    l = estimate(&p, 1, 1);
    lexicon_prune(&l, 100, 0);
    assert_string_equal(written(&p, &l), "x a 0.7142857\n");
    lexicon_release(&l);
    release_pair(&p);
}

/* Lines of 1 … 8 of 50 words. */
static void random_text(struct text *t, int lines, uint64_t seed)
{
    for (int i = 0; i < lines; i++) {
        int n = 1 + numbers_pick(8, seed, (uint64_t)i);
        for (int j = 0; j < n; j++)
            text_addf(t, "%sw%d", j > 0 ? " " : "",
                      numbers_pick(50, seed + 1, (uint64_t)(i * 8 + j)));
        text_adds(t, "\n");
    }
}

static void test_threads(void **state)
{
    struct text_pair p;
    struct text source = { 0 }, target = { 0 };
    (void)state;
    random_text(&source, 20000, 1);
    random_text(&target, 20000, 3);
    read_pair(&p, source.s, target.s, 0);
    struct lexicon one = estimate(&p, 4, 1), three = estimate(&p, 4, 3);
    assert_int_equal(lexicon_entries(&one), lexicon_entries(&three));
    assert_true(lexicon_entries(&one) > 2000);
    assert_memory_equal(one.target, three.target,
                        lexicon_entries(&one) * sizeof(*one.target));
    assert_true(
        same_bits(one.probability, three.probability, lexicon_entries(&one)));
    for (int row = 0; row < one.rows; row++) {
        double sum = 0;
        for (size_t i = one.start[row]; i < one.start[row + 1]; i++)
            sum += (double)one.probability[i];
        if (one.start[row] < one.start[row + 1])
            assert_true(fabs(sum - 1) < 1e-5);
    }
    lexicon_release(&one);
    lexicon_release(&three);
    release_pair(&p);
    text_release(&source);
    text_release(&target);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_repeated_words),
        cmocka_unit_test(test_prunes),
        cmocka_unit_test(test_threads),
    };
    report_verbosity(QUIET);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
