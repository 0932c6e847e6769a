/* One position: drawn from softmax(e_t) in training, the most likely one when
 * scoring and translating.           Xu et al. 2015, sec. 4.1, eqs. 9 to 12
 *
 * Gradients of the scores come by REINFORCE, with an entropy term of weight
 * attention.entropy (graph/op_choice.c; the baseline: model/seq2seq.c). */
#include "attention/attention.h"
#include "config/config.h"

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    (void)p;
    if (a->heads > 1)
        return config_error(cfg, "attention.heads",
                            "'hard' draws one position a step; set heads to 1 "
                            "or take another kind");
    return 0;
}

static struct node *step(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *out)
{
    (void)before;
    struct node *e = attention_scores(a, g, memory, over, query);
    struct choice_costs costs = { memory->advantage, memory->scale,
                                  a->entropy };
    out->weights = g->training ? draw_position(g, e, over, &costs)
                               : best_position(g, e, over);
    return weighted_sum(g, out->weights, memory->values, over);
}

const struct align align_hard = {
    .name = "hard",
    .context = true,
    .draws = true,
    .declare = declare,
    .step = step,
};
