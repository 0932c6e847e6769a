/* Named parameters: every weight of a model in one block of memory.
 *
 * Layers declare what they need and keep the number they are given; the
 * values of all parameters then stand one behind the other, each at a multiple
 * of 64 bytes, so that optimisers and averages are flat loops:
 *
 *     int W = params_declare(&p, &(struct param){ "out.W", E, V, … });
 *     params_allocate(&p);
 *     params_initialise(&p, seed, scale);
 *     params_bind(&p, gradients, &g);      once for each graph
 *     linear(&g, x, param(&g, W), NULL);
 *
 * Gradients stand in blocks of the same layout (struct gradients), one for
 * each shard. */
#ifndef ATTN_NN_PARAMS_H
#define ATTN_NN_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/graph.h"

enum init {
    INIT_ZERO,
    INIT_ONE,
    INIT_GLOROT,     /* uniform, +- sqrt(6 / (rows + cols)) of a block */
    INIT_ORTHOGONAL, /* square blocks: Saxe et al. 2014 */
    INIT_EMBEDDING,  /* normal, deviation 1 / sqrt(cols) */
    INIT_FORGET,     /* zero, but one in the second of four blocks */
    INIT_MINUS_ONE
};

/* A matrix [rows,cols]. Its columns are `blocks` matrices side by side (the
 * gates of a cell), each initialised by itself. */
struct param {
    const char *name; /* dotted; copied when declared */
    int rows, cols;
    enum init init;
    int blocks;    /* 0 is 1 */
    bool table;    /* read by lookup() only: few rows have a gradient */
    bool at_once;  /* multiplied once, with the rows of all steps together */
    bool output;   /* read by cross_entropy() only, which can write a gradient
                      where nothing is yet (node.blank) */
    size_t offset; /* in floats; set by params_declare */
};

static inline size_t param_size(const struct param *p)
{
    return (size_t)p->rows * (size_t)p->cols;
}

struct prepared;

struct params {
    struct param *list;
    int count;
    size_t capacity;
    size_t size; /* of the block, in floats */
    float *values;
};

struct gradients {
    float *values;           /* of the layout of params.values */
    unsigned char **touched; /* [count]; of tables: rows that are not 0 */
};

/* Returns the parameter's number. */
int params_declare(struct params *p, const struct param *spec);

/* The same under a prefix: spec.name "W" declares "PREFIX.W". */
int params_declare_in(struct params *p, const char *prefix, struct param spec);

/* Takes the memory for all parameters, zeroed. */
void params_allocate(struct params *p);
void params_release(struct params *p);

/* Starting values, a function of seed, number of the parameter and place.
 * With scale > 0 all but biases are uniform in +- scale instead. */
void params_initialise(struct params *p, uint64_t seed, float scale);

/* All [count], the largest first, for threads to share them out: the caller
 * frees the array. */
const struct param **params_by_size(const struct params *p);

/* The parameter of that name, or NULL. */
const struct param *params_find(const struct params *p, const char *name);

void gradients_init(struct gradients *grads, const struct params *p);
void gradients_release(struct gradients *grads, const struct params *p);

/* Makes the leaves of g. Gradients may be NULL, and so may what was prepared
 * of the parameters. */
void params_bind(const struct params *p, struct gradients *grads,
                 const struct prepared *prepared, struct graph *g);

/* The leaf of parameter number `id` in a bound graph. */
static inline struct node *param(const struct graph *g, int id)
{
    return g->leaf[id];
}

#endif
