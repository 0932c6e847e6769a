/* The arena: alignment, marks, reuse, the peak. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rng.h"

static void test_alignment_and_separation(void **state)
{
    struct arena a;
    char *piece[300];
    size_t size[300];
    (void)state;
    arena_init(&a);
    for (size_t i = 0; i < 300; i++) {
        size[i] = rng_bits(1, RNG_DEMO, 0, i) % 30000;
        piece[i] = arena_alloc(&a, size[i]);
        assert_int_equal((uintptr_t)piece[i] % 64, 0);
        memset(piece[i], (int)(i % 251), size[i]);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t k = 0; k < size[i]; k++)
            if (piece[i][k] != (char)(i % 251))
                fail_msg("piece %zu was overwritten at %zu", i, k);
    arena_release(&a);
}

static void test_zeroed_is_empty(void **state)
{
    struct arena a = { 0 };
    (void)state;
    assert_int_equal(arena_used(&a), 0);
    assert_int_equal(arena_peak(&a), 0);
    arena_reset(&a);
    struct arena_mark mark = arena_mark(&a);
    assert_non_null(arena_alloc(&a, 0));
    arena_rewind(&a, mark);
    assert_int_equal(arena_used(&a), 0);
    arena_release(&a);
    arena_release(&a);
}

static void test_rewind_gives_the_same_memory(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a);
    char *kept = arena_alloc(&a, 100);
    memset(kept, 'k', 100);
    struct arena_mark outer = arena_mark(&a);
    char *first = arena_alloc(&a, 1000);
    struct arena_mark inner = arena_mark(&a);
    char *second = arena_alloc(&a, 1000);
    arena_rewind(&a, inner);
    assert_ptr_equal(arena_alloc(&a, 1000), second);
    arena_rewind(&a, outer);
    assert_int_equal(arena_used(&a), 128);
    assert_ptr_equal(arena_alloc(&a, 1000), first);
    for (int i = 0; i < 100; i++)
        assert_int_equal(kept[i], 'k');
    arena_release(&a);
}

static void test_rewind_over_blocks(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a);
    arena_alloc(&a, 64);
    struct arena_mark mark = arena_mark(&a);
    for (int i = 0; i < 10; i++)
        arena_alloc(&a, 700000);
    size_t used = arena_used(&a), capacity = arena_capacity(&a);
    assert_true(used >= 64 + 10 * 700000);
    arena_rewind(&a, mark);
    assert_int_equal(arena_used(&a), 64);
    for (int i = 0; i < 10; i++)
        arena_alloc(&a, 700000);
    assert_int_equal(arena_used(&a), used);
    assert_int_equal(arena_capacity(&a), capacity); /* nothing new was needed */
    arena_release(&a);
}

static void test_larger_than_a_block(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a);
    char *small = arena_alloc(&a, 10);
    struct arena_mark mark = arena_mark(&a);
    arena_alloc(&a, 600000); /* in the first block */
    arena_alloc(&a, 600000); /* in the second */
    arena_rewind(&a, mark);
    char *large = arena_alloc(&a, (size_t)5 << 20); /* larger than the second */
    memset(large, 'l', (size_t)5 << 20);
    memset(small, 's', 10);
    char *after = arena_alloc(&a, 600000);
    memset(after, 'a', 600000);
    assert_int_equal(large[((size_t)5 << 20) - 1], 'l');
    assert_int_equal(small[9], 's');
    arena_release(&a);
}

static void test_peak(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a);
    arena_alloc(&a, 640);
    struct arena_mark mark = arena_mark(&a);
    arena_alloc(&a, 6400);
    arena_rewind(&a, mark);
    arena_alloc(&a, 64);
    assert_int_equal(arena_used(&a), 704);
    assert_int_equal(arena_peak(&a), 7040);
    arena_reset(&a);
    assert_int_equal(arena_used(&a), 0);
    assert_int_equal(arena_peak(&a), 7040);
    arena_alloc(&a, 64000);
    assert_int_equal(arena_peak(&a), 64000);
    arena_release(&a);
}

/* After the first reset there is one block, with room for all there was. */
static void test_reset_keeps_memory(void **state)
{
    struct arena a;
    size_t capacity = 0;
    (void)state;
    arena_init(&a);
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 30; i++)
            memset(arena_alloc(&a, 300000), round, 300000);
        if (round > 0)
            assert_int_equal(arena_capacity(&a), capacity);
        arena_reset(&a);
        capacity = arena_capacity(&a);
        assert_true(capacity >= 30 * 300000 && capacity < 40 * 300000);
    }
    arena_release(&a);
}

static void test_array(void **state)
{
    struct arena a;
    (void)state;
    arena_init(&a);
    int *ids = arena_array(&a, 1000, sizeof *ids);
    for (int i = 0; i < 1000; i++)
        ids[i] = i;
    assert_int_equal(arena_used(&a), 4032); /* 4000, rounded up to 64 */
    arena_release(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment_and_separation),
        cmocka_unit_test(test_zeroed_is_empty),
        cmocka_unit_test(test_rewind_gives_the_same_memory),
        cmocka_unit_test(test_rewind_over_blocks),
        cmocka_unit_test(test_larger_than_a_block),
        cmocka_unit_test(test_peak),
        cmocka_unit_test(test_reset_keeps_memory),
        cmocka_unit_test(test_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
