#include "base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"

#ifndef __has_feature
#define __has_feature(name) 0
#endif

/* Under AddressSanitizer, memory that is not in use is poisoned, so that a
 * pointer kept across a rewind is found. */
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define POISON(p, bytes) ASAN_POISON_MEMORY_REGION(p, bytes)
#define UNPOISON(p, bytes) ASAN_UNPOISON_MEMORY_REGION(p, bytes)
#else
#define POISON(p, bytes) ((void)(p), (void)(bytes))
#define UNPOISON(p, bytes) ((void)(p), (void)(bytes))
#endif

#define ALIGNMENT 64
#define LEAST_BLOCK ((size_t)1 << 20)
#define LARGEST_STEP ((size_t)64 << 20) /* blocks double up to this size */

struct arena_block {
    struct arena_block *next;
    char *memory;
    size_t size, used;
    size_t before; /* bytes in use in the blocks before this one */
};

void arena_init(struct arena *a)
{
    *a = (struct arena){ 0 };
}

void arena_release(struct arena *a)
{
    struct arena_block *block = a->first;
    while (block != NULL) {
        struct arena_block *next = block->next;
        UNPOISON(block->memory, block->size);
        free(block->memory);
        free(block);
        block = next;
    }
    arena_init(a);
}

size_t arena_used(const struct arena *a)
{
    return a->current == NULL ? 0 : a->current->before + a->current->used;
}

static void note_peak(struct arena *a)
{
    size_t used = arena_used(a);
    if (used > a->peak)
        a->peak = used;
}

size_t arena_peak(const struct arena *a)
{
    size_t used = arena_used(a);
    return used > a->peak ? used : a->peak;
}

size_t arena_capacity(const struct arena *a)
{
    size_t bytes = 0;
    for (const struct arena_block *b = a->first; b != NULL; b = b->next)
        bytes += b->size;
    return bytes;
}

static struct arena_block *block_new(size_t size)
{
    struct arena_block *block = xmalloc(sizeof *block);
    *block = (struct arena_block){ .memory = xaligned(size), .size = size };
    POISON(block->memory, size);
    return block;
}

static size_t block_size(const struct arena *a, size_t bytes)
{
    size_t size = a->current == NULL ? LEAST_BLOCK : 2 * a->current->size;
    if (size > LARGEST_STEP)
        size = LARGEST_STEP;
    return size > bytes ? size : bytes;
}

/* Makes a block with room for `bytes` the current one: the next if it is large
 * enough, else a new one put before it. */
static void advance(struct arena *a, size_t bytes)
{
    struct arena_block *next = a->current == NULL ? a->first : a->current->next;
    if (next == NULL || next->size < bytes) {
        struct arena_block *block = block_new(block_size(a, bytes));
        block->next = next;
        if (a->current == NULL)
            a->first = block;
        else
            a->current->next = block;
        next = block;
    }
    next->before = arena_used(a);
    next->used = 0;
    a->current = next;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    bytes = array_bytes(bytes, 1); /* checked against overflow */
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes == 0)
        bytes = ALIGNMENT;
    if (a->current == NULL || a->current->size - a->current->used < bytes)
        advance(a, bytes);

    char *memory = a->current->memory + a->current->used;
    a->current->used += bytes;
    UNPOISON(memory, bytes);
    return memory;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
    return arena_alloc(a, array_bytes(n, size));
}

struct arena_mark arena_mark(const struct arena *a)
{
    struct arena_mark mark = { .block = a->current };
    if (a->current != NULL)
        mark.used = a->current->used;
    return mark;
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
    note_peak(a);
    if (mark.block == NULL) {
        arena_reset(a);
        return;
    }
    assert(mark.used <= mark.block->used);
    mark.block->used = mark.used;
    a->current = mark.block;
    POISON(mark.block->memory + mark.used, mark.block->size - mark.used);
}

/* One block that would have held all there ever was: blocks that requests of
 * other sizes have passed over would stay empty. */
static void merge_blocks(struct arena *a)
{
    size_t peak = a->peak;
    arena_release(a);
    a->peak = peak;
    a->first = block_new(peak > LEAST_BLOCK ? peak : LEAST_BLOCK);
}

void arena_reset(struct arena *a)
{
    note_peak(a);
    a->current = NULL;
    if (a->first == NULL)
        return;
    if (a->first->next != NULL)
        merge_blocks(a);
    POISON(a->first->memory, a->first->size);
}
