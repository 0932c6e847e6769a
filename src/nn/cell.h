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
 *     PREFIX.c [3H]    GRU only: bias of the state's part
 *
 * With layer normalisation (Ba, Kiros & Hinton 2016, sec. 3.1; parts as in the
 * supplement's LSTM) the two parts of a pre-activation are normalised before
 * they are added, each as one vector of gH units; biases come after:
 *     x W + context C + b    becomes  LN(x W + context C; W_gain) + b
 *     h U (+ c)              becomes  LN(h U; U_gain) (+ c)
 * and what an LSTM shows of its memory is o tanh(LN(memory; cell_gain) +
 * cell_bias). Then there are also, ones and zeros at the start:
 *     PREFIX.W_gain [gH]       PREFIX.U_gain [gH]
 *     PREFIX.cell_gain [H]     PREFIX.cell_bias [H]     LSTM only */
#ifndef ATTN_NN_CELL_H
#define ATTN_NN_CELL_H

#include "nn/params.h"

enum { CELL_STATES = 2 };

struct cell_weights;
struct config;

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
    int W_gain, U_gain, cell_gain, cell_bias;
};

struct cell_shape {
    int input, context, hidden; /* context 0: no second input */
    bool layer_norm;
    bool at_once; /* cell_inputs() of all steps together */
};

/* Whether so many units can be normalised: 0, or -1 after reporting under the
 * key. */
int cell_check_norm(const struct cell *cell, int hidden,
                    const struct config *cfg, const char *key);

/* Declares the parameters. */
void cell_declare(struct cell_weights *w, const struct cell *cell,
                  struct params *p, const char *prefix,
                  const struct cell_shape *shape);

/* The part of the pre-activations that does not depend on the state: x[n,I] W
 * + b, normalised; but x W alone where a second input is still to be added
 * before it is. It is for one cell_step(), or, row by row, for the steps of one
 * recurrence, which use it up. */
struct node *cell_inputs(struct graph *g, const struct cell_weights *w,
                         struct node *x);

/* One step; context[n,M] is NULL where the cell has no second input. */
void cell_step(struct graph *g, const struct cell_weights *w, struct node *a,
               struct node *context, struct node *const *before,
               struct node **after);

/* For step(): the state's part h U + c of the pre-activations, and the same
 * added to a, in the place of a. */
struct node *cell_state_part(struct graph *g, const struct cell_weights *w,
                             struct node *h);
struct node *cell_add_state_part(struct graph *g, const struct cell_weights *w,
                                 struct node *a, struct node *h);

#endif
