/* How much the rows of each group of r look at the same:
 *     y_b = |A_b A_b^T - I|^2 (Frobenius), A_b rows b r … (b + 1) r - 1 of a
 * Lin et al. 2017, eq. 8 */
#include <assert.h>

#include "graph/ops.h"
#include "tensor/vec.h"

/* (A A^T - I)_ij of the group that begins with row `from` */
static float gram(const struct node *a, int from, int i, int j)
{
    return vec_dot(node_row(a, from + i), node_row(a, from + j), a->cols) -
           (i == j ? 1.0f : 0.0f);
}

/* dA_i += 4 dy sum_j (A A^T - I)_ij A_j */
static void overlap_backward(struct graph *g, struct node *y)
{
    (void)g;
    struct node *a = y->in[0];
    int r = a->rows / y->rows;
    for (int b = 0; b < y->rows; b++)
        for (int i = 0; i < r; i++)
            for (int j = 0; j < r; j++)
                vec_axpy(node_grad_row(a, b * r + i),
                         4 * y->grad[b] * gram(a, b * r, i, j),
                         node_row(a, b * r + j), (size_t)a->cols);
}

struct node *overlap(struct graph *g, struct node *a, int r)
{
    static const struct op op = { "overlap", overlap_backward };
    assert(a->rows % r == 0);
    struct node *y = graph_node(g, &op, a->rows / r, 1, a, NULL, NULL, NULL);
    for (int b = 0; b < y->rows; b++) {
        y->value[b] = 0;
        for (int i = 0; i < r; i++)
            for (int j = 0; j < r; j++) {
                float x = gram(a, b * r, i, j);
                y->value[b] += x * x;
            }
    }
    return y;
}
