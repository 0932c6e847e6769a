#include "base/map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* Words of a text are mostly of eight bytes or less, and then head and length
 * are the key. Those seen often come early in a text, so that their entries
 * share cache lines. */
struct map_entry {
    uint64_t head; /* the key's first eight bytes; zeros behind a short one */
    size_t offset; /* of the key in bytes */
    uint32_t len;
    int value;
};

struct map_slot {
    uint32_t tag;   /* of the hash */
    uint32_t entry; /* number + 1; 0: free */
};

/* A key to be looked for. */
struct probe {
    const char *key;
    size_t len;
    uint64_t hash, head;
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

static uint64_t load64(const char *s)
{
    uint64_t x;
    memcpy(&x, s, sizeof x);
    return x;
}

static uint64_t load32(const char *s)
{
    uint32_t x;
    memcpy(&x, s, sizeof x);
    return x;
}

/* The first eight bytes, zeros behind those of a shorter key, which is not read
 * byte by byte but in pieces that may overlap. */
static uint64_t head_of(const char *key, size_t len)
{
    if (len >= 8)
        return load64(key);
    if (len >= 4)
        return load32(key) | load32(key + len - 4) << (8 * (len - 4));
    uint64_t head = 0;
    for (size_t i = 0; i < len; i++)
        head |= (uint64_t)(unsigned char)key[i] << (8 * i);
    return head;
}

/* Eight bytes at a time, each folded in by a long multiplication; the last
 * eight may overlap those before. */
static uint64_t hash_of(const char *key, size_t len, uint64_t head)
{
    const uint64_t a = UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t b = UINT64_C(0xd6e8feb86659fd93);
    uint64_t hash = fold(a ^ len ^ head, b);

    for (size_t i = 8; i < len; i += 8) {
        size_t at = len - i < 8 ? len - 8 : i;
        hash = fold(hash ^ load64(key + at), b);
    }
    return hash ^ a;
}

uint64_t map_hash(const char *key, size_t len)
{
    return hash_of(key, len, head_of(key, len));
}

static struct probe probe_of(const char *key, size_t len)
{
    uint64_t head = head_of(key, len);
    return (struct probe){ key, len, hash_of(key, len, head), head };
}

/* Bits of the hash that do not choose the slot. */
static uint32_t tag_of(const struct probe *p)
{
    return (uint32_t)(p->hash >> 32);
}

static bool entry_is(const struct map *m, const struct map_entry *e,
                     const struct probe *p)
{
    if (e->head != p->head || e->len != p->len)
        return false;
    return p->len <= 8 ||
           memcmp(m->bytes + e->offset + 8, p->key + 8, p->len - 8) == 0;
}

/* The slot of the key, or the free one where it belongs. */
static struct map_slot *slot_of(const struct map *m, const struct probe *p)
{
    size_t mask = m->slots_cap - 1;
    uint32_t tag = tag_of(p);
    for (size_t i = p->hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &m->slots[i];
        if (slot->entry == 0 ||
            (slot->tag == tag && entry_is(m, &m->entries[slot->entry - 1], p)))
            return slot;
    }
}

/* Doubles the slots; at most three quarters of them are ever taken. */
static void grow_slots(struct map *m)
{
    size_t cap = m->slots_cap > 0 ? 2 * m->slots_cap : 16;
    free(m->slots);
    ARRAY_ZERO(m->slots, cap);
    m->slots_cap = cap;
    for (size_t e = 0; e < m->count; e++) {
        const struct map_entry *entry = &m->entries[e];
        struct probe p = probe_of(m->bytes + entry->offset, entry->len);
        size_t i = p.hash & (cap - 1);
        while (m->slots[i].entry != 0)
            i = (i + 1) & (cap - 1);
        m->slots[i] = (struct map_slot){ tag_of(&p), (uint32_t)e + 1 };
    }
}

static void add_entry(struct map *m, const struct probe *p, int value)
{
    ARRAY_GROW(m->bytes, m->bytes_len + p->len + 1, m->bytes_cap);
    ARRAY_GROW(m->entries, m->count + 1, m->entries_cap);
    m->entries[m->count++] = (struct map_entry){ .head = p->head,
                                                 .offset = m->bytes_len,
                                                 .len = (uint32_t)p->len,
                                                 .value = value };
    if (p->len > 0)
        memcpy(m->bytes + m->bytes_len, p->key, p->len);
    m->bytes_len += p->len;
    m->bytes[m->bytes_len++] = '\0';
}

bool map_put(struct map *m, const char *key, size_t len, int value)
{
    assert(m->count < UINT32_MAX - 1 && len <= UINT32_MAX);
    if (4 * (m->count + 1) > 3 * m->slots_cap)
        grow_slots(m);
    struct probe p = probe_of(key, len);
    struct map_slot *slot = slot_of(m, &p);
    if (slot->entry != 0) {
        m->entries[slot->entry - 1].value = value;
        return false;
    }
    add_entry(m, &p, value);
    *slot = (struct map_slot){ tag_of(&p), (uint32_t)m->count };
    return true;
}

int *map_find(const struct map *m, const char *key, size_t len)
{
    if (m->count == 0)
        return NULL;
    struct probe p = probe_of(key, len);
    const struct map_slot *slot = slot_of(m, &p);
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
