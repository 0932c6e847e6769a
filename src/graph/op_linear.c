#include <assert.h>

#include "base/profile.h"
#include "graph/ops.h"
#include "tensor/matmul.h"
#include "tensor/packed.h"
#include "tensor/vec.h"

static bool is_leaf(const struct node *w)
{
    return !w->op;
}

/* dw += x^T dy, later where w is a leaf. */
static void weight_gradient(struct graph *g, struct node *w,
                            const struct node *x, const struct node *y)
{
    if (!w->grad)
        return;
    if (is_leaf(w))
        graph_note_product(g, w, x, y);
    else
        matmul_tn(graph_multiplier(g), w->precision, w->rows, w->cols, x->rows,
                  x->value, y->grad, w->grad, w->grad);
}

/* db += sum over the rows of dy */
static void bias_gradient(struct node *b, const struct node *y)
{
    if (!b || !b->grad)
        return;
    for (int i = 0; i < y->rows; i++)
        vec_add(b->grad, node_grad_row(y, i), (size_t)y->cols);
}

/* Few rows against a transposed weight are slow. A weight that many steps of
 * a recurrence use is turned once instead. */
static bool worth_turning(int rows, const struct node *w)
{
    return is_leaf(w) && w->uses >= 6 && rows < 192;
}

static void turn(struct graph *g, int rows, struct node *w)
{
    if (w->turned || w->packed_turned || !worth_turning(rows, w))
        return;
    w->turned = arena_alloc(&g->arena, node_size(w) * sizeof(float));
    vec_transpose(w->turned, w->value, w->rows, w->cols);
}

/* dx += dy w^T */
static void input_gradient(struct graph *g, struct node *x, struct node *w,
                           const struct node *y)
{
    if (!x->grad)
        return;
    turn(g, x->rows, w);
    profile_work(g->profile, 2.0 * x->rows * x->cols * y->cols);
    matmul_fn *multiply = worth_turning(x->rows, w) ? matmul_nn : matmul_nt;
    if (w->packed_turned)
        packed_product(w->packed_turned, graph_multiplier(g), x->rows, y->grad,
                       x->grad, x->grad);
    else
        multiply(graph_multiplier(g), w->precision, x->rows, x->cols, y->cols,
                 y->grad, multiply == matmul_nn ? w->turned : w->value, x->grad,
                 x->grad);
}

/* dx += dy w^T; dw += x^T dy; db += sum dy */
static void linear_backward(struct graph *g, struct node *y)
{
    struct node *x = y->in[0], *w = y->in[1], *b = y->in[2];
    input_gradient(g, x, w, y);
    weight_gradient(g, w, x, y);
    bias_gradient(b, y);
}

/* y (+)= x w, or y = x w + b */
static void forward(struct graph *g, const struct node *x, struct node *w,
                    const struct node *b, bool add_to, struct node *to)
{
    float *y = to->value;
    const float *start = b ? b->value : add_to ? y : NULL;
    matmul_fn *multiply = g->training ? matmul_nn : matmul_alone;
    w->uses++;
    profile_work(g->profile, 2.0 * x->rows * w->cols * x->cols);
    if (w->packed)
        packed_product(w->packed, graph_multiplier(g), x->rows, x->value, start,
                       y);
    else
        multiply(graph_multiplier(g), w->precision, x->rows, w->cols, x->cols,
                 x->value, w->value, start, y);
}

/* graph_node or graph_spent_node */
typedef struct node *node_fn(struct graph *g, const struct op *op, int rows,
                             int cols, struct node *a, struct node *b,
                             struct node *c, struct node *d);

static struct node *affine(struct graph *g, struct node *x, struct node *w,
                           struct node *b, node_fn *make)
{
    static const struct op op = { "linear", linear_backward };
    assert(x->cols == w->rows);
    assert(!b || (b->rows == 1 && b->cols == w->cols));
    struct node *y = make(g, &op, x->rows, w->cols, x, w, b, NULL);
    forward(g, x, w, b, false, y);
    return y;
}

struct node *linear(struct graph *g, struct node *x, struct node *w,
                    struct node *b)
{
    return affine(g, x, w, b, graph_node);
}

struct node *linear_spent(struct graph *g, struct node *x, struct node *w,
                          struct node *b)
{
    return affine(g, x, w, b, graph_spent_node);
}

/* dx += dy w^T; dw += x^T dy; the gradient of the rest is dy itself */
static void into_backward(struct graph *g, struct node *y)
{
    struct node *x = y->in[0], *w = y->in[1];
    input_gradient(g, x, w, y);
    weight_gradient(g, w, x, y);
}

struct node *linear_into(struct graph *g, struct node *y, struct node *x,
                         struct node *w)
{
    static const struct op op = { "linear_into", into_backward };
    assert(x->cols == w->rows && y->rows == x->rows && y->cols == w->cols);
    struct node *z = graph_in_place(g, &op, y, x, w);
    forward(g, x, w, NULL, true, z);
    return z;
}

/* The rows of a stack, for as long as a product takes. */
static struct node whole_stack(struct graph *g, const struct stack *x)
{
    struct node whole = { .rows = stack_height(x), .cols = x->parts[0]->cols };
    whole.value = arena_alloc(&g->arena, node_size(&whole) * sizeof(float));
    return whole;
}

/* dx += dy w^T, of all parts at once */
static void stack_gradient(struct graph *g, const struct stack *x,
                           struct node *w, const struct node *y)
{
    if (!stack_wanting(x)->grad)
        return;
    turn(g, y->rows, w); /* which stays */
    struct arena_mark mark = arena_mark(&g->arena);
    struct node whole = whole_stack(g, x);
    whole.grad = whole.value;
    vec_zero(whole.grad, node_size(&whole));
    input_gradient(g, &whole, w, y);
    stack_add_gradients(x, whole.grad);
    arena_rewind(&g->arena, mark);
}

/* dx += dy w^T; dw += x^T dy; the gradient of the rest is dy itself */
static void stack_into_backward(struct graph *g, struct node *y)
{
    const struct stack *x = y->extra;
    stack_gradient(g, x, y->in[0], y);
    for (int i = 0, first = 0; i < x->count; first += x->parts[i++]->rows)
        weight_gradient(g, y->in[0], x->parts[i],
                        graph_view(g, y, first, x->parts[i]->rows));
}

struct node *linear_stack_into(struct graph *g, struct node *y,
                               const struct stack *x, struct node *w)
{
    static const struct op op = { "linear_stack_into", stack_into_backward };
    if (x->count == 1)
        return linear_into(g, y, x->parts[0], w);
    struct node *z = graph_in_place(g, &op, y, w, stack_wanting(x));
    struct stack *kept = arena_alloc(&g->arena, sizeof(*kept));
    *kept = *x;
    z->extra = kept;
    struct arena_mark mark = arena_mark(&g->arena);
    struct node whole = whole_stack(g, x);
    assert(whole.rows == y->rows && whole.cols == w->rows);
    stack_values(x, whole.value);
    forward(g, &whole, w, NULL, true, z);
    arena_rewind(&g->arena, mark);
    return z;
}
