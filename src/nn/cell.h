/* Recurrent cells: a plug-in table, one file cell_*.c each.
 *
 * A cell has `gates` pre-activations of H units, side by side, and one or two
 * states of H units: the first is its output, a second the LSTM's memory.
 * What does not depend on the state, x W + b, is computed for all steps in one
 * product outside the time loop (cell_inputs); step() does the rest.
 *
 * Parameters, for a prefix such as "decoder.0":
 *     PREFIX.W [I,gH]  input        PREFIX.U [H,gH]  state    PREFIX.b [gH]
 *     PREFIX.C [M,gH]  a second input that depends on the state (context)
 *     PREFIX.c [3H]    GRU only: bias of the state's part */
#ifndef ATTN_NN_CELL_H
#define ATTN_NN_CELL_H

#include "nn/params.h"

enum { CELL_STATES = 2 };

struct cell_weights;

struct cell {
    const char *name;
    int gates, states;
    enum init bias;
    bool state_bias; /* has PREFIX.c */

    /* From pre-activations a[n,gH] without the state's part (may be written
     * over) and the states before, [n,H] each, to the states after. */
    void (*step)(struct graph *g, const struct cell_weights *w, struct node *a,
                 struct node *const *before, struct node **after);
};

/* The cells there are, for tables of names: NULL after the last. */
extern const struct cell *const cells[];

struct cell_weights {
    const struct cell *cell;
    int hidden;
    int W, C, U, b, c; /* numbers of parameters, -1: none */
};

/* Declares the parameters; context 0: no second input. */
void cell_declare(struct cell_weights *w, const struct cell *cell,
                  struct params *p, const char *prefix, int input, int context,
                  int hidden);

/* x[n,I] W + b */
struct node *cell_inputs(struct graph *g, const struct cell_weights *w,
                         struct node *x);

/* One step; context[n,M] is NULL where the cell has no second input. */
void cell_step(struct graph *g, const struct cell_weights *w, struct node *a,
               struct node *context, struct node *const *before,
               struct node **after);

#endif
