/* Many sentences of ids in compact memory: two bytes an id where all ids are
 * below 65,536, else four, and little more than four bytes a sentence.
 *
 *     struct sentences s;
 *     sentences_init(&s, largest_id);
 *     sentences_add(&s, ids, len);            as often as there are sentences
 *     sentences_end(&s);
 *     sentences_get(&s, 0, ids);              sentences_length(&s, 0) of them
 *     sentences_release(&s);
 *
 * They are kept in blocks of SENTENCES_BLOCK, each of just the size it needs,
 * so that growing copies nothing and needs no memory beyond one open block.
 * Read-only after sentences_end(), and then thread safe; before it nothing can
 * be read. A zeroed struct can be released. */
#ifndef ATTN_CORPUS_SENTENCES_H
#define ATTN_CORPUS_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SENTENCES_BLOCK 64
#define SENTENCES_LONGEST (UINT32_MAX / SENTENCES_BLOCK) /* ids of one */

struct sentences {
    size_t count; /* sentences */
    size_t bytes; /* of memory, after sentences_end() */

    /* private */
    bool wide;        /* four bytes an id */
    uint32_t **block; /* start[SENTENCES_BLOCK + 1], and behind it the ids */
    size_t blocks, cap;
    uint32_t start[SENTENCES_BLOCK + 1]; /* of the open block */
    int32_t *open;                       /* its ids */
    size_t open_cap;
};

/* For ids of 0 … largest. */
void sentences_init(struct sentences *s, int largest);

/* Appends a sentence of `len` ids, SENTENCES_LONGEST at most (asserted). */
void sentences_add(struct sentences *s, const int32_t *ids, size_t len);

/* The last one was added. */
void sentences_end(struct sentences *s);

int sentences_length(const struct sentences *s, size_t i);

/* Writes the sentences_length() ids of sentence i. */
void sentences_get(const struct sentences *s, size_t i, int32_t *ids);

void sentences_release(struct sentences *s);

#endif
