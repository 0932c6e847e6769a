/* The hash map against a list that is searched from the front. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/rng.h"
#include "scratch.h"

static void test_empty(void **state)
{
    struct map m = { 0 };
    (void)state;
    assert_int_equal(map_get(&m, BYTES("a"), -7), -7);
    assert_null(map_find(&m, BYTES("")));
    map_release(&m);
}

static void test_keys_are_bytes(void **state)
{
    static const struct {
        const char *key;
        size_t len;
    } keys[] = {
        { BYTES("") },         { BYTES("\0") },      { BYTES("\0\0") },
        { BYTES("a") },        { BYTES("a\0") },     { BYTES("ab") },
        { BYTES("abcdefgh") }, { BYTES("abcdefg") }, { BYTES("abcdefghi") },
        { BYTES("A") },        { BYTES("\xff") },    { BYTES("abcdefgh\0") },
    };
    const int n = sizeof keys / sizeof *keys;
    struct map m = { 0 };
    (void)state;
    for (int i = 0; i < n; i++) {
        assert_int_equal(map_get(&m, keys[i].key, keys[i].len, -1), -1);
        assert_true(map_put(&m, keys[i].key, keys[i].len, i));
    }
    for (int i = 0; i < n; i++)
        assert_int_equal(map_get(&m, keys[i].key, keys[i].len, -1), i);
    assert_int_equal(m.count, n);
    map_release(&m);
}

/* Keys of 0 … 40 zeros, and of as many with a single 1: lengths and bytes that
 * differ in one place are told apart. */
static void test_lengths_and_places(void **state)
{
    enum { LONGEST = 40 };
    struct map m = { 0 };
    int value = 0;
    (void)state;
    for (int round = 0; round < 2; round++) {
        value = 0;
        for (size_t len = 0; len <= LONGEST; len++) {
            for (size_t one = 0; one <= len; one++) {
                char key[LONGEST + 1] = { 0 };
                key[one] = one < len;
                if (round == 0)
                    assert_true(map_put(&m, key, len, value));
                assert_int_equal(map_get(&m, key, len, -1), value);
                value++;
            }
        }
    }
    assert_int_equal(m.count, value);
    map_release(&m);
}

/* What the hash makes of x, but for a constant: the hash of a key of eight
 * bytes is that of its bytes, its length and a constant. */
static uint64_t mixed(uint64_t x)
{
    const uint64_t a = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t key = x ^ a ^ 8;
    return map_hash((const char *)&key, sizeof key) ^ a;
}

/* Three keys of one hash: two of 24 bytes that differ behind the first eight,
 * and the first 16 bytes of one of them. The last eight bytes make up for what
 * differs. */
static void test_equal_hashes(void **state)
{
    const uint64_t a = UINT64_C(0x9e3779b97f4a7c15), head = 1;
    uint64_t begun = mixed(a ^ 24 ^ head), same = mixed(a ^ 16 ^ head) ^ 2;
    uint64_t keys[3][3] = {
        { head, 2, mixed(begun ^ 2) ^ same },
        { head, 3, mixed(begun ^ 3) ^ same },
        { head, 2, 0 },
    };
    static const size_t len[] = { 24, 24, 16 };
    struct map m = { 0 };
    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *key = (const char *)keys[i];
        assert_int_equal(map_hash(key, len[i]),
                         map_hash((const char *)keys[0], 24));
        assert_int_equal(map_get(&m, key, len[i], -1), -1);
        map_put(&m, key, len[i], i);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(map_get(&m, (const char *)keys[i], len[i], -1), i);
    map_release(&m);
}

static void test_put_again_changes_the_value(void **state)
{
    struct map m = { 0 };
    (void)state;
    assert_true(map_put(&m, BYTES("a"), 1));
    assert_false(map_put(&m, BYTES("a"), 2));
    assert_int_equal(m.count, 1);
    assert_int_equal(map_get(&m, BYTES("a"), 0), 2);
    *map_find(&m, BYTES("a")) = 3;
    assert_int_equal(map_get(&m, BYTES("a"), 0), 3);
    map_release(&m);
}

static void test_order_and_copies(void **state)
{
    struct map m = { 0 };
    char key[16];
    (void)state;
    for (int i = 0; i < 100000; i++) {
        snprintf(key, sizeof key, "%d", i * 7);
        map_put(&m, key, strlen(key), -i);
    }
    memset(key, 'x', sizeof key); /* the map does not look there any more */
    assert_int_equal(m.count, 100000);
    for (int i = 0; i < 100000; i++) {
        size_t len;
        snprintf(key, sizeof key, "%d", i * 7);
        assert_string_equal(map_key(&m, (size_t)i, &len), key);
        assert_int_equal(len, strlen(key));
        assert_int_equal(map_value(&m, (size_t)i), -i);
        assert_int_equal(map_get(&m, key, len, 1), -i);
        assert_int_equal(map_get(&m, key, len - 1, 1) == -i, 0);
    }
    map_release(&m);
}

/* Random puts of keys of a few letters, so that most come again. */
static void test_against_a_list(void **state)
{
    struct {
        char key[4];
        size_t len;
        int value;
    } list[400];
    size_t n = 0;
    struct map m = { 0 };
    struct rng_key key = rng_key(1, RNG_DEMO, 0);
    (void)state;
    for (uint64_t round = 0; round < 5000; round++) {
        uint64_t x = rng_key_bits(key, round);
        char word[4] = { (char)(x & 3), (char)(x >> 2 & 3), (char)(x >> 4 & 3),
                         (char)(x >> 6 & 3) };
        size_t len = x >> 8 & 3, i = 0;
        while (i < n &&
               (list[i].len != len || memcmp(list[i].key, word, len) != 0))
            i++;
        assert_int_equal(map_get(&m, word, len, -1),
                         i < n ? list[i].value : -1);
        assert_int_equal(map_put(&m, word, len, (int)round), i == n);
        memcpy(list[i].key, word, 4);
        list[i].len = len;
        list[i].value = (int)round;
        n += i == n;
    }
    assert_int_equal(m.count, n);
    assert_int_equal(n, 1 + 4 + 16 + 64);
    map_release(&m);
}

/* Words that differ little must not fall together: the hash uses every byte. */
static void test_hash_spreads(void **state)
{
    static unsigned char seen[1 << 16];
    char word[16];
    int clashes = 0;
    (void)state;
    for (int i = 0; i < 10000; i++) {
        snprintf(word, sizeof word, "w%05d", i);
        unsigned char *place = &seen[map_hash(word, 6) & 0xffff];
        clashes += *place;
        *place = 1;
    }
    assert_true(clashes < 900); /* 726 expected of an even hash */

    char text[24] = { 0 };
    uint64_t before = map_hash(text, sizeof text);
    for (size_t bit = 0; bit < 8 * sizeof text; bit++) {
        text[bit / 8] ^= (char)(1 << bit % 8);
        int changed = __builtin_popcountll(map_hash(text, sizeof text) ^
                                           before);
        assert_in_range(changed, 10, 54);
        text[bit / 8] = 0;
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_keys_are_bytes),
        cmocka_unit_test(test_lengths_and_places),
        cmocka_unit_test(test_equal_hashes),
        cmocka_unit_test(test_put_again_changes_the_value),
        cmocka_unit_test(test_order_and_copies),
        cmocka_unit_test(test_against_a_list),
        cmocka_unit_test(test_hash_spreads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
