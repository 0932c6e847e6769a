#include "attention/attention.h"

#include <stdlib.h>
#include <string.h>

#include "nn/choice.h"
#include "base/alloc.h"
#include "config/config.h"

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

int attention_declare(struct attention *a, struct params *p,
                      const struct config *cfg, int query, int memory)
{
    if (choose(a, cfg) < 0)
        return -1;
    a->query = a->align->query_is_summary ? memory : query;
    a->memory = memory;
    a->size = cfg->attention.size > 0 ? cfg->attention.size
                                      : cfg->decoder.hidden;
    if (!a->align->context)
        return 0;
    if (a->score->declare(a, p, cfg) < 0)
        return -1;
    return a->align->declare ? a->align->declare(a, p, cfg) : 0;
}

int attention_width(const struct attention *a)
{
    return a->align->context ? a->memory : 0;
}

void attention_memory_init(const struct attention *a, struct graph *g,
                           struct attention_memory *memory)
{
    memory->keys = a->align->context
                       ? a->score->keys(a, g, memory->values)
                       : NULL;
}

void attention_begin(const struct attention *a, struct graph *g,
                     const struct attention_memory *memory,
                     const struct ragged *over, struct node *summary,
                     struct attention_state *state)
{
    memset(state, 0, sizeof(*state));
    if (a->align->begin)
        a->align->begin(a, g, memory, over, summary, state);
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
    return a->align->step(a, g, memory, over, query, before, step);
}

struct node *attention_softmax(const struct attention *a, struct graph *g,
                               const struct attention_memory *memory,
                               const struct ragged *over, struct node *query)
{
    struct node *e = a->score->scores(a, g, query, memory, over);
    return ragged_softmax(g, e, over);
}

int attention_param(struct params *p, const char *name, int rows, int cols,
                    enum init init)
{
    char *dotted = xasprintf("attention.%s", name);
    int id = params_declare(
        p, &(struct param){ .name = dotted, .rows = rows, .cols = cols,
                            .init = init });
    free(dotted);
    return id;
}
