#include "corpus/batch.h"

#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/rng.h"
#include "corpus/corpus.h"

/* Batch i holds order[first[i]] … order[first[i + 1] - 1]. */
struct batches {
    const struct corpus *corpus;
    int size;
    enum batch_unit unit;
    uint64_t seed;
    bool sequential;
    int epoch; /* that the order is of; -1: none yet */

    uint32_t *order; /* all pairs, each batch sorted as its rows are */
    struct cut *cut;
    size_t count, cap;
};

/* A batch before and after the batches are shuffled. */
struct cut {
    size_t first;
    int pairs;
};

/* A pair to be sorted: longer targets first, then longer sources, then by
 * `place`, which no two have in common. */
struct row {
    int target, source;
    uint32_t place, pair;
};

static int by_length(const void *x, const void *y)
{
    const struct row *a = x, *b = y;
    if (a->target != b->target)
        return a->target < b->target ? 1 : -1;
    if (a->source != b->source)
        return a->source < b->source ? 1 : -1;
    return a->place < b->place ? -1 : a->place > b->place;
}

static int by_length_and_pair(const void *x, const void *y)
{
    struct row a = *(const struct row *)x, b = *(const struct row *)y;
    a.place = a.pair;
    b.place = b.pair;
    return by_length(&a, &b);
}

/* What the pair counts in the unit of the batch size. */
static int weight(const struct batches *b, uint32_t pair)
{
    return b->unit == BATCH_TOKENS
               ? corpus_length(b->corpus, CORPUS_TARGET, pair)
               : 1;
}

/* How many of the n pairs in order[] from `from` on make a pool: as many as
 * fill BATCH_POOL batches. */
static size_t pool_size(const struct batches *b, size_t from, size_t n)
{
    long long left = (long long)b->size * BATCH_POOL;
    size_t i = from;
    while (i < n && left > 0)
        left -= weight(b, b->order[i++]);
    return i - from;
}

static void fill_rows(const struct batches *b, struct row *rows, size_t from,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t pair = b->order[from + i];
        rows[i] = (struct row){
            .target = corpus_length(b->corpus, CORPUS_TARGET, pair),
            .source = corpus_length(b->corpus, CORPUS_SOURCE, pair),
            .place = (uint32_t)i,
            .pair = pair,
        };
    }
}

/* How many of the n rows go into one batch. */
static size_t batch_size(const struct batches *b, const struct row *rows,
                         size_t n)
{
    size_t i = 0;
    long long left = b->size;
    while (i < n && i < INT_MAX) {
        left -= weight(b, rows[i].pair);
        if (left < 0 && i > 0)
            break;
        i++;
    }
    return i;
}

/* Cuts the sorted rows, whose place in order[] begins at `from`, into batches. */
static void cut_rows(struct batches *b, struct row *rows, size_t from, size_t n)
{
    while (n > 0) {
        size_t taken = batch_size(b, rows, n);
        qsort(rows, taken, sizeof *rows, by_length_and_pair);
        for (size_t i = 0; i < taken; i++)
            b->order[from + i] = rows[i].pair;
        ARRAY_GROW(b->cut, b->count + 1, b->cap);
        b->cut[b->count++] = (struct cut){ from, (int)taken };
        rows += taken;
        from += taken;
        n -= taken;
    }
}

static void sort_and_cut(struct batches *b, size_t from, size_t n)
{
    struct row *rows = ARRAY_ALLOC(rows, n);
    fill_rows(b, rows, from, n);
    qsort(rows, n, sizeof *rows, by_length);
    cut_rows(b, rows, from, n);
    free(rows);
}

static void shuffle_batches(struct batches *b, uint64_t update)
{
    uint32_t *turn = ARRAY_ALLOC(turn, b->count);
    struct cut *shuffled = ARRAY_ALLOC(shuffled, b->count);
    for (size_t i = 0; i < b->count; i++)
        turn[i] = (uint32_t)i;
    rng_shuffle(turn, b->count, b->seed, RNG_ORDER, update);
    for (size_t i = 0; i < b->count; i++)
        shuffled[i] = b->cut[turn[i]];
    free(turn);
    free(b->cut);
    b->cut = shuffled;
    b->cap = b->count;
}

static void number_pairs(struct batches *b)
{
    for (size_t i = 0; i < b->corpus->pairs; i++)
        b->order[i] = (uint32_t)i;
}

void batches_epoch(struct batches *b, int epoch)
{
    size_t n = b->corpus->pairs;
    assert(epoch >= 0);
    if (b->sequential || b->epoch == epoch)
        return;
    b->epoch = epoch;
    number_pairs(b);
    b->count = 0;
    rng_shuffle(b->order, n, b->seed, RNG_ORDER, 2 * (uint64_t)epoch);
    for (size_t from = 0; from < n;) {
        size_t pool = pool_size(b, from, n);
        sort_and_cut(b, from, pool);
        from += pool;
    }
    shuffle_batches(b, 2 * (uint64_t)epoch + 1);
}

static struct batches *create(const struct corpus *c, int size)
{
    assert(size > 0 && c->pairs <= CORPUS_LIMIT);
    struct batches *b = xcalloc(1, sizeof *b);
    b->corpus = c;
    b->size = size;
    ARRAY_ALLOC(b->order, c->pairs);
    return b;
}

struct batches *batches_new(const struct corpus *c, int size,
                            enum batch_unit unit, uint64_t seed)
{
    struct batches *b = create(c, size);
    b->unit = unit;
    b->seed = seed;
    b->epoch = -1;
    batches_epoch(b, 0);
    return b;
}

struct batches *batches_sequential(const struct corpus *c, int size)
{
    struct batches *b = create(c, size);
    b->sequential = true;
    number_pairs(b);
    sort_and_cut(b, 0, c->pairs);
    return b;
}

size_t batches_count(const struct batches *b)
{
    return b->count;
}

int batches_sentences(const struct batches *b, size_t i)
{
    assert(i < b->count);
    return b->cut[i].pairs;
}

long batches_target_tokens(const struct batches *b, size_t i)
{
    assert(i < b->count);
    long sum = 0;
    const uint32_t *pair = b->order + b->cut[i].first;
    for (int k = 0; k < b->cut[i].pairs; k++)
        sum += corpus_length(b->corpus, CORPUS_TARGET, pair[k]);
    return sum;
}

/* A side of sentences of these lengths, one behind the other; the ids, which it
 * returns, are still to be written. */
static int *side_begin(struct side *s, struct arena *arena, const int *lengths,
                       int sentences)
{
    int *start = arena_array(arena, (size_t)sentences + 1, sizeof *start);
    start[0] = 0;
    for (int b = 0; b < sentences; b++) {
        assert(lengths[b] >= 0 && lengths[b] <= INT_MAX - start[b]);
        start[b + 1] = start[b] + lengths[b];
    }
    int tokens = start[sentences];
    int *ids = arena_array(arena, (size_t)tokens, sizeof *ids);
    *s = (struct side){ sentences, tokens, start, ids };
    return ids;
}

void side_gather(struct side *s, struct arena *arena, const int *const *ids,
                 const int *lengths, int sentences)
{
    int *all = side_begin(s, arena, lengths, sentences);
    for (int b = 0; b < sentences; b++)
        if (lengths[b] > 0)
            memcpy(all + s->start[b], ids[b], (size_t)lengths[b] * sizeof *all);
}

static void gather(struct side *s, struct arena *arena, const struct corpus *c,
                   enum corpus_side side, const uint32_t *pair, int sentences)
{
    int *lengths = arena_array(arena, (size_t)sentences, sizeof *lengths);
    for (int b = 0; b < sentences; b++)
        lengths[b] = corpus_length(c, side, pair[b]);
    int *all = side_begin(s, arena, lengths, sentences);
    for (int b = 0; b < sentences; b++)
        corpus_ids(c, side, pair[b], all + s->start[b]);
}

void batches_get(const struct batches *b, size_t i, int shard, int shards,
                 struct arena *arena, struct batch *out)
{
    assert(i < b->count && shard >= 0 && shard < shards);
    const uint32_t *pairs = b->order + b->cut[i].first;
    int all = b->cut[i].pairs, n = 0;
    uint32_t *mine = arena_array(arena, (size_t)(all / shards) + 1,
                                 sizeof *mine);

    for (int k = shard; k < all; k += shards)
        mine[n++] = pairs[k];
    out->pair = mine;
    gather(&out->source, arena, b->corpus, CORPUS_SOURCE, mine, n);
    gather(&out->target, arena, b->corpus, CORPUS_TARGET, mine, n);
}

void batches_free(struct batches *b)
{
    if (b == NULL)
        return;
    free(b->order);
    free(b->cut);
    free(b);
}
