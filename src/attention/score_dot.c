/* e_tj = q_t . k_j                                   Luong et al. 2015, eq. 8
 *
 * No parameters; the keys are the encoder's states. */
#include "attention/attention.h"

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    (void)p;
    return attention_same_width(a, cfg);
}

static struct node *compare(const struct attention *a, struct graph *g,
                            struct node *query,
                            const struct attention_memory *memory,
                            const struct ragged *over)
{
    (void)a;
    return dot_scores(g, query, memory->keys, over);
}

const struct score score_dot = { .name = "dot",
                                 .declare = declare,
                                 .keys = attention_states,
                                 .scores = compare };
