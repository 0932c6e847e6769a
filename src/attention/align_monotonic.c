/* Monotonic attention, Raffel et al. 2017.
 *
 * In training the expected alignment of a process that, at each step, goes on
 * from where it stood and stops at word j with probability p_tj:
 *     p_tj = sigma(e_tj + r + noise), noise normal, so that p learns to be
 *     near 0 or 1; a_tj = p_tj q_tj, q_tj = (1 - p_t,j-1) q_t,j-1 + a_t-1,j
 * (eqs. 8 to 11), a_0 all on the first word. It may stop nowhere: weights sum
 * to 1 at most. When scoring and translating the process itself, without
 * noise: the first word from the last one on with p >= 1/2, which costs as
 * many scores as words are passed; with none, no context (zeros).
 *
 * attention.r [1,1]. State: alignment of the step before [n,width]; when
 * translating, 1 at the word where the process stands. */
#include "attention/attention.h"

static int declare(struct attention *a, struct params *p,
                   const struct config *cfg)
{
    (void)cfg;
    a->r = attention_param(p, "r", 1, 1, INIT_MINUS_ONE);
    return 0;
}

static void begin(const struct attention *a, struct graph *g,
                  const struct attention_memory *memory,
                  const struct ragged *over, int n, struct node *summary,
                  struct attention_state *state)
{
    (void)a, (void)memory, (void)summary;
    struct node *first = graph_zeros(g, n, over->width);
    for (int i = 0; i < first->rows; i++)
        node_row(first, i)[0] = 1;
    state->part[0] = first;
}

static struct node *energies(const struct attention *a, struct graph *g,
                             const struct attention_memory *memory,
                             const struct ragged *over, struct node *query)
{
    return add_number(g, attention_scores(a, g, memory, over, query),
                      param(g, a->r));
}

/* The rest of each sentence, from where the process stands. */
static struct ragged rest(struct graph *g, const struct ragged *over,
                          const struct node *at)
{
    size_t n = (size_t)at->rows;
    int *start = arena_array(&g->arena, n, sizeof(*start));
    int *length = arena_array(&g->arena, n, sizeof(*length));
    int *first = arena_array(&g->arena, n, sizeof(*first));
    for (int i = 0; i < at->rows; i++) {
        first[i] = 0;
        while (first[i] < over->length[i] - 1 && node_row(at, i)[first[i]] == 0)
            first[i]++;
        start[i] = over->start[i] + first[i];
        length[i] = over->length[i] - first[i];
    }
    return (struct ragged){ start, length, over->width, first };
}

/* Walks on to the first word with p >= 1/2, that is, e >= 0. */
static void walk(struct graph *g, const struct ragged *from,
                 const struct node *e, int width, struct attention_step *out)
{
    struct node *weights = graph_zeros(g, e->rows, width);
    struct node *after = graph_zeros(g, e->rows, width);
    for (int i = 0; i < e->rows; i++) {
        int j = 0;
        while (j < from->length[i] && !(node_row(e, i)[j] >= 0))
            j++;
        bool stopped = j < from->length[i];
        if (stopped)
            node_row(weights, i)[from->first[i] + j] = 1;
        node_row(after, i)[from->first[i] + (stopped ? j : 0)] = 1;
    }
    out->weights = weights;
    out->after.part[0] = after;
}

static struct node *step(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *out)
{
    struct node *b = before->part[0];
    if (g->training) {
        struct node *e = add_noise(g, energies(a, g, memory, over, query));
        out->weights = monotonic_alignment(g, e, b, over);
        out->after.part[0] = out->weights;
    } else {
        struct ragged from = rest(g, over, b);
        walk(g, &from, energies(a, g, memory, &from, query), over->width, out);
    }
    return weighted_sum(g, out->weights, memory->values, over);
}

const struct align align_monotonic = {
    .name = "monotonic",
    .context = true,
    .ordered = true,
    .expects = true,
    .declare = declare,
    .begin = begin,
    .step = step,
};
