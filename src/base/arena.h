/* An arena: memory that is released all at once or back to a mark.
 *
 *     struct arena a;
 *     arena_init(&a);
 *     float *x = arena_alloc(&a, n * sizeof *x);
 *     struct arena_mark mark = arena_mark(&a);
 *     ... more, used for a moment ...
 *     arena_rewind(&a, mark);            x is still there, the rest is gone
 *     arena_reset(&a);                   all is gone, the blocks are kept
 *     arena_release(&a);
 *
 * Memory comes in chained blocks of 1 MiB or more, which are kept for reuse
 * until arena_release(); arena_reset() makes one of several. Rewinding takes
 * constant time. An arena belongs to one thread at a time. A zeroed struct
 * arena is an empty arena. */
#ifndef ATTN_BASE_ARENA_H
#define ATTN_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *first, *current;
    size_t peak; /* most bytes ever in use at once, before now */
};

struct arena_mark {
    struct arena_block *block;
    size_t used;
};

void arena_init(struct arena *a);
void arena_release(struct arena *a);

/* Memory at a multiple of 64 bytes, not zeroed; valid until the arena is
 * reset, released or rewound to a mark taken before. */
void *arena_alloc(struct arena *a, size_t bytes);

/* n items of `size` bytes each; ends the program when the product overflows. */
void *arena_array(struct arena *a, size_t n, size_t size);

struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark mark);
void arena_reset(struct arena *a);

/* Bytes in use now, and the most ever in use at once (rounded up to 64 each). */
size_t arena_used(const struct arena *a);
size_t arena_peak(const struct arena *a);

/* Bytes of all blocks, used or not. */
size_t arena_capacity(const struct arena *a);

#endif
