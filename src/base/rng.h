/* Random numbers that are a function of (seed, stream, update, index).
 *
 * There is no state to save and none to drift: the same four words give the
 * same number, in any order, on any thread. For many numbers of one update
 * take the key once:
 *
 *     struct rng_key key = rng_key(seed, RNG_DROPOUT, update);
 *     for (size_t i = 0; i < n; i++)
 *         mask[i] = rng_key_uniform(key, i) >= p;
 *
 * A number is the SplitMix64 finaliser (Steele, Lea and Flood 2014, with
 * Stafford's constants "mix13") of start + index * step, where the key, itself
 * mixed from seed, stream and update, gives start and an odd step. Not for
 * cryptography. */
#ifndef ATTN_BASE_RNG_H
#define ATTN_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* The numbers are part of the results: add at the end, never reorder. */
enum rng_stream { RNG_INIT, RNG_ORDER, RNG_DROPOUT, RNG_SAMPLE, RNG_DEMO };

struct rng_key {
    uint64_t start, step;
};

struct rng_key rng_key(uint64_t seed, enum rng_stream stream, uint64_t update);

/* Sixty-four even random bits. Inline, so that loops over i are vectorised. */
static inline uint64_t rng_key_bits(struct rng_key key, uint64_t index)
{
    uint64_t x = key.start + index * key.step;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Uniform in [0,1), a multiple of 2^-24. */
static inline float rng_key_uniform(struct rng_key key, uint64_t index)
{
    return (float)(int32_t)(rng_key_bits(key, index) >> 40) * 0x1p-24f;
}

/* Normal with mean 0 and variance 1 (Box and Muller 1958). */
float rng_key_normal(struct rng_key key, uint64_t index);

uint64_t rng_bits(uint64_t seed, enum rng_stream stream, uint64_t update,
                  uint64_t index);
float rng_uniform(uint64_t seed, enum rng_stream stream, uint64_t update,
                  uint64_t index);
float rng_normal(uint64_t seed, enum rng_stream stream, uint64_t update,
                 uint64_t index);

/* Uniform among 0 … n-1; n > 0. */
uint64_t rng_below(uint64_t n, struct rng_key key, uint64_t index);

/* Puts the items into a random order (Fisher and Yates). */
void rng_shuffle(uint32_t *items, size_t n, uint64_t seed,
                 enum rng_stream stream, uint64_t update);

#endif
