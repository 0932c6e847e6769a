/* Hochreiter & Schmidhuber 1997, forget bias 1 at start (graph/op_lstm.c). */
#include "graph/ops.h"
#include "nn/cell.h"

static void step(struct graph *g, const struct cell_weights *w, struct node *a,
                 struct node *const *before, struct node **after)
{
    a = linear_into(g, a, before[0], param(g, w->U));
    after[1] = lstm_cell(g, a, before[1]);
    after[0] = lstm_state(g, a, after[1]);
}

const struct cell cell_lstm = { "lstm", 4, 2, INIT_FORGET, false, step };
