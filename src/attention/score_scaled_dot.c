/* e_tj = q_t . k_j / sqrt(d), d the width of both   Vaswani et al. 2017, eq. 1
 *
 * No parameters; the keys are the encoder's states. */
#include <math.h>

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
    struct node *e = dot_scores(g, query, memory->keys, over);
    return scale(g, e, 1.0f / sqrtf((float)a->query));
}

const struct score score_scaled_dot = { .name = "scaled_dot",
                                        .declare = declare,
                                        .keys = attention_states,
                                        .scores = compare };
