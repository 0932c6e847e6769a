/* Batches: which pairs make an update, in which order.
 *
 *     struct batches *b = batches_new(&corpus, 64, BATCH_SENTENCES, seed);
 *     batches_epoch(b, epoch);
 *     for (size_t i = 0; i < batches_count(b); i++)
 *         batches_get(b, i, shard, shards, &arena, &batch);
 *     batches_free(b);
 *
 * The order of an epoch is a function of corpus, seed and epoch: all pairs are
 * shuffled, cut into pools of BATCH_POOL batches, each pool is sorted by
 * target and then source length and cut into batches of nearly equal lengths,
 * and all batches of the epoch are put into a random order. Each pair comes
 * once an epoch. */
#ifndef ATTN_CORPUS_BATCH_H
#define ATTN_CORPUS_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct corpus;

#define BATCH_POOL 100

/* One side of a batch, sentence after sentence, </s> included. The ids of
 * sentence b are ids[start[b]] … ids[start[b + 1] - 1]. */
struct side {
    int sentences, tokens; // B, and the sum of the lengths
    const int *start;      // [B+1]
    const int *ids;        // [tokens]
};

/* Rows are sorted by falling target length, then falling source length, then
 * pair number. */
struct batch {
    struct side source, target;
    const uint32_t *pair; // [B] number of the pair in the corpus
};

enum batch_unit {
    BATCH_SENTENCES, /* `size` pairs */
    BATCH_TOKENS     /* as many pairs as have no more than `size` target
                        tokens, </s> counted; one at least */
};

struct batches;

/* The corpus is borrowed. Ready for epoch 0. */
struct batches *batches_new(const struct corpus *c, int size,
                            enum batch_unit unit, uint64_t seed);

/* All pairs sorted by length, cut into batches of `size` sentences, always in
 * the same order: for validation. batches_epoch() does not change it. */
struct batches *batches_sequential(const struct corpus *c, int size);

/* Makes the order of this epoch (from 0). */
void batches_epoch(struct batches *b, int epoch);

size_t batches_count(const struct batches *b);

/* Shard `shard` of `shards` of batch i: the sorted pairs of the batch are
 * dealt in turn (shard, shard + shards, …). Its memory is the arena's. Empty
 * (no sentences) when the batch has fewer pairs than that. Thread safe with
 * different arenas, while nobody calls batches_epoch(). */
void batches_get(const struct batches *b, size_t i, int shard, int shards,
                 struct arena *arena, struct batch *out);

/* Pairs, and target tokens with </s>, of batch i over all shards. */
int batches_sentences(const struct batches *b, size_t i);
long batches_target_tokens(const struct batches *b, size_t i);

void batches_free(struct batches *b);

/* A side out of sentences that stand anywhere (translation, too); the ids are
 * copied into the arena. */
void side_gather(struct side *s, struct arena *arena, const int *const *ids,
                 const int *lengths, int sentences);

#endif
