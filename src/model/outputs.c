#include "model/outputs.h"

#include <stdlib.h>

#include "config/config.h"
#include "nn/choice.h"

#define X(name) extern const struct output_kind output_##name;
#include "outputs.inc"
#undef X

#define X(name) &output_##name,
const struct output_kind *const outputs[] = {
#include "outputs.inc"
    NULL
};
#undef X

static const struct output_kind *kind_named(const struct config *cfg)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; outputs[i]; i++)
        choice_add(&choice, outputs[i]->name, NULL);
    int found = choice_of(&choice, cfg, "model.output");
    return found < 0 ? NULL : outputs[found];
}

int output_declare(struct output *o, struct params *p, const struct config *cfg,
                   const struct output_shape *shape)
{
    *o = (struct output){
        .kind = kind_named(cfg),
        .shape = *shape,
        .smoothing = (float)cfg->training.label_smoothing,
    };
    return o->kind ? o->kind->declare(o, p, cfg) : -1;
}

void output_prepare(struct output *o, const struct params *p,
                    enum precision precision)
{
    if (o->kind->prepare)
        o->kind->prepare(o, p, precision);
}

void output_unprepare(struct output *o)
{
    packed_free(o->turned);
    o->turned = NULL;
    free(o->by_word);
    o->by_word = NULL;
}

struct loss output_loss(const struct output *o, struct graph *g, struct node *r,
                        const int *gold, float scale, float *row_nll)
{
    struct loss_config config = { .smoothing = o->smoothing, .scale = scale };
    return o->kind->loss(o, g, r, gold, &config, row_nll);
}

struct node *output_logits(const struct output *o, struct graph *g,
                           struct node *r, const struct output_request *request)
{
    return o->kind->logits(o, g, r, request);
}

bool output_prepare_gather(struct output *o, const struct params *p)
{
    if (!o->kind->gather)
        return false;
    o->kind->prepare_gather(o, p);
    return true;
}

struct columns *output_gather(const struct output *o, struct graph *g,
                              const int *ids, int n)
{
    return o->kind->gather(o, g, ids, n);
}

int output_param(struct params *p, const char *name, int rows, int cols)
{
    return params_declare_in(p, "output",
                             (struct param){
                                 .name = name,
                                 .rows = rows,
                                 .cols = cols,
                                 .at_once = true,
                                 .output = rows > 1,
                                 .init = rows == 1 ? INIT_ZERO : INIT_GLOROT,
                             });
}
