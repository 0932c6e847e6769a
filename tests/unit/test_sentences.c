/* Sentences in compact memory: what goes in comes out, in few bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "corpus/sentences.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { LONGEST = 3000 };

static size_t length(size_t i)
{
    uint64_t x = rng_bits(1, RNG_DEMO, 0, i);
    return x % 200 == 0 ? LONGEST : x % 12;
}

/* The ids of sentence i: below 1,000 but for `largest` itself here and there. */
static void make(int32_t *ids, size_t i, int largest)
{
    for (size_t k = 0; k < length(i); k++) {
        uint64_t x = rng_bits(2, RNG_DEMO, i, k);
        ids[k] = x % 7 == 0 ? largest : (int32_t)(x % 1000);
    }
}

/* Adds n sentences: how many ids they have. */
static size_t fill(struct sentences *s, size_t n, int largest)
{
    int32_t ids[LONGEST];
    size_t all = 0;
    sentences_init(s, largest);
    for (size_t i = 0; i < n; i++) {
        make(ids, i, largest);
        sentences_add(s, ids, length(i));
        all += length(i);
    }
    sentences_end(s);
    return all;
}

static void test_what_goes_in_comes_out(void **state)
{
    static const size_t counts[] = { 0, 1, 2, 63, 64, 65, 127, 128, 1000 };
    static const int largest[] = { 999, 65535, 65536, INT32_MAX };
    int32_t wanted[LONGEST], ids[LONGEST];
    (void)state;
    for (size_t c = 0; c < COUNT(counts); c++) {
        for (size_t w = 0; w < COUNT(largest); w++) {
            struct sentences s;
            fill(&s, counts[c], largest[w]);
            assert_int_equal(s.count, counts[c]);
            for (size_t i = counts[c]; i-- > 0;) {
                make(wanted, i, largest[w]);
                assert_int_equal(sentences_length(&s, i), length(i));
                sentences_get(&s, i, ids);
                assert_memory_equal(ids, wanted, length(i) * sizeof *ids);
            }
            sentences_release(&s);
        }
    }
}

/* Nothing behind the sentence is written. */
static void test_no_more_is_written(void **state)
{
    static const int32_t one[] = { 7, 8 };
    int32_t ids[3] = { 0, 0, -1 };
    struct sentences s;
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        sentences_init(&s, wide ? 100000 : 8);
        sentences_add(&s, NULL, 0);
        sentences_add(&s, one, 2);
        sentences_add(&s, one, 1);
        sentences_end(&s);
        assert_int_equal(sentences_length(&s, 0), 0);
        sentences_get(&s, 1, ids);
        assert_int_equal(ids[0], 7);
        assert_int_equal(ids[1], 8);
        assert_int_equal(ids[2], -1);
        sentences_release(&s);
    }
}

static void test_bytes(void **state)
{
    enum { SENTENCES = 64000 };
    struct sentences s;
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        size_t ids = fill(&s, SENTENCES, wide ? 65536 : 65535);
        size_t least = ids * (wide ? 4 : 2) + 4 * SENTENCES;
        assert_true(s.bytes >= least);
        assert_true(s.bytes <= least + SENTENCES / 2);
        sentences_release(&s);
    }
}

static void test_zeroed(void **state)
{
    struct sentences s = { 0 };
    (void)state;
    sentences_release(&s);
    sentences_init(&s, 5);
    sentences_add(&s, (const int32_t[]){ 1 }, 1);
    sentences_release(&s); /* while it is still open */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_goes_in_comes_out),
        cmocka_unit_test(test_no_more_is_written),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_zeroed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
