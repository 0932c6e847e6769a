/* Moving rows and columns about. */
#include <assert.h>

#include "graph/ops.h"
#include "tensor/vec.h"

static void columns_backward(struct graph *g, struct node *y)
{
    (void)g;
    int first = *(const int *)y->extra;
    for (int i = 0; i < y->rows; i++)
        vec_add(node_grad_row(y->in[0], i) + first, node_grad_row(y, i),
                (size_t)y->cols);
}

struct node *split_columns(struct graph *g, struct node *x, int first, int cols)
{
    static const struct op op = { "split_columns", columns_backward };
    assert(first >= 0 && first + cols <= x->cols);
    struct node *y = graph_node(g, &op, x->rows, cols, x, NULL, NULL, NULL);
    int *kept = arena_alloc(&g->arena, sizeof(*kept));
    *kept = first;
    y->extra = kept;
    for (int i = 0; i < x->rows; i++)
        vec_copy(node_row(y, i), node_row(x, i) + first, (size_t)cols);
    return y;
}

static void heads_backward(struct graph *g, struct node *y)
{
    (void)g;
    struct node *x = y->in[0];
    int d = y->cols;
    for (int i = 0; i < x->rows; i++)
        for (int k = 0; k < x->cols / d; k++)
            vec_add(node_grad_row(x, i) + k * d,
                    node_grad_row(y, k * x->rows + i), (size_t)d);
}

struct node *split_heads(struct graph *g, struct node *x, int heads)
{
    static const struct op op = { "split_heads", heads_backward };
    assert(x->cols % heads == 0);
    int d = x->cols / heads;
    struct node *y = graph_node(g, &op, heads * x->rows, d, x, NULL, NULL,
                                NULL);
    for (int i = 0; i < x->rows; i++)
        for (int k = 0; k < heads; k++)
            vec_copy(node_row(y, k * x->rows + i), node_row(x, i) + k * d,
                     (size_t)d);
    return y;
}

/* dx[index_i] += dy_i */
static void pick_backward(struct graph *g, struct node *y)
{
    (void)g;
    const int *index = y->extra;
    struct node *x = y->in[0];
    for (int i = 0; i < y->rows; i++)
        if (index[i] >= 0)
            vec_add(node_grad_row(x, index[i]), node_grad_row(y, i),
                    (size_t)y->cols);
}

struct node *pick_rows(struct graph *g, struct node *x, const int *index, int n)
{
    static const struct op op = { "pick_rows", pick_backward };
    struct node *y = graph_node(g, &op, n, x->cols, x, NULL, NULL, NULL);
    y->extra = (void *)(uintptr_t)index;
    for (int i = 0; i < n; i++) {
        assert(index[i] < x->rows);
        if (index[i] < 0)
            vec_zero(node_row(y, i), (size_t)y->cols);
        else
            vec_copy(node_row(y, i), node_row(x, index[i]), (size_t)y->cols);
    }
    return y;
}

static void stack_backward(struct graph *g, struct node *y)
{
    (void)g;
    stack_add_gradients(y->extra, y->grad);
}

struct node *stack_rows(struct graph *g, const struct stack *x)
{
    static const struct op op = { "stack_rows", stack_backward };
    if (x->count == 1)
        return x->parts[0];
    struct node *wanting = stack_wanting(x);
    struct node *y = graph_node(g, &op, stack_height(x), wanting->cols, wanting,
                                NULL, NULL, NULL);
    struct stack *kept = arena_alloc(&g->arena, sizeof(*kept));
    *kept = *x;
    y->extra = kept;
    stack_values(x, y->value);
    return y;
}

/* Where the gradients of picked rows go: side after side, NULL: nowhere. */
struct picked {
    int sides;
    int cols[NODE_INPUTS];
    float **grad; // [n sides]
};

static void stacked_backward(struct graph *g, struct node *y)
{
    (void)g;
    const struct picked *p = y->extra;
    float *const *dx = p->grad;
    for (int i = 0; i < y->rows; i++) {
        const float *dy = node_grad_row(y, i);
        for (int k = 0; k < p->sides; dy += p->cols[k++], dx++)
            if (*dx)
                vec_add(*dx, dy, (size_t)p->cols[k]);
    }
}

/* For each row of a stack, the part it is in and which row of that it is. */
struct place {
    struct node *part;
    int row;
};

static const struct place *places(struct graph *g, const struct stack *of,
                                  int *rows)
{
    *rows = stack_height(of);
    struct place *list = arena_array(&g->arena, (size_t)*rows, sizeof(*list));
    for (int i = 0, k = 0; i < of->count; i++)
        for (int r = 0; r < of->parts[i]->rows; r++)
            list[k++] = (struct place){ of->parts[i], r };
    return list;
}

/* Fills the columns from `first` on. */
static void pick_side(struct graph *g, struct node *y,
                      const struct picks *picks, int side, int first)
{
    int rows;
    const struct place *place = places(g, &picks->of, &rows);
    const struct picked *p = y->extra;
    for (int i = 0; i < y->rows; i++) {
        assert(picks->index[i] >= 0 && picks->index[i] < rows);
        const struct place *from = &place[picks->index[i]];
        vec_copy(node_row(y, i) + first, node_row(from->part, from->row),
                 (size_t)p->cols[side]);
        p->grad[i * p->sides + side] = from->part->grad
                                           ? node_grad_row(from->part,
                                                           from->row)
                                           : NULL;
    }
}

struct node *pick_stacked(struct graph *g, const struct picks *picks, int sides,
                          int n)
{
    static const struct op op = { "pick_stacked", stacked_backward };
    struct picked *p = arena_alloc(&g->arena, sizeof(*p));
    struct node *in[NODE_INPUTS] = { NULL };
    int cols = 0;
    assert(sides > 0 && sides <= NODE_INPUTS);
    p->sides = sides;
    p->grad = arena_array(&g->arena, (size_t)(n * sides), sizeof(*p->grad));
    for (int k = 0; k < sides; k++) {
        in[k] = stack_wanting(&picks[k].of);
        p->cols[k] = in[k]->cols;
        cols += in[k]->cols;
    }
    struct node *y = graph_node(g, &op, n, cols, in[0], in[1], in[2], in[3]);
    y->extra = p;
    for (int k = 0, first = 0; k < sides; first += p->cols[k++])
        pick_side(g, y, &picks[k], k, first);
    return y;
}

/* d table[ids_i] += dy_i, later */
static void lookup_backward(struct graph *g, struct node *y)
{
    graph_note_lookup(g, y->in[0], y->extra, y);
}

struct node *lookup(struct graph *g, struct node *table, const int *ids, int n)
{
    static const struct op op = { "lookup", lookup_backward };
    struct node *y = graph_node(g, &op, n, table->cols, table, NULL, NULL,
                                NULL);
    y->extra = (void *)(uintptr_t)ids;
    for (int i = 0; i < n; i++) {
        assert(ids[i] >= 0 && ids[i] < table->rows);
        vec_copy(node_row(y, i), node_row(table, ids[i]), (size_t)y->cols);
    }
    return y;
}
