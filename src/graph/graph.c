#include "graph/graph.h"

#include <assert.h>
#include <string.h>

#include "base/profile.h"
#include "base/rng.h"
#include "tensor/matmul.h"
#include "tensor/packed.h"
#include "tensor/vec.h"

void graph_init(struct graph *g)
{
    memset(g, 0, sizeof(*g));
    arena_init(&g->arena);
}

void graph_release(struct graph *g)
{
    arena_release(&g->arena);
    multiplier_free(g->multiplier);
    memset(g, 0, sizeof(*g));
}

void graph_reset(struct graph *g)
{
    arena_reset(&g->arena);
    g->tape = NULL;
    g->weights = NULL;
    g->leaf = NULL;
    g->draws = 0;
}

struct multiplier *graph_multiplier(struct graph *g)
{
    if (!g->multiplier)
        g->multiplier = multiplier_new();
    return g->multiplier;
}

static struct node *new_node(struct graph *g, int rows, int cols)
{
    struct node *x = arena_alloc(&g->arena, sizeof(*x));
    memset(x, 0, sizeof(*x));
    x->rows = rows;
    x->cols = cols;
    return x;
}

static float *new_block(struct graph *g, const struct node *x)
{
    return arena_alloc(&g->arena, node_size(x) * sizeof(float));
}

static void put_on_tape(struct graph *g, struct node *y)
{
    y->previous = g->tape;
    g->tape = y;
}

struct node *graph_spent_node(struct graph *g, const struct op *op, int rows,
                              int cols, struct node *a, struct node *b,
                              struct node *c, struct node *d)
{
    profile_enter(g->profile, op->name, PROFILE_FORWARD);
    struct node *y = new_node(g, rows, cols);
    struct node *in[NODE_INPUTS] = { a, b, c, d };
    bool wanted = false;
    for (int i = 0; i < NODE_INPUTS && in[i]; i++)
        wanted = wanted || in[i]->grad;
    memcpy(y->in, in, sizeof(in));
    y->op = op;
    y->value = new_block(g, y);
    if (!g->training || !wanted)
        return y;
    y->grad = y->value;
    put_on_tape(g, y);
    return y;
}

struct node *graph_node(struct graph *g, const struct op *op, int rows,
                        int cols, struct node *a, struct node *b,
                        struct node *c, struct node *d)
{
    struct node *y = graph_spent_node(g, op, rows, cols, a, b, c, d);
    if (!y->grad)
        return y;
    y->grad = new_block(g, y);
    vec_zero(y->grad, node_size(y));
    return y;
}

void node_hand_back(struct node *x, int first, int cols)
{
    for (int i = 0; i < x->rows && x->grad && x->grad != x->value; i++)
        vec_add(node_grad_row(x, i) + first, node_row(x, i) + first,
                (size_t)cols);
}

struct node *graph_in_place(struct graph *g, const struct op *op,
                            struct node *y, struct node *a, struct node *b)
{
    profile_enter(g->profile, op->name, PROFILE_FORWARD);
    struct node *z = new_node(g, y->rows, y->cols);
    z->op = op;
    z->value = y->value;
    z->grad = y->grad;
    z->in[0] = a;
    z->in[1] = b;
    assert(!g->training || y->grad || (!a->grad && !b->grad));
    if (z->grad)
        put_on_tape(g, z);
    return z;
}

struct node *graph_leaf(struct graph *g, int rows, int cols, float *value,
                        float *grad)
{
    struct node *x = new_node(g, rows, cols);
    x->value = value;
    x->grad = g->training ? grad : NULL;
    return x;
}

struct node *graph_zeros(struct graph *g, int rows, int cols)
{
    struct node *x = new_node(g, rows, cols);
    x->value = new_block(g, x);
    vec_zero(x->value, node_size(x));
    return x;
}

struct node *graph_view(struct graph *g, struct node *x, int first, int rows)
{
    assert(first >= 0 && rows >= 0 && first + rows <= x->rows);
    if (first == 0 && rows == x->rows)
        return x;
    struct node *y = new_node(g, rows, x->cols);
    y->value = node_row(x, first);
    y->grad = x->grad ? node_grad_row(x, first) : NULL;
    return y;
}

struct node *graph_reshape(struct graph *g, struct node *x, int rows, int cols)
{
    assert((size_t)rows * (size_t)cols == node_size(x));
    if (x->rows == rows)
        return x;
    struct node *y = new_node(g, rows, cols);
    y->value = x->value;
    y->grad = x->grad;
    return y;
}

static void note(struct graph *g, struct node *w, struct product one)
{
    struct product *p = arena_alloc(&g->arena, sizeof(*p));
    assert(!w->op);
    if (!w->products) {
        w->previous = g->weights;
        g->weights = w;
    }
    one.next = w->products;
    *p = one;
    w->products = p;
}

void graph_note_product(struct graph *g, struct node *w, const struct node *x,
                        const struct node *y)
{
    assert(!node_is_looked_up(w));
    note(g, w, (struct product){ .x = x, .y = y });
}

void graph_note_lookup(struct graph *g, struct node *w, const int *ids,
                       const struct node *y)
{
    assert(!w->products || node_is_looked_up(w));
    note(g, w, (struct product){ .ids = ids, .y = y });
}

static int note_rows(const struct node *w)
{
    int rows = 0;
    for (const struct product *p = w->products; p; p = p->next)
        rows += p->x->rows;
    return rows;
}

/* dw (+)= sum over the notes of x^T dy */
void graph_weight_gradient(struct graph *tool, const struct node *w, bool add,
                           float *dw)
{
    struct arena_mark mark = arena_mark(&tool->arena);
    int rows = note_rows(w), at = 0;
    const float **x = arena_array(&tool->arena, (size_t)rows, sizeof(*x));
    const float **dy = arena_array(&tool->arena, (size_t)rows, sizeof(*dy));
    profile_enter(tool->profile, "weight gradients", PROFILE_BACKWARD);
    profile_work(tool->profile, 2.0 * rows * w->rows * w->cols);
    for (const struct product *p = w->products; p; p = p->next)
        for (int i = 0; i < p->x->rows; i++, at++) {
            x[at] = node_row(p->x, i);
            dy[at] = node_grad_row(p->y, i);
        }
    matmul_rows(graph_multiplier(tool), w->precision, w->rows, w->cols, rows, x,
                dy, add ? dw : NULL, dw);
    arena_rewind(&tool->arena, mark);
}

/* dw[ids_i] += dy_i */
void graph_lookup_gradient(struct graph *tool, const struct node *w, float *dw,
                           unsigned char *touched)
{
    profile_enter(tool->profile, "lookup", PROFILE_BACKWARD);
    for (const struct product *p = w->products; p; p = p->next)
        for (int i = 0; i < p->y->rows; i++) {
            vec_add(dw + (size_t)p->ids[i] * (size_t)w->cols,
                    node_grad_row(p->y, i), (size_t)w->cols);
            if (touched)
                touched[p->ids[i]] = 1;
        }
}

void graph_backward_tape(struct graph *g)
{
    for (struct node *y = g->tape; y; y = y->previous) {
        profile_enter(g->profile, y->op->name, PROFILE_BACKWARD);
        y->op->backward(g, y);
    }
    g->tape = NULL;
}

void graph_backward(struct graph *g)
{
    graph_backward_tape(g);
    for (struct node *w = g->weights; w; w = w->previous)
        if (node_is_looked_up(w))
            graph_lookup_gradient(g, w, w->grad, w->touched);
        else
            graph_weight_gradient(g, w, true, w->grad);
    g->weights = NULL;
}

struct arena_mark graph_mark(struct graph *g)
{
    return arena_mark(&g->arena);
}

void graph_rewind(struct graph *g, struct arena_mark mark)
{
    assert(!g->training);
    arena_rewind(&g->arena, mark);
}

static uint64_t place(const struct graph *g, int row)
{
    return (uint64_t)g->part << 48 ^ (uint64_t)g->draws << 32 ^ (uint64_t)row;
}

uint32_t graph_key(const struct graph *g, int row)
{
    return (
        uint32_t)(rng_bits(g->seed, RNG_DROPOUT, g->update, place(g, row)) >>
                  32);
}

float graph_uniform(const struct graph *g, int row)
{
    return rng_uniform(g->seed, RNG_SAMPLE, g->update, place(g, row));
}
