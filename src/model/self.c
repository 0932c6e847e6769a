#include "model/self.h"

#include "config/config.h"
#include "graph/ops.h"
#include "model/encoder.h"
#include "nn/choice.h"

#define X(name) extern const struct self_kind self_##name;
#include "selves.inc"
#undef X

#define X(name) &self_##name,
const struct self_kind *const selves[] = {
#include "selves.inc"
    NULL
};
#undef X

int self_declare(struct self_attention *s, struct params *p,
                 const struct config *cfg, int width)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; selves[i]; i++)
        choice_add(&choice, selves[i]->name, NULL);
    int found = choice_of(&choice, cfg, "encoder.self_attention");
    if (found < 0)
        return -1;
    *s = (struct self_attention){
        .kind = selves[found],
        .width = width,
        .size = cfg->encoder.self_size > 0 ? cfg->encoder.self_size : width,
        .hops = cfg->encoder.hops,
        .penalty = (float)cfg->encoder.penalty,
    };
    if (s->kind->declare)
        s->kind->declare(s, p);
    return 0;
}

void self_run(const struct self_attention *s, struct graph *g,
              struct encoded *encoded)
{
    if (s->kind->run)
        s->kind->run(s, g, encoded);
}

int self_param(struct params *p, const char *name, int rows, int cols,
               enum init init)
{
    return params_declare_in(p, "encoder.self",
                             (struct param){ .name = name,
                                             .rows = rows,
                                             .cols = cols,
                                             .init = init,
                                             .at_once = true });
}

void self_join_declare(struct self_attention *s, struct params *p)
{
    s->W_h = self_param(p, "W_h", s->width, s->width, INIT_GLOROT);
    s->W_c = self_param(p, "W_c", s->width, s->width, INIT_GLOROT);
    s->b_h = self_param(p, "b_h", 1, s->width, INIT_ZERO);
}

struct node *self_join(const struct self_attention *s, struct graph *g,
                       struct node *h, struct node *projected)
{
    struct node *x = linear(g, h, param(g, s->W_h), param(g, s->b_h));
    return node_tanh(g, add(g, x, projected));
}
