/* e_tj = q_t . k_j / sqrt(d), d the width of both   Vaswani et al. 2017, eq. 1
 *
 * No parameters; the keys are the encoder's states. */
#include <math.h>

#include "attention/attention.h"
#include "config/config.h"

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    (void)p;
    if (a->query != a->memory)
        return config_error(cfg, "attention.score",
                            "'scaled_dot' compares a query of %d units with "
                            "states of %d; make them equal or take 'general'",
                            a->query, a->memory);
    return 0;
}

static struct node *keys(const struct attention *a, struct graph *g,
                         struct node *values)
{
    (void)a;
    (void)g;
    return values;
}

static struct node *compare(const struct attention *a, struct graph *g,
                            struct node *query,
                            const struct attention_memory *memory,
                            const struct ragged *over)
{
    struct node *e = dot_scores(g, query, memory->keys, over);
    return scale(g, e, 1.0f / sqrtf((float)a->query));
}

const struct score score_scaled_dot = { "scaled_dot", NULL, declare, keys,
                                        compare };
