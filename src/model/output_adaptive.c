/* Adaptive softmax (graph/op_adaptive.c): the h most frequent words in the
 * head, the others in k clusters, sorted as the vocabulary is. Cluster i of 0
 * … k - 1 has the words h (V/h)^(i/k) … h (V/h)^((i+1)/k), about equally
 * frequent together where frequencies fall as 1/rank, and sees readouts through
 * D_i = R / 4^(i+1) units, 8 at the least and R at the most.
 *
 * Parameters: output.W [R,h+k], output.b [1,h+k]; output.i.P [R,D_i],
 * output.i.W [D_i,n_i], output.i.b [1,n_i]. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "config/config.h"
#include "corpus/vocab.h"
#include "model/outputs.h"

static int largest(int a, int b)
{
    return a > b ? a : b;
}

static int smallest(int a, int b)
{
    return a < b ? a : b;
}

/* h: as the key says, else an eighth of the words. */
static int head_words(const struct config *cfg, int V)
{
    int least = smallest(VOCAB_CONTROLS + 1, V - 1);
    return cfg->model.output_head > 0 ? cfg->model.output_head
                                      : largest(V / 8, least);
}

static int check(const struct output *o, const struct config *cfg, int h)
{
    int V = o->shape.vocabulary, k = o->clusters;
    if (o->shape.tied)
        return config_error(cfg, "model.tied_embeddings",
                            "model.output 'adaptive' has no matrix of the "
                            "shape of an embedding; set 'none', or "
                            "model.output 'full'");
    if (h >= V)
        return config_error(cfg, "model.output_head",
                            "a head of %d words leaves none for the clusters: "
                            "the target vocabulary has %d entries; set less, "
                            "or model.output 'full'",
                            h, V);
    if (V - h < k)
        return config_error(cfg, "model.output_clusters",
                            "%d clusters for %d words: the target vocabulary "
                            "has %d entries, of which %d are in the head; set "
                            "%d at the most",
                            k, V - h, V, h, V - h);
    return 0;
}

/* The word that cluster i begins with; none is empty. */
static int edge(int i, int k, int h, int V)
{
    double x = h * pow((double)V / h, (double)i / k);
    return smallest(largest((int)lround(x), h + i), V - (k - i));
}

static void declare_cluster(struct output_cluster *c, struct params *p, int i,
                            int R, int words)
{
    int D = R;
    for (int j = 0; j <= i; j++)
        D /= 4;
    D = smallest(largest(D, 8), R);
    char *prefix = xasprintf("output.%d", i);
    c->P = params_declare_in(p, prefix,
                             (struct param){ .name = "P",
                                             .rows = R,
                                             .cols = D,
                                             .at_once = true,
                                             .init = INIT_GLOROT });
    c->W = params_declare_in(p, prefix,
                             (struct param){ .name = "W",
                                             .rows = D,
                                             .cols = words,
                                             .at_once = true,
                                             .output = true,
                                             .init = INIT_GLOROT });
    c->b = params_declare_in(p, prefix,
                             (struct param){ .name = "b",
                                             .rows = 1,
                                             .cols = words,
                                             .init = INIT_ZERO });
    free(prefix);
}

static int declare(struct output *o, struct params *p, const struct config *cfg)
{
    int V = o->shape.vocabulary, R = o->shape.width;
    int h = head_words(cfg, V);
    int k = o->clusters = cfg->model.output_clusters;
    if (check(o, cfg, h) < 0)
        return -1;
    o->b = output_param(p, "b", 1, h + k);
    o->W = output_param(p, "W", R, h + k);
    for (int i = 0; i < k; i++)
        declare_cluster(&o->cluster[i], p, i, R,
                        edge(i + 1, k, h, V) - edge(i, k, h, V));
    return 0;
}

static struct adaptive arrays(const struct output *o, const struct graph *g)
{
    struct adaptive a = { .w = param(g, o->W),
                          .b = param(g, o->b),
                          .clusters = o->clusters };
    for (int i = 0; i < o->clusters; i++) {
        const struct output_cluster *c = &o->cluster[i];
        a.cluster[i] = (struct adaptive_cluster){ param(g, c->P),
                                                  param(g, c->W),
                                                  param(g, c->b) };
    }
    return a;
}

static struct loss loss(const struct output *o, struct graph *g, struct node *r,
                        const int *gold, const struct loss_config *config,
                        float *row_nll)
{
    struct adaptive a = arrays(o, g);
    return adaptive_cross_entropy(g, r, &a, gold, config, row_nll);
}

/* Search never puts out <s>, and <unk> not always: they do not count. */
static struct node *logits(const struct output *o, struct graph *g,
                           struct node *r, const struct output_request *request)
{
    struct adaptive a = arrays(o, g);
    return adaptive_logs(g, r, &a,
                         &(struct wanted){ .best = request->best,
                                           .log_p = request->log_p,
                                           .group = request->sentence,
                                           .from = BOS + 1 });
}

const struct output_kind output_adaptive = {
    .name = "adaptive",
    .normalised = true,
    .declare = declare,
    .loss = loss,
    .logits = logits,
};
