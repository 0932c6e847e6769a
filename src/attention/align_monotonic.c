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
#include "tensor/vec.h"

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

/* Words that are scored at a time. */
enum { STRIDE = 16 };

/* A walk: row i has come to word at[i] of length[i] without stopping, or has
 * stopped there. */
struct walk {
    int *at;
    bool *stopped;
};

static void stand(struct graph *g, const struct ragged *over,
                  const struct node *before, struct walk *w)
{
    size_t n = (size_t)before->rows;
    w->at = arena_array(&g->arena, n, sizeof(*w->at));
    w->stopped = arena_array(&g->arena, n, sizeof(*w->stopped));
    for (int i = 0; i < before->rows; i++) {
        w->at[i] = 0;
        w->stopped[i] = false;
        while (w->at[i] < over->length[i] - 1 &&
               node_row(before, i)[w->at[i]] == 0)
            w->at[i]++;
    }
}

/* The next words of each row that still walks; how many rows do. */
static int ahead(struct graph *g, const struct ragged *over,
                 const struct walk *w, int n, struct ragged *window)
{
    int *start = arena_array(&g->arena, (size_t)n, sizeof(*start));
    int *length = arena_array(&g->arena, (size_t)n, sizeof(*length));
    int *first = arena_array(&g->arena, (size_t)n, sizeof(*first));
    int walking = 0;
    for (int i = 0; i < n; i++) {
        int left = w->stopped[i] ? 0 : over->length[i] - w->at[i];
        first[i] = w->at[i];
        start[i] = over->start[i] + (left > 0 ? w->at[i] : 0);
        length[i] = left < STRIDE ? left : STRIDE;
        walking += left > 0;
    }
    int width = over->width < STRIDE ? over->width : STRIDE;
    *window = (struct ragged){ start, length, width, first };
    return walking;
}

/* On to the first word with p >= 1/2, that is, e >= 0. */
static void advance(const struct ragged *window, const struct node *e,
                    struct walk *w)
{
    for (int i = 0; i < e->rows; i++)
        for (int j = 0; j < window->length[i] && !w->stopped[i]; j++) {
            w->stopped[i] = node_row(e, i)[j] >= 0;
            w->at[i] += !w->stopped[i];
        }
}

/* The words that were stopped at. A row that stopped nowhere has no context,
 * and stands where it stood. */
static struct node *arrive(struct graph *g,
                           const struct attention_memory *memory,
                           const struct ragged *over, const struct node *before,
                           const struct walk *w, struct attention_step *out)
{
    int n = before->rows;
    int *start = arena_array(&g->arena, (size_t)n, sizeof(*start));
    int *length = arena_array(&g->arena, (size_t)n, sizeof(*length));
    struct node *one = graph_zeros(g, n, 1);
    out->weights = graph_zeros(g, n, over->width);
    out->after.part[0] = graph_zeros(g, n, over->width);
    for (int i = 0; i < n; i++) {
        one->value[i] = 1;
        start[i] = over->start[i] + (w->stopped[i] ? w->at[i] : 0);
        length[i] = w->stopped[i];
        if (w->stopped[i])
            node_row(out->weights, i)[w->at[i]] = 1;
        vec_copy(node_row(out->after.part[0], i),
                 node_row(w->stopped[i] ? out->weights : before, i),
                 (size_t)over->width);
    }
    struct ragged words = { start, length, 1, NULL };
    return weighted_sum(g, one, memory->values, &words);
}

static struct node *walk(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct node *before, struct attention_step *out)
{
    struct walk w;
    struct ragged window;
    stand(g, over, before, &w);
    while (ahead(g, over, &w, before->rows, &window) > 0)
        advance(&window, energies(a, g, memory, &window, query), &w);
    return arrive(g, memory, over, before, &w, out);
}

static struct node *step(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *out)
{
    struct node *b = before->part[0];
    if (!g->training)
        return walk(a, g, memory, over, query, b, out);
    struct node *e = add_noise(g, energies(a, g, memory, over, query));
    out->weights = monotonic_alignment(g, e, b, over);
    out->after.part[0] = out->weights;
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
