/* e_tj = (q_t W)_j, whatever stands at j              Luong et al. 2015, eq. 8
 *
 * attention.W [Q,L], L = attention.length_limit: words of the source behind it
 * are never looked at. */
#include "attention/attention.h"
#include "config/config.h"

/* A score that softmax makes 0 of. */
#define NEVER (-1e9f)

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    int limit = cfg->attention.length_limit;
    if (limit == 0)
        return config_error(cfg, "attention.length_limit",
                            "'location' needs to know how long a source can "
                            "be; data.max_length + 1 (%d) fits all training "
                            "text",
                            cfg->data.max_length + 1);
    if (a->halves)
        return config_error(cfg, "attention.memory",
                            "'location' compares no keys, so there is nothing "
                            "to split the states for; take 'shared'");
    a->W = attention_param(p, "W", a->query, limit, INIT_GLOROT);
    return 0;
}

static struct node *compare(const struct attention *a, struct graph *g,
                            struct node *query,
                            const struct attention_memory *memory,
                            const struct ragged *over)
{
    (void)memory;
    return read_window(g, linear(g, query, param(g, a->W), NULL), NEVER, over);
}

const struct score score_location = {
    .name = "location", .ordered = true, .declare = declare, .scores = compare
};
