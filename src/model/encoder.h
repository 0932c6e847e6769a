/* The recurrent encoder: stacked layers, each read in one or both directions.
 *
 * Parameters: source.embedding [V,E]; encoder.L.forward.* and
 * encoder.L.backward.* (nn/cell.h). Layer 0 reads the embeddings, layer L the
 * output [forward; backward] of layer L-1. Self-attention comes on top
 * (model/self.h). */
#ifndef ATTN_MODEL_ENCODER_H
#define ATTN_MODEL_ENCODER_H

#include "corpus/batch.h"
#include "graph/ops.h"
#include "model/self.h"
#include "nn/cell.h"

struct config;

enum { LAYERS = 16, DIRECTIONS = 2 };

struct encoder {
    int embedding;                 /* number of the table */
    int layers, directions, width; /* width: M */
    bool residual;
    float dropout, word_dropout;
    struct cell_weights cell[LAYERS][DIRECTIONS];
    struct self_attention self;
};

struct encoded {
    struct node *memory; // [N,M], sentence after sentence

    /* The rows of each sentence: words, but for self-attention with hops. */
    int sentences;
    const int *start, *length; // [B]
    int width;                 /* the longest */

    /* With hops: what each row of the memory has looked at. NULL: row j of a
     * sentence is its word j. */
    struct node *hops; // [N,S]

    /* Where each layer stopped: [last forward; first backward] state, and the
     * same of a second state (LSTM's memory), which is NULL without one. */
    struct node *last[LAYERS][CELL_STATES]; // [B,M]
};

/* 0, or -1 after reporting what does not fit in the configuration. */
int encoder_declare(struct encoder *e, struct params *p,
                    const struct config *cfg, int vocabulary);

/* The ids of the source must live as long as the graph. */
void encoder_run(const struct encoder *e, struct graph *g,
                 const struct side *source, struct encoded *out);

static inline struct ragged encoded_rows(const struct encoded *e)
{
    return (struct ragged){ e->start, e->length, e->width, NULL };
}

#endif
