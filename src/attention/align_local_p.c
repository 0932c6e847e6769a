/* p_t = (S - 1) sigma(v_p . tanh(q_t W_p)), S with </s>, positions from 0;
 * window |j - floor(p_t)| <= D, sigma = D / 2, and of attention.local_mode
 *     paper         softmax in the window, times the Gaussian
 *                   exp(-(j - p_t)^2 / 2 sigma^2): the weights sum to less
 *                   than 1
 *     renormalized  the same, divided by its sum
 *     prior         softmax over all positions of e_tj - (j - p_t)^2 / 2
 *                   sigma^2: the Gaussian without a window
 * Luong et al. 2015, sec. 3.2, local-p, eqs. 9 and 10 (there S sigma(...))
 *
 * attention.W_p [Q,A], attention.v_p [A,1]; D is attention.window. */
#include "attention/attention.h"
#include "config/config.h"

enum local_mode { PAPER, RENORMALIZED, PRIOR };

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    static const char *const modes[] = { "paper", "renormalized", "prior" };
    a->local_mode = config_name(cfg, "attention.local_mode", modes, 3);
    a->W_p = attention_param(p, "W_p", a->query, a->size, INIT_GLOROT);
    a->v_p = attention_param(p, "v_p", a->size, 1, INIT_GLOROT);
    return a->local_mode < 0 ? -1 : 0;
}

static struct node *position(const struct attention *a, struct graph *g,
                             const struct ragged *over, struct node *query)
{
    struct node *x = node_tanh(g, linear(g, query, param(g, a->W_p), NULL));
    return relative_position(g, linear(g, x, param(g, a->v_p), NULL), over);
}

/* renormalized is the softmax of the scores and the Gaussian's logarithm */
static struct node *weights(const struct attention *a, struct graph *g,
                            const struct attention_memory *memory,
                            const struct ragged *window, struct node *query,
                            struct node *p)
{
    float sigma = (float)a->window / 2;
    struct node *e = attention_scores(a, g, memory, window, query);
    if (a->local_mode == PAPER)
        return gaussian_weights(g, ragged_softmax(g, e, window), p, sigma,
                                window);
    return ragged_softmax(g, gaussian_prior(g, e, p, sigma, window), window);
}

static struct node *step(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *out)
{
    (void)before;
    struct node *p = position(a, g, over, query);
    struct ragged window = *over;
    if (a->local_mode != PRIOR)
        window = attention_window(a, g, over, p->value, p->rows);
    struct node *w = weights(a, g, memory, &window, query, p);
    out->weights = place_window(g, w, &window, over->width);
    return weighted_sum(g, w, memory->values, &window);
}

const struct align align_local_p = {
    .name = "local_p",
    .context = true,
    .ordered = true,
    .declare = declare,
    .step = step,
};
