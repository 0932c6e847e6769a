/* What the styles share of the layer before the output layer. */
#ifndef ATTN_MODEL_READOUT_H
#define ATTN_MODEL_READOUT_H

#include "graph/ops.h"
#include "nn/params.h"

struct config;
struct decoder;
struct decoder_inputs;

/* tanh, linear, or maxout over pairs (Goodfellow et al. 2013), whose matrices
 * have 2 R columns for R units. */
struct readout_kind {
    const char *name;
    int pieces;
    struct node *(*activate)(struct graph *g, struct node *x);
};

extern const struct readout_kind readout_kinds[]; /* name NULL after the last */

/* The kind of decoder.readout, or NULL after reporting. */
const struct readout_kind *readout_named(const struct config *cfg);

/* Declares readout.NAME for a layer of d->readout_width units: zero where it
 * has one row (a bias), else Glorot. */
int readout_param(const struct decoder *d, struct params *p, const char *name,
                  int rows);

struct node *readout_activate(const struct decoder *d, struct graph *g,
                              struct node *t);

/* The readout of state, word before and context, which `bahdanau` and
 * `conditional` share: f(s_t W_s + E y_{t-1} W_y + c_t W_c + b). Declares
 * readout.W_s [H,R], readout.W_y [E,R], readout.W_c [M,R], readout.b [1,R]; R
 * is decoder.readout_size, or else E. */
void readout_deep_declare(struct decoder *d, struct params *p,
                          const struct config *cfg);
struct node *readout_deep(const struct decoder *d, struct graph *g,
                          const struct decoder_inputs *inputs,
                          const struct stack *feature);

#endif
