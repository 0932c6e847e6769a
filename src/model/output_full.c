/* All words at once: logits = r W + b, with W [R,V] or the transpose of the
 * target embedding [V,R] (Press & Wolf 2017), b [1,V]. */
#include <stdlib.h>

#include "base/alloc.h"
#include "config/config.h"
#include "model/outputs.h"
#include "tensor/vec.h"

static int declare(struct output *o, struct params *p, const struct config *cfg)
{
    int V = o->shape.vocabulary, R = o->shape.width;
    o->b = output_param(p, "b", 1, V);
    o->W = o->shape.tied ? o->shape.embedding : output_param(p, "W", R, V);
    if (o->shape.tied && R != cfg->model.embedding)
        return config_error(cfg, "model.tied_embeddings",
                            "the output layer reads %d units, but an "
                            "embedding has %d; set decoder.readout_size to %d",
                            R, cfg->model.embedding, cfg->model.embedding);
    return 0;
}

/* A tied layer [V,R] turned to [R,V]. */
static void prepare(struct output *o, const struct params *p,
                    enum precision precision)
{
    if (!o->shape.tied)
        return;
    const struct param *table = &p->list[o->W];
    o->turned = packed_new(precision, table->cols, table->rows);
    packed_fill(o->turned, p->values + table->offset, true);
}

/* W [R,V], also of a tied layer. */
static struct node *matrix(const struct output *o, struct graph *g)
{
    if (!o->shape.tied)
        return param(g, o->W);
    struct node *W = graph_leaf(g, o->shape.width, o->shape.vocabulary, NULL,
                                NULL);
    W->packed = o->turned;
    return W;
}

static struct loss loss(const struct output *o, struct graph *g, struct node *r,
                        const int *gold, const struct loss_config *config,
                        float *row_nll)
{
    struct loss_config full = *config;
    full.transposed = o->shape.tied && g->training;
    struct node *W = full.transposed ? param(g, o->W) : matrix(o, g);
    return cross_entropy(g, r, W, param(g, o->b), gold, &full, row_nll);
}

static struct node *logits(const struct output *o, struct graph *g,
                           struct node *r, const struct output_request *request)
{
    if (request->words)
        return linear_columns(g, r, request->words, request->sentence);
    return linear(g, r, matrix(o, g), param(g, o->b));
}

/* A word's weights side by side, as those of a tied layer are anyway. */
static void prepare_gather(struct output *o, const struct params *p)
{
    size_t V = (size_t)o->shape.vocabulary, R = (size_t)o->shape.width;
    if (o->shape.tied)
        return;
    free(o->by_word);
    o->by_word = xaligned(array_bytes(V * R, sizeof(*o->by_word)));
    vec_transpose(o->by_word, p->values + p->list[o->W].offset, o->shape.width,
                  o->shape.vocabulary);
}

static struct columns *gather(const struct output *o, struct graph *g,
                              const int *ids, int n)
{
    const float *rows = o->shape.tied ? param(g, o->W)->value : o->by_word;
    return pick_columns(g, rows, param(g, o->b)->value, o->shape.width, ids, n);
}

const struct output_kind output_full = {
    .name = "full",
    .declare = declare,
    .prepare = prepare,
    .loss = loss,
    .logits = logits,
    .prepare_gather = prepare_gather,
    .gather = gather,
};
