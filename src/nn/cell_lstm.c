/* Hochreiter & Schmidhuber 1997, forget bias 1 at start (graph/op_lstm.c). */
#include "graph/ops.h"
#include "nn/cell.h"

/* The memory as the output gate finds it. */
static struct node *shown(struct graph *g, const struct cell_weights *w,
                          struct node *memory)
{
    if (w->cell_gain < 0)
        return memory;
    return layer_norm(g, memory, param(g, w->cell_gain),
                      param(g, w->cell_bias));
}

static void step(struct graph *g, const struct cell_weights *w, struct node *a,
                 struct node *const *before, struct node **after)
{
    a = cell_add_state_part(g, w, a, before[0]);
    after[1] = lstm_cell(g, a, before[1]);
    after[0] = lstm_state(g, a, shown(g, w, after[1]));
}

const struct cell cell_lstm = { "lstm", 4, 2, INIT_FORGET, false, step };
