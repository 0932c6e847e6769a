/* A translation model: parameters with names, and what is computed of them.
 *
 * Training and search know models through this header alone; the family
 * (`model.type`, a table) fills it in. A model is constant while it is used:
 * any number of threads may compute with one, each with a graph of its own.
 *
 *     struct model *m = model_new(&cfg, source_size, target_size);
 *     params_initialise(&m->params, seed, scale);
 *     model_bind(m, &gradients, &g);                training: one batch
 *     loss = model_loss(m, &g, &batch, scale, NULL);
 *     graph_backward(&g);
 *
 *     model_prepare(m);                              once the weights stand
 *     model_bind(m, NULL, &g);                       search: some sentences
 *     model_encode(m, &g, &source, &memory);
 *     model_begin(m, &g, &memory, &over, &state);
 *     model_step(m, &g, &memory, &over, ids, n, &state, &step);   … */
#ifndef ATTN_MODEL_MODEL_H
#define ATTN_MODEL_MODEL_H

#include "model/decoder.h"
#include "model/encoder.h"
#include "nn/prepared.h"

struct config;

struct model {
    const struct model_family *family;
    struct params params;
    struct prepared search, training; /* of them; may be empty */
    int source_size, target_size;     /* entries of the vocabularies */
    struct encoder encoder;
    struct decoder decoder;
};

struct model_step {
    struct node *logits;  // [n,V], or of the request's words
    bool normalised;      /* these are log-probabilities; model/outputs.h */
    struct node *weights; // [n,width], NULL: no attention
    struct decoder_state after;
};

/* The weights of every step of a batch, for alignments of given pairs: row r
 * of `weights` belongs to step t, sentence r - first[t] (rows of the batch are
 * sorted by falling target length). */
struct model_trace {
    int steps;
    struct node **weights; // [T] of [alive,width], or NULL
};

/* Allocates the parameters (zeros). The configuration is not kept. NULL after
 * reporting what is wrong in it. */
struct model *model_new(const struct config *cfg, int source_size,
                        int target_size);

/* The same without memory for the parameters, of which only names and shapes
 * are then known: call params_allocate(&m->params) after checking these. */
struct model *model_declare(const struct config *cfg, int source_size,
                            int target_size);
void model_free(struct model *m);

/* Makes what search derives from the weights, in this precision; again after
 * they change. model_unprepare() gives the memory back. */
void model_prepare(struct model *m, enum precision precision);
void model_unprepare(struct model *m);

/* The same for training: before the first update, and then, for each
 * parameter, whenever the weights have changed; and what gives it back. */
void model_train_in(struct model *m, enum precision precision);
void model_prepare_training(struct model *m, int parameter);
void model_stop_training(struct model *m);

/* Makes what model_gather() reads, after model_prepare(); false, without a
 * message, where the output layer cannot compute some words alone. */
bool model_prepare_gather(struct model *m);

/* Binds a graph to the weights and, for training, to gradients. */
void model_bind(const struct model *m, struct gradients *grads,
                struct graph *g);

/* The loss over a batch, summed over its target words, by teacher forcing; with
 * what the encoder's hops cost in `smoothed`.
 * With a training graph gradients of `scale` times the (smoothed) loss start
 * from here. pair_nll[B], if not NULL, gets -log p(target | source) of each
 * row; trace, if not NULL, the weights (memory of the graph). */
struct loss model_loss(const struct model *m, struct graph *g,
                       const struct batch *batch, float scale, double *pair_nll,
                       struct model_trace *trace);

/* The source must live as long as the graph's nodes. */
void model_encode(const struct model *m, struct graph *g,
                  const struct side *source, struct decoder_memory *memory);

/* Words ids[n], rising and kept, to ask for in steps: memory->request.words. */
struct columns *model_gather(const struct model *m, struct graph *g,
                             const int *ids, int n);

void model_begin(const struct model *m, struct graph *g,
                 const struct decoder_memory *memory, const struct ragged *over,
                 struct decoder_state *state);

/* One step for n hypotheses: ids[n] are their last words, `over` their
 * sentences' rows of the memory. */
void model_step(const struct model *m, struct graph *g,
                const struct decoder_memory *memory, const struct ragged *over,
                const int *ids, int n, const struct decoder_state *before,
                struct model_step *step);

#endif
