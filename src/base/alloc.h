/* Memory that is there or ends the program.
 *
 * When no memory is left, these functions report the size asked for and end
 * the program with EXIT_FAILED: no caller checks. All memory is released with
 * free(). Asking for 0 bytes gives a pointer that can be released. */
#ifndef ATTN_BASE_ALLOC_H
#define ATTN_BASE_ALLOC_H

#include <stddef.h>

void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *old, size_t bytes);

/* Memory at a multiple of 64 bytes (a cache line, the widest vector), not
 * zeroed; release it with free(). */
void *xaligned(size_t bytes);

/* Zeroed memory at a multiple of a page; pages that are never touched take
 * none. Release it with xunmap(), with the same size. */
void *xmap(size_t bytes);
void xunmap(void *p, size_t bytes);

char *xstrdup(const char *s);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* n * size; ends the program when that does not fit in a size_t. */
size_t array_bytes(size_t n, size_t size);

/* Gives the array `ptr` room for n items; its old value is not looked at.
 * Both  ARRAY_ALLOC(ids, n);  and  int *ids = ARRAY_ALLOC(ids, n);  do. */
#define ARRAY_ALLOC(ptr, n)                               \
    (__extension__({                                      \
        (ptr) = xmalloc(array_bytes((n), sizeof *(ptr))); \
        (ptr);                                            \
    }))

/* The same, all bytes zero. */
#define ARRAY_ZERO(ptr, n)                   \
    (__extension__({                         \
        (ptr) = xcalloc((n), sizeof *(ptr)); \
        (ptr);                               \
    }))

/* Makes sure that the array has room for n items in all; `cap` (a size_t
 * lvalue) holds how many it has room for, and grows by half at least. New
 * items are not zeroed. */
#define ARRAY_GROW(ptr, n, cap)                                              \
    ((void)((size_t)(n) > (cap)                                              \
                ? ((ptr) = array_grow((ptr), (n), &(cap), sizeof *(ptr)), 0) \
                : 0))

/* What ARRAY_GROW calls. */
void *array_grow(void *old, size_t n, size_t *cap, size_t size);

#endif
