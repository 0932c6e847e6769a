/* e_tj = v . tanh(q_t W + k_j U + b)          Bahdanau et al. 2015, app. A.1.2
 *
 * attention.W [Q,A], attention.U [M,A], attention.b [1,A], attention.v [1,A] */
#include "attention/attention.h"

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    (void)cfg;
    a->W = attention_param(p, "W", a->query, a->size, INIT_GLOROT);
    a->U = attention_param(p, "U", a->memory, a->size, INIT_GLOROT);
    a->b = attention_param(p, "b", 1, a->size, INIT_ZERO);
    a->v = attention_param(p, "v", 1, a->size, INIT_GLOROT);
    return 0;
}

static struct node *keys(const struct attention *a, struct graph *g,
                         struct node *values)
{
    return linear(g, values, param(g, a->U), param(g, a->b));
}

static struct node *compare(const struct attention *a, struct graph *g,
                            struct node *query,
                            const struct attention_memory *memory,
                            const struct ragged *over)
{
    struct node *q = linear(g, query, param(g, a->W), NULL);
    return additive_scores(g, q, memory->keys, param(g, a->v), over);
}

const struct score score_additive = { "additive", "concat mlp", declare, keys,
                                      compare };
