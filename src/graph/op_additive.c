/* Additive scores, which compare a query with a key in a hidden layer, and
 * what may be done to them: a normalised v, and coverage. */
#include <assert.h>
#include <math.h>

#include "graph/ragged.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

/* sum_a v_a tanh(q_a + k_a), in blocks that stay in the first cache */
enum { BLOCK = 256 };

INLINE float additive_score(int A, const float *restrict q,
                            const float *restrict k, const float *restrict v)
{
    float t[BLOCK], sum = 0;
    for (int from = 0; from < A; from += BLOCK) {
        int n = A - from < BLOCK ? A - from : BLOCK;
        for (int a = 0; a < n; a++)
            t[a] = v[from + a] * approx_tanh(q[from + a] + k[from + a]);
        sum += inline_sum(t, n);
    }
    return sum;
}

KERNEL static void additive_row(int A, int S, const float *q, const float *k,
                                const float *v, float *e)
{
    for (int j = 0; j < S; j++)
        e[j] = additive_score(A, q, k + (size_t)j * A, v);
}

/* t = tanh(q + k): dv += de t; du = de v (1 - t^2); dq += du; dk += du */
KERNEL static void additive_back(int A, float de, const float *restrict q,
                                 const float *restrict k,
                                 const float *restrict v, float *restrict dq,
                                 float *restrict dk, float *restrict dv)
{
    for (int a = 0; a < A; a++) {
        float t = approx_tanh(q[a] + k[a]);
        float du = de * v[a] * fma32(-t, t, 1.0f);
        dv[a] = fma32(de, t, dv[a]);
        dq[a] += du;
        dk[a] += du;
    }
}

static float *gradient_or(const struct node *x, int row, float *sink)
{
    return x->grad ? node_grad_row(x, row) : sink;
}

static void additive_backward(struct graph *g, struct node *y)
{
    const struct ragged *over = y->extra;
    struct node *q = y->in[0], *k = y->in[1], *v = y->in[2];
    size_t A = (size_t)q->cols;
    float *sink = arena_array(&g->arena, 3 * A, sizeof(*sink));
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < over->length[i]; j++) {
            float de = node_grad_row(y, i)[j];
            int row = over->start[i] + j;
            if (de != 0)
                additive_back(q->cols, de, node_row(q, i), node_row(k, row),
                              v->value, gradient_or(q, i, sink),
                              gradient_or(k, row, sink + A),
                              gradient_or(v, 0, sink + 2 * A));
        }
}

struct node *additive_scores(struct graph *g, struct node *q, struct node *k,
                             struct node *v, const struct ragged *over)
{
    static const struct op op = { "additive_scores", additive_backward };
    int A = q->cols;
    assert(k->cols == A && v->cols == A && v->rows == 1);
    struct node *y = graph_node(g, &op, q->rows, over->width, q, k, v, NULL);
    y->extra = ragged_keep(g, over);
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++)
        additive_row(A, over->length[i], node_row(q, i),
                     node_row(k, over->start[i]), v->value, node_row(y, i));
    return y;
}

/* y = g v / |v|; with u = v / |v|: dg += dy . u; dv += g (dy - (dy . u) u) / |v|
 * Salimans & Kingma 2016, eqs. 2 and 3 */
static float length(const struct node *v)
{
    return max32(sqrtf(vec_dot(v->value, v->value, v->cols)), 1e-12f);
}

static void direction_backward(struct graph *graph, struct node *y)
{
    (void)graph;
    struct node *v = y->in[0], *g = y->in[1];
    float norm = length(v);
    float along = vec_dot(y->grad, v->value, v->cols) / norm;
    if (g->grad)
        g->grad[0] += along;
    if (!v->grad)
        return;
    float share = g->value[0] / norm;
    vec_axpy(v->grad, share, y->grad, node_size(v));
    vec_axpy(v->grad, -share * along / norm, v->value, node_size(v));
}

struct node *normalised(struct graph *graph, struct node *v, struct node *g)
{
    static const struct op op = { "normalised", direction_backward };
    assert(v->rows == 1 && g->rows == 1 && g->cols == 1);
    struct node *y = graph_node(graph, &op, 1, v->cols, v, g, NULL, NULL);
    vec_copy(y->value, v->value, node_size(y));
    vec_scale(y->value, g->value[0] / length(v), node_size(y));
    return y;
}

KERNEL static void shift_query(int A, const float *restrict q, float c,
                               const float *restrict w, float *restrict out)
{
    for (int a = 0; a < A; a++)
        out[a] = fma32(c, w[a], q[a]);
}

/* With the du of additive_back: dq += du; dw += c du; dc += du . w */
static void covered_backward(struct graph *g, struct node *y)
{
    const struct ragged *over = y->extra;
    struct node *q = y->in[0], *k = y->in[1], *vw = y->in[2], *c = y->in[3];
    int A = q->cols;
    size_t n = (size_t)A;
    float *t = arena_array(&g->arena, 6 * n, sizeof(*t));
    float *du = t + n, *sink = t + 2 * n;
    const float *w = vw->value + n;
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < over->length[i]; j++) {
            float covered = node_row(c, i)[ragged_first(over, i) + j];
            float de = node_grad_row(y, i)[j];
            int row = over->start[i] + j;
            if (de == 0)
                continue;
            vec_zero(du, n);
            shift_query(A, node_row(q, i), covered, w, t);
            additive_back(A, de, t, node_row(k, row), vw->value, du,
                          gradient_or(k, row, sink),
                          gradient_or(vw, 0, sink + n));
            vec_add(gradient_or(q, i, sink + 2 * n), du, n);
            vec_axpy(gradient_or(vw, 1, sink + 3 * n), covered, du, n);
            if (c->grad)
                node_grad_row(c, i)[ragged_first(over, i) + j] += vec_dot(du, w,
                                                                          A);
        }
}

struct node *covered_scores(struct graph *g, struct node *q, struct node *k,
                            struct node *vw, struct node *c,
                            const struct ragged *over)
{
    static const struct op op = { "covered_scores", covered_backward };
    int A = q->cols;
    assert(k->cols == A && vw->cols == A && vw->rows == 2);
    struct node *y = graph_node(g, &op, q->rows, over->width, q, k, vw, c);
    float *t = arena_array(&g->arena, (size_t)A, sizeof(*t));
    y->extra = ragged_keep(g, over);
    vec_zero(y->value, node_size(y));
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < over->length[i]; j++) {
            shift_query(A, node_row(q, i),
                        node_row(c, i)[ragged_first(over, i) + j],
                        vw->value + A, t);
            additive_row(A, 1, t, node_row(k, over->start[i] + j), vw->value,
                         node_row(y, i) + j);
        }
    return y;
}
