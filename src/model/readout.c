#include "model/readout.h"

#include "config/config.h"
#include "model/decoder.h"
#include "nn/choice.h"

static struct node *identity(struct graph *g, struct node *x)
{
    (void)g;
    return x;
}

const struct readout_kind readout_kinds[] = {
    { "tanh", 1, node_tanh },
    { "linear", 1, identity },
    { "maxout", 2, maxout },
    { NULL, 0, NULL },
};

const struct readout_kind *readout_named(const struct config *cfg)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; readout_kinds[i].name; i++)
        choice_add(&choice, readout_kinds[i].name, NULL);
    int found = choice_of(&choice, cfg, "decoder.readout");
    return found < 0 ? NULL : &readout_kinds[found];
}

int readout_param(const struct decoder *d, struct params *p, const char *name,
                  int rows)
{
    int cols = d->readout_width * d->readout->pieces;
    enum init init = rows == 1 ? INIT_ZERO : INIT_GLOROT;
    return params_declare_in(p, "readout",
                             (struct param){ .name = name,
                                             .rows = rows,
                                             .cols = cols,
                                             .init = init,
                                             .at_once = !d->input_feeding });
}

struct node *readout_activate(const struct decoder *d, struct graph *g,
                              struct node *t)
{
    return dropout(g, d->readout->activate(g, t), d->dropout);
}

void readout_deep_declare(struct decoder *d, struct params *p,
                          const struct config *cfg)
{
    int M = attention_width(&d->attention), E = d->embedding_width;
    int R = cfg->decoder.readout_size;
    d->input_feeding = false;
    d->readout_width = R > 0 ? R : E;
    d->readout_state = readout_param(d, p, "W_s", d->hidden);
    d->readout_word = readout_param(d, p, "W_y", E);
    d->readout_context = M > 0 ? readout_param(d, p, "W_c", M) : -1;
    d->readout_bias = readout_param(d, p, "b", 1);
}

struct node *readout_deep(const struct decoder *d, struct graph *g,
                          const struct decoder_inputs *inputs,
                          const struct stack *feature)
{
    struct node *t = inputs->readout;
    t = linear_stack_into(g, t, &feature[0], param(g, d->readout_state));
    if (feature[1].count)
        t = linear_stack_into(g, t, &feature[1], param(g, d->readout_context));
    return readout_activate(d, g, t);
}
