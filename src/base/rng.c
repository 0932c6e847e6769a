#include "base/rng.h"

#include <assert.h>
#include <math.h>

static uint64_t mix(uint64_t x)
{
    return rng_key_bits((struct rng_key){ .start = x }, 0);
}

struct rng_key rng_key(uint64_t seed, enum rng_stream stream, uint64_t update)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = mix(seed + golden);
    x = mix(x + golden * ((uint64_t)stream + 1));
    x = mix(x + golden * (update + 1));
    return (struct rng_key){ .start = x, .step = mix(x + golden) | 1 };
}

float rng_key_normal(struct rng_key key, uint64_t index)
{
    uint64_t bits = rng_key_bits(key, index);
    double u = ((double)(bits >> 32) + 1) * 0x1p-32;  /* in (0,1] */
    double v = (double)(bits & 0xffffffff) * 0x1p-32; /* in [0,1) */
    return (float)(sqrt(-2 * log(u)) * cos(2 * M_PI * v));
}

uint64_t rng_bits(uint64_t seed, enum rng_stream stream, uint64_t update,
                  uint64_t index)
{
    return rng_key_bits(rng_key(seed, stream, update), index);
}

float rng_uniform(uint64_t seed, enum rng_stream stream, uint64_t update,
                  uint64_t index)
{
    return rng_key_uniform(rng_key(seed, stream, update), index);
}

float rng_normal(uint64_t seed, enum rng_stream stream, uint64_t update,
                 uint64_t index)
{
    return rng_key_normal(rng_key(seed, stream, update), index);
}

uint64_t rng_below(uint64_t n, struct rng_key key, uint64_t index)
{
    assert(n > 0);
    /* n times a fraction of 64 bits; uneven by n / 2^64 at most */
    return (uint64_t)(((unsigned __int128)rng_key_bits(key, index) * n) >> 64);
}

void rng_shuffle(uint32_t *items, size_t n, uint64_t seed,
                 enum rng_stream stream, uint64_t update)
{
    struct rng_key key = rng_key(seed, stream, update);
    for (size_t i = n; i > 1; i--) {
        size_t j = rng_below(i, key, i);
        uint32_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}
