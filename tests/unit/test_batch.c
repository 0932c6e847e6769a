/* Batches: each pair once an epoch, in an order that is a function of the seed
 * and the epoch; rows sorted; the shards of a batch are the batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rng.h"
#include "base/text.h"
#include "corpus/batch.h"
#include "corpus/corpus.h"
#include "corpus/vocab.h"
#include "scratch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A corpus of random pairs, 1 … 12 words a side; the first source word is the
 * number of the pair, so that a row can be recognised. */
static void make_corpus(struct corpus *c, int pairs)
{
    struct text v = { 0 }, s = { 0 }, t = { 0 };
    struct vocab vocab;
    text_adds(&v, "<unk>\n<s>\n</s>\n");
    for (int i = 0; i < pairs; i++) {
        uint64_t x = rng_bits(1, RNG_DEMO, 0, (uint64_t)i);
        text_addf(&v, "%d\n", i);
        for (uint64_t k = 0; k <= x % 12; k++)
            text_addf(&s, "%d ", i);
        for (uint64_t k = 0; k <= x / 12 % 12; k++)
            text_addf(&t, "%d ", i);
        text_adds(&s, "\n");
        text_adds(&t, "\n");
    }
    assert_int_equal(vocab_parse(&vocab, "vocab", v.s, v.len), 0);
    assert_int_equal(corpus_read(c, scratch_file("s", s.s, s.len),
                                 scratch_file("t", t.s, t.len), &vocab, &vocab,
                                 0),
                     0);
    assert_int_equal(c->pairs, pairs);
    vocab_release(&vocab);
    text_release(&v);
    text_release(&s);
    text_release(&t);
}

/* ---- one batch ---------------------------------------------------------------- */

/* The side holds the sentences of the corpus that `pair` names. */
static void check_side(const struct side *side, const struct corpus *c,
                       enum corpus_side which, const uint32_t *pair)
{
    assert_int_equal(side->start[0], 0);
    assert_int_equal(side->start[side->sentences], side->tokens);
    for (int b = 0; b < side->sentences; b++) {
        int32_t ids[64];
        int len = corpus_length(c, which, pair[b]);
        assert_true(len <= 64);
        corpus_ids(c, which, pair[b], ids);
        assert_int_equal(side->start[b + 1] - side->start[b], len);
        assert_memory_equal(side->ids + side->start[b], ids,
                            (size_t)len * sizeof *ids);
        assert_int_equal(side->ids[side->start[b + 1] - 1], EOS);
        assert_int_equal(side->ids[side->start[b]], pair[b] + VOCAB_CONTROLS);
    }
}

static int length(const struct side *s, int b)
{
    return s->start[b + 1] - s->start[b];
}

/* Row b + 1 comes after row b. */
static bool in_order(const struct batch *x, int b)
{
    int t = length(&x->target, b), u = length(&x->target, b + 1);
    int s = length(&x->source, b), r = length(&x->source, b + 1);
    if (t != u)
        return t > u;
    if (s != r)
        return s > r;
    return x->pair[b] < x->pair[b + 1];
}

static void check_batch(const struct batch *x, const struct corpus *c)
{
    assert_int_equal(x->source.sentences, x->target.sentences);
    check_side(&x->source, c, CORPUS_SOURCE, x->pair);
    check_side(&x->target, c, CORPUS_TARGET, x->pair);
    for (int b = 0; b + 1 < x->source.sentences; b++)
        assert_true(in_order(x, b));
}

/* ---- an epoch -------------------------------------------------------------------- */

/* The pairs of the epoch, in the order of their rows, with a UINT32_MAX behind
 * each batch; to be freed. All that holds of every epoch is checked. */
static uint32_t *check_epoch(const struct batches *b, const struct corpus *c,
                             size_t *n)
{
    struct arena arena = { 0 };
    char *seen = xcalloc(c->pairs, 1);
    uint32_t *all = NULL;
    size_t cap = 0, pairs = 0;
    *n = 0;
    for (size_t i = 0; i < batches_count(b); i++) {
        struct batch x;
        batches_get(b, i, 0, 1, &arena, &x);
        check_batch(&x, c);
        assert_true(x.source.sentences > 0);
        assert_int_equal(x.source.sentences, batches_sentences(b, i));
        assert_int_equal(x.target.tokens, batches_target_tokens(b, i));
        for (int k = 0; k < x.source.sentences; k++) {
            assert_int_equal(seen[x.pair[k]], 0);
            seen[x.pair[k]] = 1;
            ARRAY_GROW(all, *n + 2, cap);
            all[(*n)++] = x.pair[k];
            pairs++;
        }
        all[(*n)++] = UINT32_MAX;
        arena_reset(&arena);
    }
    assert_int_equal(pairs, c->pairs); /* each once */
    arena_release(&arena);
    free(seen);
    return all;
}

static void test_each_pair_once(void **state)
{
    static const int pairs[] = { 1, 2, 3, 63, 64, 65, 1000 };
    static const int sizes[] = { 1, 2, 7, 64, 100000 };
    (void)state;
    for (size_t p = 0; p < COUNT(pairs); p++) {
        struct corpus c;
        make_corpus(&c, pairs[p]);
        for (size_t s = 0; s < COUNT(sizes); s++) {
            for (int unit = BATCH_SENTENCES; unit <= BATCH_TOKENS; unit++) {
                size_t n;
                struct batches *b = batches_new(&c, sizes[s],
                                                (enum batch_unit)unit, 1);
                for (int epoch = 0; epoch < 3; epoch++) {
                    batches_epoch(b, epoch);
                    free(check_epoch(b, &c, &n));
                }
                batches_free(b);
            }
        }
        corpus_release(&c);
    }
}

static void test_sizes_in_sentences(void **state)
{
    struct corpus c;
    int small = 0;
    (void)state;
    make_corpus(&c, 1000);
    struct batches *b = batches_new(&c, 64, BATCH_SENTENCES, 1);
    assert_int_equal(batches_count(b), 16); /* 15 of 64 and one of 40 */
    for (size_t i = 0; i < batches_count(b); i++) {
        if (batches_sentences(b, i) == 64)
            continue;
        assert_int_equal(batches_sentences(b, i), 40);
        small++;
    }
    assert_int_equal(small, 1);
    batches_free(b);
    corpus_release(&c);
}

static void test_sizes_in_tokens(void **state)
{
    struct corpus c;
    long tokens = 0;
    (void)state;
    make_corpus(&c, 1000);
    struct batches *b = batches_new(&c, 100, BATCH_TOKENS, 1);
    for (size_t i = 0; i < batches_count(b); i++) {
        assert_true(batches_target_tokens(b, i) <= 100);
        tokens += batches_target_tokens(b, i);
    }
    /* nearly full: less than a longest sentence is missing in each, on average */
    assert_true((size_t)tokens == c.tokens[1] + c.pairs);
    assert_true(batches_count(b) <= (size_t)(tokens / (100 - 13)) + 1);
    batches_free(b);

    b = batches_new(&c, 3, BATCH_TOKENS, 1); /* most sentences are longer */
    for (size_t i = 0; i < batches_count(b); i++)
        assert_true(batches_target_tokens(b, i) <= 3 ||
                    batches_sentences(b, i) == 1);
    batches_free(b);
    corpus_release(&c);
}

/* Sentences of a batch are of nearly equal length: that is what pools are for. */
static void test_lengths_agree(void **state)
{
    struct corpus c;
    struct arena arena = { 0 };
    int spread = 0;
    (void)state;
    make_corpus(&c, 2000);
    struct batches *b = batches_new(&c, 20, BATCH_SENTENCES, 1);
    for (size_t i = 0; i < batches_count(b); i++) {
        struct batch x;
        batches_get(b, i, 0, 1, &arena, &x);
        spread += length(&x.target, 0) -
                  length(&x.target, x.target.sentences - 1);
        arena_reset(&arena);
    }
    /* twelve lengths over a hundred batches: eleven steps in all, not in each */
    assert_true(spread <= 11);
    arena_release(&arena);
    batches_free(b);
    corpus_release(&c);
}

/* ---- order ------------------------------------------------------------------------- */

static void assert_order(const struct batches *b, const struct corpus *c,
                         const uint32_t *wanted, size_t wanted_n, bool equal)
{
    size_t n;
    uint32_t *order = check_epoch(b, c, &n);
    bool same = n == wanted_n && memcmp(order, wanted, n * sizeof *order) == 0;
    assert_int_equal(same, equal);
    free(order);
}

static void test_order_is_a_function(void **state)
{
    struct corpus c;
    size_t n, m;
    (void)state;
    make_corpus(&c, 700);
    struct batches *b = batches_new(&c, 3, BATCH_SENTENCES, 5);
    uint32_t *first = check_epoch(b, &c, &n);
    batches_epoch(b, 4);
    uint32_t *fourth = check_epoch(b, &c, &m);
    assert_order(b, &c, first, n, false); /* epochs differ */
    batches_epoch(b, 0);
    assert_order(b, &c, first, n, true);
    batches_epoch(b, 4); /* whatever came in between */
    assert_order(b, &c, fourth, m, true);
    batches_free(b);

    b = batches_new(&c, 3, BATCH_SENTENCES, 5);
    assert_order(b, &c, first, n, true);
    batches_free(b);
    b = batches_new(&c, 3, BATCH_SENTENCES, 6); /* seeds differ */
    assert_order(b, &c, first, n, false);
    batches_free(b);
    free(first);
    free(fourth);
    corpus_release(&c);
}

/* The order is part of the results of training: it may not change unnoticed.
 * The number comes from a second implementation, in Python. */
static void test_order_is_fixed(void **state)
{
    struct corpus c;
    size_t n;
    uint64_t hash = 0;
    (void)state;
    make_corpus(&c, 700);
    struct batches *b = batches_new(&c, 3, BATCH_SENTENCES, 5);
    uint32_t *order = check_epoch(b, &c, &n);
    for (size_t i = 0; i < n; i++)
        hash = hash * UINT64_C(6364136223846793005) + order[i];
    assert_int_equal(hash, UINT64_C(0xdad672abcd066160));
    free(order);
    batches_free(b);
    corpus_release(&c);
}

/* Batches do not come by length: the first half is not longer than the second. */
static void test_batches_are_shuffled(void **state)
{
    struct corpus c;
    int rising = 0;
    (void)state;
    make_corpus(&c, 2000);
    struct batches *b = batches_new(&c, 10, BATCH_SENTENCES, 1);
    for (size_t i = 0; i + 1 < batches_count(b); i++)
        rising += batches_target_tokens(b, i) < batches_target_tokens(b, i + 1);
    assert_in_range(rising, 60, 140); /* of 199 */
    batches_free(b);
    corpus_release(&c);
}

/* The pairs that share a batch are others in each epoch, though many are equal
 * in length. */
static void test_batches_are_mixed_anew(void **state)
{
    struct corpus c;
    struct arena arena = { 0 };
    uint32_t with[2] = { 0, 0 };
    (void)state;
    make_corpus(&c, 2000);
    struct batches *b = batches_new(&c, 2, BATCH_SENTENCES, 1);
    for (int epoch = 0; epoch < 2; epoch++) {
        batches_epoch(b, epoch);
        for (size_t i = 0; i < batches_count(b); i++) {
            struct batch x;
            batches_get(b, i, 0, 1, &arena, &x);
            if (x.pair[0] == 77 || x.pair[1] == 77)
                with[epoch] = x.pair[0] + x.pair[1] - 77;
        }
        arena_reset(&arena);
    }
    assert_int_not_equal(with[0], with[1]);
    arena_release(&arena);
    batches_free(b);
    corpus_release(&c);
}

/* ---- shards ------------------------------------------------------------------------- */

/* Dealt in turn: row b of shard s is row b * shards + s of the batch. */
static void check_shards(const struct batches *b, const struct corpus *c,
                         size_t i, int shards)
{
    struct arena arena = { 0 };
    struct batch whole, part;
    int rows = 0;
    batches_get(b, i, 0, 1, &arena, &whole);
    for (int s = 0; s < shards; s++) {
        batches_get(b, i, s, shards, &arena, &part);
        check_batch(&part, c);
        for (int k = 0; k < part.source.sentences; k++)
            assert_int_equal(part.pair[k], whole.pair[k * shards + s]);
        rows += part.source.sentences;
    }
    assert_int_equal(rows, whole.source.sentences);
    arena_release(&arena);
}

static void test_shards_are_the_batch(void **state)
{
    struct corpus c;
    (void)state;
    make_corpus(&c, 150);
    struct batches *b = batches_new(&c, 16, BATCH_SENTENCES, 1);
    for (size_t i = 0; i < batches_count(b); i++)
        for (int shards = 1; shards <= 20; shards++)
            check_shards(b, &c, i, shards);
    batches_free(b);
    corpus_release(&c);
}

static void test_empty_shard(void **state)
{
    struct corpus c;
    struct arena arena = { 0 };
    struct batch x;
    (void)state;
    make_corpus(&c, 3);
    struct batches *b = batches_new(&c, 64, BATCH_SENTENCES, 1);
    assert_int_equal(batches_count(b), 1);
    batches_get(b, 0, 3, 4, &arena, &x);
    assert_int_equal(x.source.sentences, 0);
    assert_int_equal(x.target.sentences, 0);
    assert_int_equal(x.source.tokens, 0);
    assert_int_equal(x.source.start[0], 0);
    arena_release(&arena);
    batches_free(b);
    corpus_release(&c);
}

/* ---- validation ----------------------------------------------------------------------- */

static void test_sequential(void **state)
{
    struct corpus c;
    struct arena arena = { 0 };
    size_t n;
    (void)state;
    make_corpus(&c, 130);
    struct batches *b = batches_sequential(&c, 32);
    assert_int_equal(batches_count(b), 5);
    uint32_t *order = check_epoch(b, &c, &n);
    batches_epoch(b, 3);
    assert_order(b, &c, order, n, true); /* always the same */

    int last = INT32_MAX; /* by falling length over all batches */
    for (size_t i = 0; i < batches_count(b); i++) {
        struct batch x;
        batches_get(b, i, 0, 1, &arena, &x);
        assert_int_equal(x.source.sentences, i < 4 ? 32 : 2);
        assert_true(length(&x.target, 0) <= last);
        last = length(&x.target, x.target.sentences - 1);
    }
    arena_release(&arena);
    free(order);
    batches_free(b);
    batches_free(NULL);
    corpus_release(&c);
}

/* ---- sides from anywhere ---------------------------------------------------------------- */

static void test_gather(void **state)
{
    struct arena arena = { 0 };
    const int one[] = { 5, 6, EOS }, three[] = { 7, EOS };
    const int *ids[] = { one, NULL, three };
    const int lengths[] = { 3, 0, 2 }, all[] = { 5, 6, EOS, 7, EOS };
    struct side s;
    (void)state;
    side_gather(&s, &arena, ids, lengths, 3);
    assert_int_equal(s.sentences, 3);
    assert_int_equal(s.tokens, 5);
    assert_int_equal(length(&s, 1), 0);
    assert_int_equal(s.start[2], 3);
    assert_memory_equal(s.ids, all, sizeof all);
    assert_ptr_not_equal(s.ids, one); /* copied */
    side_gather(&s, &arena, ids, lengths, 0);
    assert_int_equal(s.tokens, 0);
    arena_release(&arena);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_pair_once),
        cmocka_unit_test(test_sizes_in_sentences),
        cmocka_unit_test(test_sizes_in_tokens),
        cmocka_unit_test(test_lengths_agree),
        cmocka_unit_test(test_order_is_a_function),
        cmocka_unit_test(test_order_is_fixed),
        cmocka_unit_test(test_batches_are_shuffled),
        cmocka_unit_test(test_batches_are_mixed_anew),
        cmocka_unit_test(test_shards_are_the_batch),
        cmocka_unit_test(test_empty_shard),
        cmocka_unit_test(test_sequential),
        cmocka_unit_test(test_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
