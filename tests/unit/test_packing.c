/* Packing: every token has one row in each direction, and the rows of a step
 * are the first sentences of the step before. */
#include "model/packing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "numbers.h"

enum { MOST = 40 };

/* A side of sentences of these lengths; the ids are not looked at. */
static struct side side_of(struct arena *arena, const int *lengths, int n)
{
    int *start = arena_array(arena, (size_t)n + 1, sizeof(*start));
    start[0] = 0;
    for (int b = 0; b < n; b++)
        start[b + 1] = start[b] + lengths[b];
    return (struct side){ .sentences = n, .tokens = start[n], .start = start };
}

static int length(const struct side *s, int b)
{
    return s->start[b + 1] - s->start[b];
}

/* Sentences by falling length, equal ones as they came. */
static void check_order(const struct packing *p, const struct side *s)
{
    for (int i = 1; i < p->sentences; i++) {
        int before = p->order[i - 1], after = p->order[i];
        assert_true(length(s, before) > length(s, after) ||
                    (length(s, before) == length(s, after) && before < after));
    }
}

static void check_steps(const struct packing *p, const struct side *s)
{
    int rows = 0;
    for (int t = 0; t < p->steps; t++) {
        int alive = 0;
        for (int b = 0; b < s->sentences; b++)
            alive += length(s, b) > t;
        assert_int_equal(p->alive[t], alive);
        assert_int_equal(p->first[t], rows);
        rows += alive;
    }
    assert_int_equal(rows, s->tokens);
}

/* Row r of step t holds token t, or t from the end, of its rank's sentence. */
static void check_rows(const struct packing *p, const struct side *s)
{
    for (int t = 0; t < p->steps; t++)
        for (int i = 0; i < p->alive[t]; i++) {
            int b = p->order[i], row = p->first[t] + i;
            assert_int_equal(p->forward[row], s->start[b] + t);
            assert_int_equal(p->backward[row], s->start[b + 1] - 1 - t);
            assert_int_equal(p->row[p->forward[row]], row);
            assert_int_equal(p->back_row[p->backward[row]], row);
        }
}

static void check(const int *lengths, int n)
{
    struct arena arena;
    struct packing p;
    arena_init(&arena);
    struct side s = side_of(&arena, lengths, n);
    packing_make(&p, &arena, &s);
    assert_int_equal(p.sentences, n);
    assert_int_equal(p.tokens, s.tokens);
    assert_int_equal(p.steps, n > 0 ? length(&s, p.order[0]) : 0);
    check_order(&p, &s);
    check_steps(&p, &s);
    check_rows(&p, &s);
    arena_release(&arena);
}

static void test_known(void **state)
{
    (void)state;
    static const int lengths[] = { 2, 3, 1 };
    static const int forward[] = { 2, 0, 5, 3, 1, 4 };
    static const int backward[] = { 4, 1, 5, 3, 0, 2 };
    struct arena arena;
    struct packing p;
    arena_init(&arena);
    struct side s = side_of(&arena, lengths, 3);
    packing_make(&p, &arena, &s);
    assert_memory_equal(p.forward, forward, sizeof(forward));
    assert_memory_equal(p.backward, backward, sizeof(backward));
    arena_release(&arena);
}

static void test_one_and_none(void **state)
{
    (void)state;
    static const int one[] = { 1 }, long_one[] = { 30 };
    check(one, 1);
    check(long_one, 1);
    check(one, 0);
}

static void test_equal_lengths(void **state)
{
    (void)state;
    int lengths[MOST];
    for (int b = 0; b < MOST; b++)
        lengths[b] = 4;
    check(lengths, MOST);
}

static void test_sorted_sentences_keep_their_order(void **state)
{
    (void)state;
    static const int lengths[] = { 9, 9, 5, 5, 5, 2, 1, 1 };
    struct arena arena;
    struct packing p;
    arena_init(&arena);
    struct side s = side_of(&arena, lengths, 8);
    packing_make(&p, &arena, &s);
    for (int b = 0; b < 8; b++)
        assert_int_equal(p.order[b], b);
    arena_release(&arena);
}

static void test_random_lengths(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        int lengths[MOST], n = 1 + numbers_pick(MOST, seed, 1000);
        for (int b = 0; b < n; b++)
            lengths[b] = 1 + numbers_pick(12, seed, (uint64_t)b);
        check(lengths, n);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_one_and_none),
        cmocka_unit_test(test_equal_lengths),
        cmocka_unit_test(test_sorted_sentences_keep_their_order),
        cmocka_unit_test(test_random_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
