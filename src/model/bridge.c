#include "model/bridge.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "config/config.h"
#include "nn/choice.h"

const struct bridge_kind bridge_kinds[] = {
    { .name = "dense", .dense = true },
    { .name = "mean", .dense = true, .mean = true },
    { .name = "copy", .copy = true },
    { .name = "zero" },
    { .name = NULL },
};

static int declare_copy(const struct config *cfg, const struct encoder *e,
                        const struct cell *cell)
{
    if (e->width != cfg->decoder.hidden)
        return config_error(cfg, "model.bridge",
                            "'copy' needs a decoder as wide as the encoder's "
                            "output, but decoder.hidden is %d and that is %d",
                            cfg->decoder.hidden, e->width);
    if (e->layers != cfg->decoder.layers ||
        e->cell[0][0].cell->states != cell->states)
        return config_error(cfg, "model.bridge",
                            "'copy' needs the same cell and number of layers "
                            "in encoder and decoder");
    return 0;
}

/* tanh(x W + b) for one state of a layer */
static void declare_dense(struct bridge *b, struct params *p, int layer,
                          int state, int input)
{
    char *prefix = xasprintf("bridge.%d%s", layer, state ? ".cell" : "");
    struct param W = { .name = "W",
                       .rows = input,
                       .cols = b->hidden,
                       .init = INIT_GLOROT,
                       .at_once = true };
    struct param bias = {
        .name = "b", .rows = 1, .cols = b->hidden, .init = INIT_ZERO
    };
    b->W[layer][state] = params_declare_in(p, prefix, W);
    b->b[layer][state] = params_declare_in(p, prefix, bias);
    free(prefix);
}

int bridge_declare(struct bridge *b, struct params *p, const struct config *cfg,
                   const struct encoder *e, const struct cell *cell)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; bridge_kinds[i].name; i++)
        choice_add(&choice, bridge_kinds[i].name, NULL);
    int kind = choice_of(&choice, cfg, "model.bridge");
    if (kind < 0)
        return -1;
    *b = (struct bridge){ .kind = &bridge_kinds[kind],
                          .layers = cfg->decoder.layers,
                          .states = cell->states,
                          .hidden = cfg->decoder.hidden };
    if (b->kind->copy)
        return declare_copy(cfg, e, cell);
    for (int l = 0; l < b->layers && b->kind->dense; l++)
        for (int s = 0; s < b->states; s++)
            declare_dense(b, p, l, s, e->width);
    return 0;
}

struct node *bridge_state(const struct bridge *b, struct graph *g,
                          const struct encoded *encoded,
                          const struct ragged *over, int sentences, int layer,
                          int state)
{
    if (b->kind->copy)
        return encoded->last[layer][state];
    if (!b->kind->dense)
        return graph_zeros(g, sentences, b->hidden);
    int top = LAYERS - 1;
    while (!encoded->last[top][0])
        top--;
    struct node *x = b->kind->mean
                         ? ragged_mean(g, encoded->memory, over, sentences)
                         : encoded->last[top][0];
    return node_tanh(g, linear(g, x, param(g, b->W[layer][state]),
                               param(g, b->b[layer][state])));
}
