/* e_tj = q_t . k_j W                                 Luong et al. 2015, eq. 8
 *
 * attention.W [M,Q]: the paper's W_a, with which each word of the source is
 * multiplied once, instead of the query at each step. */
#include "attention/attention.h"

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    (void)cfg;
    a->W = attention_memory_param(p, "W", a->memory, a->query);
    return 0;
}

static struct node *keys(const struct attention *a, struct graph *g,
                         struct node *values)
{
    return linear(g, values, param(g, a->W), NULL);
}

static struct node *compare(const struct attention *a, struct graph *g,
                            struct node *query,
                            const struct attention_memory *memory,
                            const struct ragged *over)
{
    (void)a;
    return dot_scores(g, query, memory->keys, over);
}

const struct score score_general = { .name = "general",
                                     .aliases = "luong bilinear multiplicative",
                                     .declare = declare,
                                     .keys = keys,
                                     .scores = compare };
