/* One context a sentence: the query is the encoder's summary, [last forward;
 * first backward] state, so that weights and context are the same at each
 * step. State: weights [n,width], context [n,M]. */
#include "attention/attention.h"

static void begin(const struct attention *a, struct graph *g,
                  const struct attention_memory *memory,
                  const struct ragged *over, int n, struct node *summary,
                  struct attention_state *state)
{
    (void)n;
    state->part[0] = attention_softmax(a, g, memory, over, summary);
    state->part[1] = weighted_sum(g, state->part[0], memory->values, over);
}

static struct node *step(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *out)
{
    (void)a, (void)g, (void)memory, (void)over, (void)query;
    out->weights = before->part[0];
    out->after = *before;
    return before->part[1];
}

const struct align align_static = {
    .name = "static",
    .context = true,
    .query_is_summary = true,
    .begin = begin,
    .step = step,
};
