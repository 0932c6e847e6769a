/* Cho et al. 2014, the reset gate after the matrix (graph/op_gru.c). */
#include "graph/ops.h"
#include "nn/cell.h"

static void step(struct graph *g, const struct cell_weights *w, struct node *a,
                 struct node *const *before, struct node **after)
{
    struct node *h = before[0];
    struct node *gh = cell_state_part(g, w, h);
    after[0] = gru_gates(g, a, gh, h);
}

const struct cell cell_gru = { "gru", 3, 1, INIT_ZERO, true, step };
