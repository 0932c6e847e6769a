/* h' = tanh(x W + b + h U), Elman 1990 (graph/op_rnn.c) */
#include "graph/ops.h"
#include "nn/cell.h"

static void step(struct graph *g, const struct cell_weights *w, struct node *a,
                 struct node *const *before, struct node **after)
{
    a = cell_add_state_part(g, w, a, before[0]);
    after[0] = rnn_state(g, a);
}

const struct cell cell_rnn = { "rnn", 1, 1, INIT_ZERO, false, step };
