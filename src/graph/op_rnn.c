/* h' = tanh(a)                                             Elman 1990
 *
 * On the way back da takes the place of a. */
#include "graph/ops.h"
#include "tensor/kernel.h"
#include "tensor/vec.h"

/* da = dy (1 - y^2) */
KERNEL static void state_gradient(float *restrict da, const float *restrict dy,
                                  const float *restrict y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        da[i] = dy[i] * fma32(-y[i], y[i], 1.0f);
}

static void state_backward(struct graph *g, struct node *y)
{
    (void)g;
    state_gradient(y->in[0]->value, y->grad, y->value, node_size(y));
    node_hand_back(y->in[0], 0, y->cols);
}

struct node *rnn_state(struct graph *g, struct node *a)
{
    static const struct op op = { "rnn_state", state_backward };
    struct node *y = graph_node(g, &op, a->rows, a->cols, a, NULL, NULL, NULL);
    vec_tanh(y->value, a->value, node_size(y));
    return y;
}
