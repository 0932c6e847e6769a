/* The output layer: from readouts [n,R] to words. A plug-in table, one file
 * output_*.c each (`model.output`).
 *
 *     output_declare(&o, &p, cfg, &shape);
 *     output_loss(&o, g, readouts, gold, scale, NULL);       training, scoring
 *     output_prepare(&o, &p);                      once the weights stand
 *     output_logits(&o, g, readouts, &request);              search
 *
 * A loss does not need output_prepare() in training. Parameters are named
 * output.*; shapes stand in the files. */
#ifndef ATTN_MODEL_OUTPUTS_H
#define ATTN_MODEL_OUTPUTS_H

#include "graph/ops.h"
#include "nn/params.h"
#include "tensor/packed.h"

struct config;
struct output;

struct output_shape {
    int width;      /* R */
    int vocabulary; /* V */
    int embedding;  /* number of the table [V,E] that is the layer's matrix */
    bool tied;      /* whether it is */
};

/* What search wants to know of the words; zeros: everything. */
struct output_request {
    int best;            /* so many continuations of each sentence; 0: all */
    const double *log_p; // [n] of the hypothesis of each row
    const int *sentence; // [n] whose it is; rows of one stand together

    /* NULL, or the words that each sentence may have (output_gather): a row's
     * column j is then the word index[j] of its sentence's. */
    const struct columns *const *words; // [B]
};

struct output_kind {
    const char *name;

    /* Its logits are log-probabilities: they need no softmax, and words that
     * are not among those asked for may have -INFINITY. */
    bool normalised;

    /* 0, or -1 after reporting. */
    int (*declare)(struct output *o, struct params *p,
                   const struct config *cfg);

    /* NULL: nothing to do. */
    void (*prepare)(struct output *o, const struct params *p,
                    enum precision precision);

    struct loss (*loss)(const struct output *o, struct graph *g, struct node *r,
                        const int *gold, const struct loss_config *config,
                        float *row_nll);

    /* [n,V]; rows do not depend on their neighbours. */
    struct node *(*logits)(const struct output *o, struct graph *g,
                           struct node *r,
                           const struct output_request *request);

    /* Both NULL: the kind cannot compute some words alone. */
    void (*prepare_gather)(struct output *o, const struct params *p);
    struct columns *(*gather)(const struct output *o, struct graph *g,
                              const int *ids, int n);
};

/* The kinds there are: NULL after the last. */
extern const struct output_kind *const outputs[];

struct output {
    const struct output_kind *kind;
    struct output_shape shape;
    float smoothing;
    int W, b;              /* numbers of parameters; W: the table when tied */
    struct packed *turned; /* [R,V] of a tied layer, once prepared */
    float *by_word;        /* [V,R] of one that is not, for gather */

    int clusters; /* adaptive */
    struct output_cluster {
        int P, W, b; /* numbers of parameters */
    } cluster[ADAPTIVE_CLUSTERS];
};

/* 0, or -1 after reporting what does not fit in the configuration. */
int output_declare(struct output *o, struct params *p, const struct config *cfg,
                   const struct output_shape *shape);

/* Makes what search derives from the weights; again after they change. */
void output_prepare(struct output *o, const struct params *p,
                    enum precision precision);
void output_unprepare(struct output *o);

/* The loss of rows r[n,R] whose words are gold[n]; see cross_entropy(). */
struct loss output_loss(const struct output *o, struct graph *g, struct node *r,
                        const int *gold, float scale, float *row_nll);

/* [n,V], a row for each of r, to choose the next words by. */
struct node *output_logits(const struct output *o, struct graph *g,
                           struct node *r,
                           const struct output_request *request);

/* Makes what output_gather() reads, after output_prepare(): false where the
 * kind cannot compute some words alone. */
bool output_prepare_gather(struct output *o, const struct params *p);

/* Words ids[n], rising and kept: for requests, as long as the graph's nodes. */
struct columns *output_gather(const struct output *o, struct graph *g,
                              const int *ids, int n);

/* For kinds: declares output.NAME, zero where it has one row (a bias), else
 * Glorot. */
int output_param(struct params *p, const char *name, int rows, int cols);

#endif
