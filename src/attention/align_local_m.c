/* Softmax inside the window [p_t - D, p_t + D], p_t = t (the last word where
 * the source is shorter); 0 outside.       Luong et al. 2015, sec. 3.2, local-m
 *
 * D is attention.window. State: the number of the step [n,1]. */
#include "attention/attention.h"

static void begin(const struct attention *a, struct graph *g,
                  const struct attention_memory *memory,
                  const struct ragged *over, int n, struct node *summary,
                  struct attention_state *state)
{
    (void)a, (void)memory, (void)over, (void)summary;
    state->part[0] = graph_zeros(g, n, 1);
}

static struct node *next(struct graph *g, const struct node *t)
{
    struct node *y = graph_zeros(g, t->rows, 1);
    for (int i = 0; i < t->rows; i++)
        y->value[i] = t->value[i] + 1;
    return y;
}

/* min(t, S - 1) */
static const float *centres(struct graph *g, const struct node *t,
                            const struct ragged *over)
{
    float *p = arena_array(&g->arena, (size_t)t->rows, sizeof(*p));
    for (int i = 0; i < t->rows; i++) {
        float last = (float)(over->length[i] - 1);
        p[i] = t->value[i] < last ? t->value[i] : last;
    }
    return p;
}

static struct node *step(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *out)
{
    const struct node *t = before->part[0];
    struct ragged window = attention_window(a, g, over, centres(g, t, over),
                                            t->rows);
    struct node *w = attention_softmax(a, g, memory, &window, query);
    out->after.part[0] = next(g, t);
    out->weights = place_window(g, w, &window, over->width);
    return weighted_sum(g, w, memory->values, &window);
}

const struct align align_local_m = {
    .name = "local_m",
    .context = true,
    .ordered = true,
    .begin = begin,
    .step = step,
};
