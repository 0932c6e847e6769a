/* The recurrent decoder: one step, written once.
 *
 * decoder_step() serves teacher forcing, scoring and beam search. What a step
 * must know of the past is a value, struct decoder_state: nodes with a row for
 * each sentence or hypothesis, which callers view, pick and reorder. What does
 * not depend on the past is computed before, for one step or for all of them
 * at once (decoder_inputs), and so is what nothing in the recurrence depends
 * on (decoder_readout).
 *
 * Parameters: target.embedding [V,E]; decoder.L.* (nn/cell.h); attention.*;
 * readout.*, and what else the style declares; bridge.*; output.*
 * (model/outputs.h). */
#ifndef ATTN_MODEL_DECODER_H
#define ATTN_MODEL_DECODER_H

#include "attention/attention.h"
#include "model/bridge.h"
#include "model/encoder.h"
#include "model/outputs.h"
#include "nn/cell.h"

struct config;
struct decoder;

enum {
    DECODER_FEED = LAYERS * CELL_STATES, /* readout of the step before */
    DECODER_ATTENTION = DECODER_FEED + 1,
    DECODER_STATES = DECODER_ATTENTION + ATTENTION_STATES
};

/* part[l * CELL_STATES + s] is state s of layer l. NULL: not used. */
struct decoder_state {
    struct node *part[DECODER_STATES]; // [n,…]
};

/* The sentences being translated, and what is asked of their words. */
struct decoder_memory {
    struct attention_memory attention;
    struct encoded encoded;
    struct output_request request;
};

/* Of the words before: rows of one step, or of all steps. */
struct decoder_inputs {
    struct node *gates;   // [n,gH] their part of the first cell
    struct node *readout; // [n,R] their part of the readout, or NULL
};

enum { DECODER_FEATURES = 2 };

struct decoder_step {
    struct node *feature[DECODER_FEATURES]; // [n,…] what the readout is of
    struct node *weights;                   // [n,width] or NULL
    struct decoder_state after;
};

/* A style (style_*.c): the order of attention and recurrence. */
struct style {
    const char *name;
    int (*declare)(struct decoder *d, struct params *p,
                   const struct config *cfg);
    void (*step)(const struct decoder *d, struct graph *g,
                 const struct decoder_memory *memory, const struct ragged *over,
                 const struct decoder_inputs *inputs,
                 const struct decoder_state *before, struct decoder_step *step);
    struct node *(*readout)(const struct decoder *d, struct graph *g,
                            const struct decoder_inputs *inputs,
                            const struct stack *feature);
};

extern const struct style *const styles[];

struct decoder {
    const struct style *style;
    struct attention attention;
    struct bridge bridge;
    struct cell_weights cell[LAYERS];
    struct cell_weights second; /* of style conditional */
    const struct readout_kind *readout;
    struct output output;
    int layers, hidden, embedding_width, readout_width;
    bool residual, input_feeding;
    float dropout, word_dropout;
    int embedding; /* numbers of parameters … */
    int readout_state, readout_word, readout_context, readout_bias;
};

/* source_embedding is the number of the encoder's table, for tied: all. */
int decoder_declare(struct decoder *d, struct params *p,
                    const struct config *cfg, const struct encoder *e,
                    int vocabulary);

/* ids[n] of the words before, kept by the graph. */
void decoder_inputs(const struct decoder *d, struct graph *g, const int *ids,
                    int n, struct decoder_inputs *inputs);

/* The state before the first step, a row for each sentence. */
void decoder_begin(const struct decoder *d, struct graph *g,
                   const struct decoder_memory *memory,
                   const struct ragged *over, struct decoder_state *state);

void decoder_step(const struct decoder *d, struct graph *g,
                  const struct decoder_memory *memory,
                  const struct ragged *over,
                  const struct decoder_inputs *inputs,
                  const struct decoder_state *before,
                  struct decoder_step *step);

/* features of n steps -> readouts [n,R], with dropout */
struct node *decoder_readout(const struct decoder *d, struct graph *g,
                             const struct decoder_inputs *inputs,
                             const struct stack *feature);

/* For styles: runs the stacked cells on the first one's pre-activations and
 * its second input (NULL: none), returns the top layer's output. */
struct node *decoder_recur(const struct decoder *d, struct graph *g,
                           struct node *gates, struct node *second,
                           const struct decoder_state *before,
                           struct decoder_state *after);

/* For styles: the layers above the first, on the first one's output. */
struct node *decoder_stack(const struct decoder *d, struct graph *g,
                           struct node *below,
                           const struct decoder_state *before,
                           struct decoder_state *after);

/* For styles: attention with its part of the state. */
struct node *decoder_attend(const struct decoder *d, struct graph *g,
                            const struct decoder_memory *memory,
                            const struct ragged *over, struct node *query,
                            const struct decoder_state *before,
                            struct decoder_step *step);

/* For styles: output of the top layer in a state. */
struct node *decoder_top(const struct decoder *d,
                         const struct decoder_state *state);

#endif
