#include "attention/attention.h"

#include <math.h>
#include <string.h>

#include "nn/choice.h"
#include "config/config.h"
#include "tensor/vec.h"

#define X(name) extern const struct score score_##name;
#include "scores.inc"
#undef X
#define X(name) extern const struct align align_##name;
#include "aligns.inc"
#undef X

#define X(name) &score_##name,
const struct score *const scores[] = {
#include "scores.inc"
    NULL
};
#undef X

#define X(name) &align_##name,
const struct align *const aligns[] = {
#include "aligns.inc"
    NULL
};
#undef X

static int choose(struct attention *a, const struct config *cfg)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; scores[i]; i++)
        choice_add(&choice, scores[i]->name, scores[i]->aliases);
    int score = choice_of(&choice, cfg, "attention.score");
    choice_init(&choice);
    for (int i = 0; aligns[i]; i++)
        choice_add(&choice, aligns[i]->name, aligns[i]->aliases);
    int align = choice_of(&choice, cfg, "attention.kind");
    if (score < 0 || align < 0)
        return -1;
    a->score = scores[score];
    a->align = aligns[align];
    return 0;
}

static int declare_heads(struct attention *a, struct params *p,
                         const struct config *cfg, int query, int keys)
{
    int fits = a->heads;
    while (a->size % fits != 0)
        fits--;
    if (fits != a->heads)
        return config_error(cfg, "attention.heads",
                            "%d heads cannot share attention.size %d evenly; "
                            "%d can",
                            a->heads, a->size, fits);
    a->W_q = attention_param(p, "W_q", query, a->size, INIT_GLOROT);
    if (a->score->keys)
        a->W_k = attention_memory_param(p, "W_k", keys, a->size);
    a->W_v = attention_memory_param(p, "W_v", keys, a->size);
    a->query = a->memory = a->size / a->heads;
    a->context = a->size;
    return 0;
}

/* The widths of queries, keys and context. */
static int declare_widths(struct attention *a, struct params *p,
                          const struct config *cfg, int query, int memory)
{
    static const char *const names[] = { "shared", "key_value" };
    int kind = config_name(cfg, "attention.memory", names, 2);
    if (kind < 0)
        return -1;
    a->halves = kind == 1;
    if (a->halves && memory % 2 != 0)
        return config_error(cfg, "attention.memory",
                            "'key_value' halves the encoder's output, which "
                            "has %d units; make that an even number",
                            memory);
    a->query = a->align->query_is_summary ? memory : query;
    a->memory = a->context = a->halves ? memory / 2 : memory;
    return a->heads > 1 ? declare_heads(a, p, cfg, a->query, a->memory) : 0;
}

/* What only some scores know. */
static int check_variants(struct attention *a, const struct config *cfg)
{
    bool normalized = cfg->attention.normalized;
    a->coverage = cfg->attention.coverage;
    if ((normalized || a->coverage) && !a->score->variants)
        return config_error(cfg,
                            normalized ? "attention.normalized"
                                       : "attention.coverage",
                            "'%s' has no such form; take the score 'additive'",
                            a->score->name);
    if (a->coverage && a->align->query_is_summary)
        return config_error(cfg, "attention.coverage",
                            "'%s' compares but once, before anything has been "
                            "looked at; take another kind",
                            a->align->name);
    return 0;
}

int attention_declare(struct attention *a, struct params *p,
                      const struct config *cfg, int query, int memory)
{
    if (choose(a, cfg) < 0)
        return -1;
    a->size = cfg->attention.size > 0 ? cfg->attention.size
                                      : cfg->decoder.hidden;
    a->window = cfg->attention.window;
    a->entropy = (float)cfg->attention.entropy;
    a->heads = cfg->attention.heads;
    a->context = 0;
    if (!a->align->context)
        return 0;
    if (check_variants(a, cfg) < 0 ||
        declare_widths(a, p, cfg, query, memory) < 0 ||
        a->score->declare(a, p, cfg) < 0)
        return -1;
    return a->align->declare ? a->align->declare(a, p, cfg) : 0;
}

int attention_width(const struct attention *a)
{
    return a->context;
}

void attention_memory_init(const struct attention *a, struct graph *g,
                           struct node *states, struct attention_memory *memory)
{
    memset(memory, 0, sizeof(*memory));
    if (!a->align->context)
        return;
    struct node *keys = states, *values = states;
    if (a->halves) {
        int half = states->cols / 2;
        keys = split_columns(g, states, 0, half);
        values = split_columns(g, states, half, half);
    }
    if (a->heads > 1 && a->score->keys)
        keys = split_heads(g, linear(g, keys, param(g, a->W_k), NULL),
                           a->heads);
    if (a->heads > 1)
        values = split_heads(g, linear(g, values, param(g, a->W_v), NULL),
                             a->heads);
    memory->values = values;
    memory->keys = a->score->keys ? a->score->keys(a, g, keys) : NULL;
}

/* Each query's h heads, each with its own part of the memory. */
static struct ragged head_rows(const struct attention *a, struct graph *g,
                               const struct attention_memory *memory,
                               const struct ragged *over, int n)
{
    int h = a->heads, N = memory->values->rows / h;
    int *start = arena_array(&g->arena, (size_t)n * (size_t)h, sizeof(*start));
    int *length = arena_array(&g->arena, (size_t)n * (size_t)h,
                              sizeof(*length));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < h; k++) {
            start[i * h + k] = k * N + over->start[i];
            length[i * h + k] = over->length[i];
        }
    return (struct ragged){ start, length, over->width, NULL };
}

/* [n,Q] -> [h n,A / h] */
static struct node *head_queries(const struct attention *a, struct graph *g,
                                 struct node *query)
{
    struct node *q = linear(g, query, param(g, a->W_q), NULL);
    return graph_reshape(g, q, q->rows * a->heads, a->size / a->heads);
}

/* A row of state for each query holds those of its heads side by side. */
static void join_states(const struct attention *a, struct graph *g,
                        struct attention_state *state)
{
    for (int i = 0; i < ATTENTION_STATES; i++) {
        struct node *x = state->part[i];
        if (x)
            state->part[i] = graph_reshape(g, x, x->rows / a->heads,
                                           x->cols * a->heads);
    }
}

static struct attention_state part_states(const struct attention *a,
                                          struct graph *g,
                                          const struct attention_state *from)
{
    struct attention_state state = *from;
    for (int i = 0; i < ATTENTION_STATES; i++) {
        struct node *x = state.part[i];
        if (x)
            state.part[i] = graph_reshape(g, x, x->rows * a->heads,
                                          x->cols / a->heads);
    }
    return state;
}

/* The mean of the heads' weights, for people to look at. */
static struct node *mean_weights(const struct attention *a, struct graph *g,
                                 const struct node *weights)
{
    int n = weights->rows / a->heads;
    struct node *mean = graph_zeros(g, n, weights->cols);
    for (int i = 0; i < weights->rows; i++)
        vec_axpy(node_row(mean, i / a->heads), 1.0f / (float)a->heads,
                 node_row(weights, i), (size_t)weights->cols);
    return mean;
}

void attention_begin(const struct attention *a, struct graph *g,
                     const struct attention_memory *memory,
                     const struct ragged *over, struct node *summary,
                     struct attention_state *state)
{
    int n = summary->rows;
    struct ragged rows = *over;
    memset(state, 0, sizeof(*state));
    if (!a->align->context)
        return;
    if (a->heads > 1)
        rows = head_rows(a, g, memory, over, n);
    if (!a->align->query_is_summary)
        summary = NULL;
    else if (a->heads > 1)
        summary = head_queries(a, g, summary);
    if (a->align->begin)
        a->align->begin(a, g, memory, &rows, n * a->heads, summary, state);
    if (a->coverage)
        state->part[ATTENTION_COVERAGE] = graph_zeros(g, n * a->heads,
                                                      over->width);
    join_states(a, g, state);
}

/* A step of the alignment, whose scores may read the coverage, the sum of the
 * weights before: C_1j = 0, C_{t+1,j} = C_tj + a_tj.      Tu et al. 2016 */
static struct node *covered_step(const struct attention *a, struct graph *g,
                                 const struct attention_memory *memory,
                                 const struct ragged *over, struct node *query,
                                 const struct attention_state *before,
                                 struct attention_step *step)
{
    struct attention_memory now = *memory;
    now.coverage = before->part[ATTENTION_COVERAGE];
    struct node *c = a->align->step(a, g, &now, over, query, before, step);
    if (now.coverage)
        step->after.part[ATTENTION_COVERAGE] = add(g, now.coverage,
                                                   step->weights);
    return c;
}

struct node *attention_step(const struct attention *a, struct graph *g,
                            const struct attention_memory *memory,
                            const struct ragged *over, struct node *query,
                            const struct attention_state *before,
                            struct attention_step *step)
{
    memset(step, 0, sizeof(*step));
    if (!a->align->context)
        return NULL;
    if (a->heads == 1)
        return covered_step(a, g, memory, over, query, before, step);
    int n = query->rows;
    struct ragged rows = head_rows(a, g, memory, over, n);
    struct attention_state parts = part_states(a, g, before);
    if (!a->align->query_is_summary)
        query = head_queries(a, g, query);
    struct node *c = covered_step(a, g, memory, &rows, query, &parts, step);
    join_states(a, g, &step->after);
    step->weights = mean_weights(a, g, step->weights);
    return graph_reshape(g, c, n, a->context);
}

struct node *attention_softmax(const struct attention *a, struct graph *g,
                               const struct attention_memory *memory,
                               const struct ragged *over, struct node *query)
{
    struct node *e = attention_scores(a, g, memory, over, query);
    return ragged_softmax(g, e, over);
}

struct node *attention_scores(const struct attention *a, struct graph *g,
                              const struct attention_memory *memory,
                              const struct ragged *over, struct node *query)
{
    return a->score->scores(a, g, query, memory, over);
}

struct ragged attention_window(const struct attention *a, struct graph *g,
                               const struct ragged *over, const float *centre,
                               int n)
{
    int *start = arena_array(&g->arena, (size_t)n, sizeof(*start));
    int *length = arena_array(&g->arena, (size_t)n, sizeof(*length));
    int *first = arena_array(&g->arena, (size_t)n, sizeof(*first));
    int widest = 2 * a->window + 1;
    for (int i = 0; i < n; i++) {
        int S = over->length[i], p = (int)floorf(centre[i]);
        int from = p - a->window, to = p + a->window;
        from = from < 0 ? 0 : from < S ? from : S - 1;
        to = to < S ? to : S - 1;
        start[i] = over->start[i] + from;
        length[i] = to - from + 1;
        first[i] = from;
    }
    return (struct ragged){ start, length,
                            widest < over->width ? widest : over->width,
                            first };
}

int attention_param(struct params *p, const char *name, int rows, int cols,
                    enum init init)
{
    return params_declare_in(p, "attention",
                             (struct param){ .name = name,
                                             .rows = rows,
                                             .cols = cols,
                                             .init = init });
}

int attention_memory_param(struct params *p, const char *name, int rows,
                           int cols)
{
    return params_declare_in(p, "attention",
                             (struct param){ .name = name,
                                             .rows = rows,
                                             .cols = cols,
                                             .init = INIT_GLOROT,
                                             .at_once = true });
}

int attention_same_width(const struct attention *a, const struct config *cfg)
{
    if (a->query == a->memory)
        return 0;
    return config_error(cfg, "attention.score",
                        "'%s' compares a query of %d units with states of %d; "
                        "make them equal or take 'general'",
                        a->score->name, a->query, a->memory);
}

struct node *attention_states(const struct attention *a, struct graph *g,
                              struct node *values)
{
    (void)a;
    (void)g;
    return values;
}
