#include "train/optimizer.h"

#include <math.h>

#include "config/config.h"
#include "nn/choice.h"

#define X(name) extern const struct optimizer optimizer_##name;
#include "optimizers.inc"
#undef X

#define X(name) &optimizer_##name,
const struct optimizer *const optimizers[] = {
#include "optimizers.inc"
    NULL
};
#undef X

const struct optimizer *optimizer_named(const struct config *cfg)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; optimizers[i]; i++)
        choice_add(&choice, optimizers[i]->name, NULL);
    int found = choice_of(&choice, cfg, "training.optimizer");
    return found < 0 ? NULL : optimizers[found];
}

struct update optimizer_update(const struct config *cfg, double t, double rate)
{
    return (struct update){
        .rate = (float)rate,
        .gradient = 1,
        .momentum = (float)cfg->training.momentum,
        .beta1 = (float)cfg->training.beta1,
        .beta2 = (float)cfg->training.beta2,
        .epsilon = (float)cfg->training.epsilon,
        .correction1 = (float)(1 - pow(cfg->training.beta1, t)),
        .correction2 = (float)(1 - pow(cfg->training.beta2, t)),
    };
}
