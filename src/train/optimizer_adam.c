/* m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;
 * w -= rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + eps)
 * Kingma & Ba 2015, algorithm 1 */
#include "tensor/kernel.h"
#include "train/optimizer.h"

KERNEL static void apply_adam(const struct update *u, size_t n,
                              float *restrict w, const float *restrict g,
                              float *restrict m, float *restrict v)
{
    float rate = u->rate / u->correction1, factor = u->gradient;
    float b1 = u->beta1, b2 = u->beta2, epsilon = u->epsilon;
    float scale = 1.0f / u->correction2;
    for (size_t i = 0; i < n; i++) {
        float d = g[i] * factor;
        m[i] = fma32(b1, m[i] - d, d);
        v[i] = fma32(b2, v[i] - d * d, d * d);
        w[i] -= rate * m[i] / (__builtin_sqrtf(v[i] * scale) + epsilon);
    }
}

const struct optimizer optimizer_adam = { "adam", 2, { "m", "v" }, apply_adam };
