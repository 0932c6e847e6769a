/* Each state looks at the earlier ones:
 *     e_ji = v . tanh(h_j W + h_i U + b), a_j = softmax of e_ji over i < j,
 *     c_j = sum_{i<j} a_ji h_i (c_0 = 0), h'_j = tanh(h_j W_h + c_j W_c + b_h)
 * Daniluk et al. 2017, eqs. 1 to 4, without a limited window
 *
 * encoder.self.W, .U [M,A], .b, .v [1,A], .W_h, .W_c [M,M], .b_h [1,M] */
#include "graph/ops.h"
#include "model/encoder.h"
#include "model/self.h"

static void declare(struct self_attention *s, struct params *p)
{
    s->W = self_param(p, "W", s->width, s->size, INIT_GLOROT);
    s->U = self_param(p, "U", s->width, s->size, INIT_GLOROT);
    s->b = self_param(p, "b", 1, s->size, INIT_ZERO);
    s->v = self_param(p, "v", 1, s->size, INIT_GLOROT);
    self_join_declare(s, p);
}

/* Row j of each sentence has the j rows before it. */
static struct ragged earlier(struct graph *g, const struct encoded *encoded)
{
    size_t n = (size_t)encoded->memory->rows;
    int *start = arena_array(&g->arena, n, sizeof(*start));
    int *length = arena_array(&g->arena, n, sizeof(*length));
    for (int b = 0; b < encoded->sentences; b++)
        for (int j = 0; j < encoded->length[b]; j++) {
            start[encoded->start[b] + j] = encoded->start[b];
            length[encoded->start[b] + j] = j;
        }
    return (struct ragged){ start, length, encoded->width, NULL };
}

static void run(const struct self_attention *s, struct graph *g,
                struct encoded *encoded)
{
    struct node *h = encoded->memory;
    struct ragged over = earlier(g, encoded);
    struct node *q = linear(g, h, param(g, s->W), NULL);
    struct node *k = linear(g, h, param(g, s->U), param(g, s->b));
    struct node *e = additive_scores(g, q, k, param(g, s->v), &over);
    struct node *c = weighted_sum(g, ragged_softmax(g, e, &over), h, &over);
    encoded->memory = self_join(s, g, h, linear(g, c, param(g, s->W_c), NULL));
}

const struct self_kind self_previous = { .name = "previous",
                                         .declare = declare,
                                         .run = run };
