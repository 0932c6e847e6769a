#include "corpus/sentences.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void sentences_init(struct sentences *s, int largest)
{
    *s = (struct sentences){ .wide = largest > UINT16_MAX };
}

/* Moves the open block, of n sentences, to memory of its size. */
static void close_block(struct sentences *s, size_t n)
{
    size_t ids = s->start[n],
           width = s->wide ? sizeof(uint32_t) : sizeof(uint16_t);
    size_t bytes = sizeof s->start + array_bytes(ids, width);
    uint32_t *block = xmalloc(bytes);
    uint16_t *narrow = (uint16_t *)(block + SENTENCES_BLOCK + 1);

    memcpy(block, s->start, sizeof s->start);
    if (s->wide && ids > 0)
        memcpy(narrow, s->open, ids * width);
    for (size_t i = 0; i < ids && !s->wide; i++)
        narrow[i] = (uint16_t)s->open[i];
    ARRAY_GROW(s->block, s->blocks + 1, s->cap);
    s->block[s->blocks++] = block;
    s->bytes += bytes;
}

void sentences_add(struct sentences *s, const int32_t *ids, size_t len)
{
    size_t n = s->count % SENTENCES_BLOCK, from = s->start[n];

    assert(len <= SENTENCES_LONGEST);
    ARRAY_GROW(s->open, from + len, s->open_cap);
    if (len > 0)
        memcpy(s->open + from, ids, len * sizeof *ids);
    s->start[n + 1] = (uint32_t)(from + len);
    s->count++;
    if (n + 1 == SENTENCES_BLOCK)
        close_block(s, SENTENCES_BLOCK);
}

void sentences_end(struct sentences *s)
{
    if (s->count % SENTENCES_BLOCK > 0)
        close_block(s, s->count % SENTENCES_BLOCK);
    s->bytes += s->cap * sizeof *s->block;
    free(s->open);
    s->open = NULL;
    s->open_cap = 0;
}

int sentences_length(const struct sentences *s, size_t i)
{
    assert(i < s->count);
    const uint32_t *start = s->block[i / SENTENCES_BLOCK] + i % SENTENCES_BLOCK;
    return (int)(start[1] - start[0]);
}

void sentences_get(const struct sentences *s, size_t i, int32_t *ids)
{
    size_t len = (size_t)sentences_length(s, i);
    const uint32_t *block = s->block[i / SENTENCES_BLOCK];
    const uint32_t *wide = block + SENTENCES_BLOCK + 1;
    size_t from = block[i % SENTENCES_BLOCK];
    const uint16_t *narrow = (const uint16_t *)wide + from;

    if (s->wide && len > 0)
        memcpy(ids, wide + from, len * sizeof *ids);
    for (size_t k = 0; k < len && !s->wide; k++)
        ids[k] = narrow[k];
}

void sentences_release(struct sentences *s)
{
    for (size_t i = 0; i < s->blocks; i++)
        free(s->block[i]);
    free(s->block);
    free(s->open);
    *s = (struct sentences){ 0 };
}
