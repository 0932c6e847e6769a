/* From the encoder's end to the decoder's first state, `model.bridge`:
 *
 *     dense   tanh([last forward; first backward] W + b)
 *     mean    tanh(mean of the memory W + b)      (Nematus)
 *     copy    the encoder's states, layer by layer (Luong et al. 2015)
 *     zero    zeros
 *
 * Parameters, where there are any: bridge.L.W [M,H], bridge.L.b [1,H] for layer
 * L, and bridge.L.cell.W, bridge.L.cell.b for a second state. */
#ifndef ATTN_MODEL_BRIDGE_H
#define ATTN_MODEL_BRIDGE_H

#include "graph/ops.h"
#include "model/encoder.h"

struct bridge_kind {
    const char *name;
    bool dense, mean, copy;
};

extern const struct bridge_kind bridge_kinds[]; /* name NULL after the last */

struct bridge {
    const struct bridge_kind *kind;
    int layers, states, hidden;
    int W[LAYERS][CELL_STATES], b[LAYERS][CELL_STATES];
};

int bridge_declare(struct bridge *b, struct params *p, const struct config *cfg,
                   const struct encoder *e, const struct cell *cell);

/* State s of layer l before the first step -> [B,H]. */
struct node *bridge_state(const struct bridge *b, struct graph *g,
                          const struct encoded *encoded,
                          const struct ragged *over, int sentences, int layer,
                          int state);

#endif
