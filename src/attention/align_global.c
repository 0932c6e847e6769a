/* a_t = softmax(e_t) over all positions, c_t = sum_j a_tj v_j
 * Bahdanau et al. 2015, eqs. 5 and 6 */
#include "attention/attention.h"

static struct node *step(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *out)
{
    (void)before;
    out->weights = attention_softmax(a, g, memory, over, query);
    return weighted_sum(g, out->weights, memory->values, over);
}

const struct align align_global = {
    .name = "global",
    .aliases = "soft",
    .context = true,
    .step = step,
};
