/* Alignments that depend on the steps before. */
#include <assert.h>
#include <math.h>

#include "graph/ops.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

struct forget {
    struct ragged over;
    float floor;
};

/* du += dy; da -= dy / (1 - a) where 1 - a is above the floor */
static void forget_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct forget *f = y->extra;
    struct node *u = y->in[0], *a = y->in[1];
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < f->over.length[i]; j++) {
            float dy = node_grad_row(y, i)[j];
            float rest = 1.0f - node_row(a, i)[j];
            if (u->grad)
                node_grad_row(u, i)[j] += dy;
            if (a->grad && rest > f->floor)
                node_grad_row(a, i)[j] -= dy / rest;
        }
}

struct node *forget_aligned(struct graph *g, struct node *u, struct node *a,
                            float floor, const struct ragged *over)
{
    static const struct op op = { "forget_aligned", forget_backward };
    assert(u->rows == a->rows && u->cols == a->cols);
    struct node *y = graph_node(g, &op, u->rows, u->cols, u, a, NULL, NULL);
    struct forget *f = arena_alloc(&g->arena, sizeof(*f));
    *f = (struct forget){ *over, floor };
    y->extra = f;
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < over->length[i]; j++)
            node_row(y, i)[j] = node_row(u, i)[j] +
                                logf(max32(1.0f - node_row(a, i)[j], floor));
    return y;
}

struct monotonic {
    struct ragged over;
    const float *q; // [n,width]
};

/* From right to left, with r_j = dL/dq_j:
 *     r_j = da_j p_j + (1 - p_j) r_{j+1};  dp_j = da_j q_j - q_j r_{j+1};
 *     db_j = r_j;  de_j = dp_j p_j (1 - p_j) */
static void monotonic_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct monotonic *m = y->extra;
    const struct ragged *over = &m->over;
    struct node *e = y->in[0], *b = y->in[1];
    for (int i = 0; i < y->rows; i++) {
        const float *q = m->q + (size_t)i * y->cols;
        float r = 0;
        for (int j = over->length[i] - 1; j >= 0; j--) {
            float p = approx_sigmoid(node_row(e, i)[j]);
            float da = node_grad_row(y, i)[j];
            if (e->grad)
                node_grad_row(e, i)[j] += q[j] * (da - r) * p * (1.0f - p);
            r = da * p + (1.0f - p) * r;
            if (b->grad)
                node_grad_row(b, i)[j] += r;
        }
    }
}

struct node *monotonic_alignment(struct graph *g, struct node *e,
                                 struct node *b, const struct ragged *over)
{
    static const struct op op = { "monotonic_alignment", monotonic_backward };
    assert(e->rows == b->rows && e->cols == b->cols);
    struct node *y = graph_node(g, &op, e->rows, e->cols, e, b, NULL, NULL);
    float *q = arena_alloc(&g->arena, node_size(y) * sizeof(*q));
    struct monotonic *m = arena_alloc(&g->arena, sizeof(*m));
    *m = (struct monotonic){ *over, q };
    y->extra = m;
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++) {
        float passed = 0; /* (1 - p_{j-1}) q_{j-1} */
        for (int j = 0; j < over->length[i]; j++) {
            float p = approx_sigmoid(node_row(e, i)[j]);
            float *at = q + (size_t)i * y->cols + j;
            *at = passed + node_row(b, i)[j];
            node_row(y, i)[j] = p * *at;
            passed = (1.0f - p) * *at;
        }
    }
    return y;
}
