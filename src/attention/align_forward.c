/* Forced forward: what has been aligned is hardly looked at again.
 *     a_tj ~ exp(e_tj) u_tj over all positions, u_{t+1,j} = u_tj (1 - a_tj)
 * with u_1j = 1. State: log u [n,width], whose factors 1 - a_tj are 1e-4 at
 * least, so that long outputs stay finite. */
#include "attention/attention.h"

#define FLOOR 1e-4f

static void begin(const struct attention *a, struct graph *g,
                  const struct attention_memory *memory,
                  const struct ragged *over, int n, struct node *summary,
                  struct attention_state *state)
{
    (void)a, (void)memory, (void)summary;
    state->part[0] = graph_zeros(g, n, over->width);
}

static struct node *step(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *out)
{
    struct node *u = before->part[0];
    struct node *e = attention_scores(a, g, memory, over, query);
    out->weights = ragged_softmax(g, add(g, e, u), over);
    out->after.part[0] = forget_aligned(g, u, out->weights, FLOOR, over);
    return weighted_sum(g, out->weights, memory->values, over);
}

const struct align align_forward = {
    .name = "forward",
    .context = true,
    .begin = begin,
    .step = step,
};
