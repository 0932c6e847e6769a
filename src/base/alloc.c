#include "base/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/report.h"

/* _exit: other threads may be running, which exit() would pull the ground
 * from under. */
static _Noreturn void die(size_t n, size_t size)
{
    if (size == 1)
        failure("out of memory: %zu bytes are not to be had", n);
    else
        failure("out of memory: %zu times %zu bytes are not to be had", n,
                size);
    _exit(EXIT_FAILED);
}

size_t array_bytes(size_t n, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > PTRDIFF_MAX)
        die(n, size);
    return bytes;
}

void *xmalloc(size_t bytes)
{
    void *p = malloc(bytes > 0 ? bytes : 1);
    if (p == NULL)
        die(bytes, 1);
    return p;
}

void *xcalloc(size_t n, size_t size)
{
    size_t bytes = array_bytes(n, size);
    void *p = calloc(bytes > 0 ? bytes : 1, 1);
    if (p == NULL)
        die(bytes, 1);
    return p;
}

void *xrealloc(void *old, size_t bytes)
{
    void *p = realloc(old, bytes > 0 ? bytes : 1);
    if (p == NULL)
        die(bytes, 1);
    return p;
}

/* Large blocks ask for large pages: memory is then faulted in by 2 MiB instead
 * of 4 KiB, and the processor has fewer pages to look up. */
enum { CACHE_LINE = 64, LARGE_PAGE = 1 << 21 };

#ifdef MADV_HUGEPAGE
static void want_large_pages(void *p, size_t bytes)
{
    madvise(p, bytes, MADV_HUGEPAGE); /* no harm when it is refused */
}
#else
static void want_large_pages(void *p, size_t bytes)
{
    (void)p;
    (void)bytes;
}
#endif

void *xaligned(size_t bytes)
{
    size_t unit = bytes < 2 * LARGE_PAGE ? CACHE_LINE : LARGE_PAGE;
    if (bytes > PTRDIFF_MAX - unit)
        die(bytes, 1);
    size_t whole = (bytes + unit - 1) / unit * unit;
    void *p = aligned_alloc(unit, whole > 0 ? whole : unit);
    if (p == NULL)
        die(bytes, 1);
    if (unit == LARGE_PAGE)
        want_large_pages(p, whole);
    return p;
}

void *xmap(size_t bytes)
{
    if (bytes == 0)
        bytes = 1;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        die(bytes, 1);
    want_large_pages(p, bytes);
    return p;
}

void xunmap(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes > 0 ? bytes : 1);
}

char *xstrdup(const char *s)
{
    size_t bytes = strlen(s) + 1;
    return memcpy(xmalloc(bytes), s, bytes);
}

char *xasprintf(const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    assert(len >= 0);
    char *s = xmalloc((size_t)len + 1);
    vsnprintf(s, (size_t)len + 1, format, again);
    va_end(again);
    va_end(args);
    return s;
}

void *array_grow(void *old, size_t n, size_t *cap, size_t size)
{
    size_t half = *cap / 2; /* cap items exist, so cap + half does not wrap */
    size_t wanted = *cap + half > n ? *cap + half : n;
    if (wanted < 8)
        wanted = 8;
    void *p = xrealloc(old, array_bytes(wanted, size));
    *cap = wanted;
    return p;
}
