#include "numbers.h"

#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"

void numbers_fill(float *x, size_t n, float bound, uint64_t seed)
{
    struct rng_key key = rng_key(seed, RNG_DEMO, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = (2 * rng_key_uniform(key, i) - 1) * bound;
}

float *numbers_new(size_t n, float bound, uint64_t seed)
{
    float *x = xaligned(array_bytes(n, sizeof(*x)));
    numbers_fill(x, n, bound, seed);
    return x;
}

int numbers_pick(int n, uint64_t seed, uint64_t index)
{
    return (int)rng_below((uint64_t)n, rng_key(seed, RNG_DEMO, 1), index);
}

bool same_bits(const float *a, const float *b, size_t n)
{
    return n == 0 || memcmp(a, b, n * sizeof(*a)) == 0;
}
