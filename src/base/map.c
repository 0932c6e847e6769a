#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct map_entry {
    size_t offset; /* of the key in bytes */
    size_t len;
    uint32_t hash;
    int value;
};

struct map_slot {
    uint32_t hash;
    uint32_t entry; /* number + 1; 0: free */
};

void map_release(struct map *m)
{
    free(m->entries);
    free(m->bytes);
    free(m->slots);
    *m = (struct map){ 0 };
}

static uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time, each folded in by a long multiplication. */
uint64_t map_hash(const char *key, size_t len)
{
    const uint64_t a = UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t b = UINT64_C(0xd6e8feb86659fd93);
    uint64_t hash = a ^ len, word;

    for (; len >= 8; key += 8, len -= 8) {
        memcpy(&word, key, 8);
        hash = fold(hash ^ word, b);
    }
    word = 0;
    for (size_t i = 0; i < len; i++)
        word |= (uint64_t)(unsigned char)key[i] << (8 * i);
    return fold(hash ^ word, b) ^ a;
}

static bool entry_is(const struct map *m, const struct map_entry *e,
                     const char *key, size_t len)
{
    return e->len == len && memcmp(m->bytes + e->offset, key, len) == 0;
}

/* The slot of the key, or the free one where it belongs. */
static struct map_slot *slot_of(const struct map *m, uint32_t hash,
                                const char *key, size_t len)
{
    size_t mask = m->slots_cap - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &m->slots[i];
        if (slot->entry == 0)
            return slot;
        if (slot->hash == hash &&
            entry_is(m, &m->entries[slot->entry - 1], key, len))
            return slot;
    }
}

/* Doubles the slots; at most half of them are ever taken. */
static void grow_slots(struct map *m)
{
    size_t cap = m->slots_cap > 0 ? 2 * m->slots_cap : 16;
    free(m->slots);
    ARRAY_ZERO(m->slots, cap);
    m->slots_cap = cap;
    for (size_t e = 0; e < m->count; e++) {
        size_t i = m->entries[e].hash & (cap - 1);
        while (m->slots[i].entry != 0)
            i = (i + 1) & (cap - 1);
        m->slots[i] = (struct map_slot){ m->entries[e].hash, (uint32_t)e + 1 };
    }
}

static void add_entry(struct map *m, uint32_t hash, const char *key, size_t len,
                      int value)
{
    ARRAY_GROW(m->bytes, m->bytes_len + len + 1, m->bytes_cap);
    ARRAY_GROW(m->entries, m->count + 1, m->entries_cap);
    m->entries[m->count++] = (struct map_entry){
        .offset = m->bytes_len, .len = len, .hash = hash, .value = value
    };
    if (len > 0)
        memcpy(m->bytes + m->bytes_len, key, len);
    m->bytes_len += len;
    m->bytes[m->bytes_len++] = '\0';
}

bool map_put(struct map *m, const char *key, size_t len, int value)
{
    assert(m->count < UINT32_MAX - 1);
    if (2 * (m->count + 1) > m->slots_cap)
        grow_slots(m);
    uint32_t hash = (uint32_t)map_hash(key, len);
    struct map_slot *slot = slot_of(m, hash, key, len);
    if (slot->entry != 0) {
        m->entries[slot->entry - 1].value = value;
        return false;
    }
    add_entry(m, hash, key, len, value);
    *slot = (struct map_slot){ hash, (uint32_t)m->count };
    return true;
}

int *map_find(const struct map *m, const char *key, size_t len)
{
    if (m->count == 0)
        return NULL;
    uint32_t hash = (uint32_t)map_hash(key, len);
    const struct map_slot *slot = slot_of(m, hash, key, len);
    return slot->entry == 0 ? NULL : &m->entries[slot->entry - 1].value;
}

int map_get(const struct map *m, const char *key, size_t len, int missing)
{
    const int *value = map_find(m, key, len);
    return value == NULL ? missing : *value;
}

const char *map_key(const struct map *m, size_t e, size_t *len)
{
    assert(e < m->count);
    if (len != NULL)
        *len = m->entries[e].len;
    return m->bytes + m->entries[e].offset;
}

int map_value(const struct map *m, size_t e)
{
    assert(e < m->count);
    return m->entries[e].value;
}
