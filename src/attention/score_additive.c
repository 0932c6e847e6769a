/* e_tj = v . tanh(q_t W + k_j U + b)          Bahdanau et al. 2015, app. A.1.2
 *
 * attention.W [Q,A], attention.U [M,A], attention.b [1,A], attention.v [1,A]
 *
 * attention.normalized: g v / |v| in the place of v, attention.g a number that
 * starts at 1                                       Salimans & Kingma 2016, eq. 2
 * attention.coverage: C_tj w is added inside the tanh, C_tj the sum of the
 * weights of j before t, attention.w [1,A]           Tu et al. 2016, eqs. 6, 7 */
#include "attention/attention.h"
#include "config/config.h"

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    a->W = attention_param(p, "W", a->query, a->size, INIT_GLOROT);
    a->U = attention_memory_param(p, "U", a->memory, a->size);
    a->b = attention_param(p, "b", 1, a->size, INIT_ZERO);
    a->v = attention_param(p, "v", 1, a->size, INIT_GLOROT);
    a->g = a->w = -1;
    if (cfg->attention.normalized)
        a->g = attention_param(p, "g", 1, 1, INIT_ONE);
    if (a->coverage)
        a->w = attention_param(p, "w", 1, a->size, INIT_GLOROT);
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
    struct node *v = param(g, a->v);
    if (a->g >= 0)
        v = normalised(g, v, param(g, a->g));
    if (a->w < 0)
        return additive_scores(g, q, memory->keys, v, over);
    struct node **rows = arena_array(&g->arena, 2, sizeof(struct node *));
    rows[0] = v;
    rows[1] = param(g, a->w);
    struct node *vw = stack_rows(g, &(struct stack){ rows, 2 });
    return covered_scores(g, q, memory->keys, vw, memory->coverage, over);
}

const struct score score_additive = { .name = "additive",
                                      .aliases = "concat mlp",
                                      .variants = true,
                                      .declare = declare,
                                      .keys = keys,
                                      .scores = compare };
