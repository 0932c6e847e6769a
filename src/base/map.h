/* A hash map from strings to ints that remembers the order of insertion.
 *
 * Keys are bytes with a length, compared byte by byte, copied into the map.
 * Entry e (from 0, in order of insertion) can be read with map_key() and
 * map_value(). Nothing is ever removed. A zeroed struct is an empty map.
 * Lookups from several threads are fine while nobody puts. */
#ifndef ATTN_BASE_MAP_H
#define ATTN_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_entry;
struct map_slot;

struct map {
    size_t count; /* entries */
    struct map_entry *entries;
    size_t entries_cap;
    char *bytes; /* all keys, each followed by '\0' */
    size_t bytes_len, bytes_cap;
    struct map_slot *slots;
    size_t slots_cap; /* 0 or a power of two */
};

void map_release(struct map *m);

/* Sets the value of the key. Returns true when the key is new. At most
 * 2^32 - 2 entries, of keys below 2^32 bytes (asserted). */
bool map_put(struct map *m, const char *key, size_t len, int value);

/* The value of the key, or `missing`. */
int map_get(const struct map *m, const char *key, size_t len, int missing);

/* The value's place, to change it, or NULL; valid until the next map_put(). */
int *map_find(const struct map *m, const char *key, size_t len);

/* Entry e: its key (ends in '\0', *len may be NULL; valid until the next
 * map_put()) and its value. */
const char *map_key(const struct map *m, size_t e, size_t *len);
int map_value(const struct map *m, size_t e);

/* The hash the map uses; not part of any file. */
uint64_t map_hash(const char *key, size_t len);

#endif
