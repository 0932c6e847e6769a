/* m = momentum m + g;  w -= rate m                            Polyak 1964 */
#include "tensor/kernel.h"
#include "train/optimizer.h"

KERNEL static void apply_sgd(const struct update *u, size_t n,
                             float *restrict w, const float *restrict g,
                             float *restrict m, float *restrict unused)
{
    (void)unused;
    for (size_t i = 0; i < n; i++) {
        m[i] = fma32(u->momentum, m[i], g[i] * u->gradient);
        w[i] = fma32(-u->rate, m[i], w[i]);
    }
}

const struct optimizer optimizer_sgd = { "sgd", 1, { "momentum" }, apply_sgd };
