/* Each state has a score of its own, and all see what the scores sum up:
 *     e_j = v . tanh(h_j W + b), a = softmax(e), c = sum_j a_j h_j,
 *     h'_j = tanh(h_j W_h + c W_c + b_h)
 * Raffel & Ellis 2015, eqs. 1 and 2, for a and c
 *
 * encoder.self.W [M,A], .b, .v [1,A], .W_h, .W_c [M,M], .b_h [1,M] */
#include "graph/ops.h"
#include "model/encoder.h"
#include "model/self.h"

static void declare(struct self_attention *s, struct params *p)
{
    s->W = self_param(p, "W", s->width, s->size, INIT_GLOROT);
    s->b = self_param(p, "b", 1, s->size, INIT_ZERO);
    s->v = self_param(p, "v", 1, s->size, INIT_GLOROT);
    self_join_declare(s, p);
}

/* The sentence of each row. */
static const int *sentence_of(struct graph *g, const struct encoded *encoded)
{
    size_t n = (size_t)encoded->memory->rows;
    int *sentence = arena_array(&g->arena, n, sizeof(*sentence));
    for (int b = 0; b < encoded->sentences; b++)
        for (int j = 0; j < encoded->length[b]; j++)
            sentence[encoded->start[b] + j] = b;
    return sentence;
}

static void run(const struct self_attention *s, struct graph *g,
                struct encoded *encoded)
{
    struct node *h = encoded->memory;
    struct ragged over = encoded_rows(encoded);
    int *first = arena_array(&g->arena, (size_t)encoded->sentences,
                             sizeof(*first));
    for (int b = 0; b < encoded->sentences; b++)
        first[b] = 0;
    struct node *x = node_tanh(g, linear(g, h, param(g, s->W), param(g, s->b)));
    struct node *v = pick_rows(g, param(g, s->v), first, encoded->sentences);
    struct node *a = ragged_softmax(g, dot_scores(g, v, x, &over), &over);
    struct node *c = linear(g, weighted_sum(g, a, h, &over), param(g, s->W_c),
                            NULL);
    encoded->memory = self_join(s, g, h,
                                pick_rows(g, c, sentence_of(g, encoded),
                                          h->rows));
}

const struct self_kind self_own = { .name = "own",
                                    .declare = declare,
                                    .run = run };
