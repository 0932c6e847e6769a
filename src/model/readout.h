/* What the styles share of the layer before the output layer. */
#ifndef ATTN_MODEL_READOUT_H
#define ATTN_MODEL_READOUT_H

#include "graph/ops.h"
#include "nn/params.h"

struct decoder;

/* Declares readout.NAME: zero where it has one row (a bias), else Glorot. */
int readout_param(struct params *p, const char *name, int rows, int cols);

/* tanh or nothing, as decoder.readout says. */
struct node *readout_activate(const struct decoder *d, struct graph *g,
                              struct node *t);

#endif
