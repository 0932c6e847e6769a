/* A matrix of r rows is the memory, each row its own look at the sentence:
 *     A = softmax over words of V tanh(W^T h^T), r by S;   the memory is A h
 * and training adds encoder.penalty times |A A^T - I|^2 of each sentence to the
 * loss (graph/op_overlap.c, model/seq2seq.c).    Lin et al. 2017, eqs. 6 to 8
 *
 * encoder.self.W [M,A], .V [r,A]; r is encoder.hops */
#include "graph/ops.h"
#include "model/encoder.h"
#include "model/self.h"

static void declare(struct self_attention *s, struct params *p)
{
    s->W = self_param(p, "W", s->width, s->size, INIT_GLOROT);
    s->V = self_param(p, "V", s->hops, s->size, INIT_GLOROT);
}

/* The words of the sentence for each of its r rows; index[i] is which it is. */
static struct ragged words(struct graph *g, const struct encoded *encoded,
                           int r, int *index)
{
    size_t n = (size_t)encoded->sentences * (size_t)r;
    int *start = arena_array(&g->arena, n, sizeof(*start));
    int *length = arena_array(&g->arena, n, sizeof(*length));
    for (size_t i = 0; i < n; i++) {
        start[i] = encoded->start[i / (size_t)r];
        length[i] = encoded->length[i / (size_t)r];
        index[i] = (int)(i % (size_t)r);
    }
    return (struct ragged){ start, length, encoded->width, NULL };
}

/* From now on each sentence has r rows. */
static void count_rows(struct graph *g, struct encoded *encoded, int r)
{
    size_t B = (size_t)encoded->sentences;
    int *start = arena_array(&g->arena, B, sizeof(*start));
    int *length = arena_array(&g->arena, B, sizeof(*length));
    for (int b = 0; b < encoded->sentences; b++) {
        start[b] = b * r;
        length[b] = r;
    }
    encoded->start = start;
    encoded->length = length;
    encoded->width = r;
}

static void run(const struct self_attention *s, struct graph *g,
                struct encoded *encoded)
{
    struct node *h = encoded->memory;
    int n = encoded->sentences * s->hops;
    int *index = arena_array(&g->arena, (size_t)n, sizeof(*index));
    struct ragged over = words(g, encoded, s->hops, index);
    struct node *x = node_tanh(g, linear(g, h, param(g, s->W), NULL));
    struct node *V = pick_rows(g, param(g, s->V), index, n);
    encoded->hops = ragged_softmax(g, dot_scores(g, V, x, &over), &over);
    encoded->memory = weighted_sum(g, encoded->hops, h, &over);
    count_rows(g, encoded, s->hops);
}

const struct self_kind self_structured = {
    .name = "structured", .hops = true, .declare = declare, .run = run
};
