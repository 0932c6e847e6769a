#include <assert.h>
#include <string.h>

#include "base/profile.h"
#include "graph/ops.h"
#include "tensor/gemm.h"
#include "tensor/vec.h"

struct columns *pick_columns(struct graph *g, const float *rows, const float *b,
                             int k, const int *index, int size)
{
    size_t K = (size_t)k, L = (size_t)size;
    struct columns *c = arena_alloc(&g->arena, sizeof(*c));
    float *w = arena_array(&g->arena, L * K, sizeof(*w));
    float *bias = arena_array(&g->arena, L, sizeof(*bias));
    struct arena_mark mark = graph_mark(g);
    float *picked = arena_array(&g->arena, L * K, sizeof(*picked));
    for (size_t j = 0; j < L; j++) {
        vec_copy(picked + j * K, rows + (size_t)index[j] * K, K);
        bias[j] = b[index[j]];
    }
    vec_transpose(w, picked, size, k);
    graph_rewind(g, mark);
    *c = (struct columns){ .size = size, .index = index, .w = w, .b = bias };
    return c;
}

static int widest(const struct columns *const *columns, const int *which, int n)
{
    int most = 0;
    for (int i = 0; i < n; i++) {
        int size = columns[which[i]]->size;
        most = size > most ? size : most;
    }
    return most;
}

/* Rows first … first + m - 1, which have the same columns: multiplied as a
 * narrow matrix at the place of the first, then moved apart. */
static void multiply(const struct node *x, const struct columns *c, int first,
                     int m, const struct node *to)
{
    float *y = node_row(to, first);
    size_t L = (size_t)c->size, width = (size_t)to->cols;
    for (int i = 0; i < m; i++)
        vec_copy(y + (size_t)i * L, c->b, L);
    gemm_rows(m, c->size, x->cols, node_row(x, first), c->w, true, y);
    for (int i = m - 1; i > 0 && L < width; i--)
        memmove(y + (size_t)i * width, y + (size_t)i * L, L * sizeof(*y));
}

struct node *linear_columns(struct graph *g, struct node *x,
                            const struct columns *const *columns,
                            const int *which)
{
    static const struct op op = { "linear_columns", NULL };
    int n = x->rows;
    assert(!g->training);
    struct node *y = graph_node(g, &op, n, widest(columns, which, n), x, NULL,
                                NULL, NULL);
    for (int first = 0, last; first < n; first = last) {
        const struct columns *c = columns[which[first]];
        last = first + 1;
        while (last < n && which[last] == which[first])
            last++;
        multiply(x, c, first, last - first, y);
        profile_work(g->profile, 2.0 * (last - first) * x->cols * c->size);
    }
    return y;
}
