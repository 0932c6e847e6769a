/* The tape: what was computed, so that gradients can flow back through it.
 *
 * An operation (ops.h) allocates its result with graph_node(), fills in the
 * value at once, and remembers its inputs; graph_backward() then visits the
 * nodes from the last to the first and calls each operation's backward(),
 * which adds to the gradients of the inputs.
 *
 *     struct graph g;
 *     graph_init(&g);
 *     g.training = true;
 *     struct node *w = graph_leaf(&g, 3, 4, values, gradients);
 *     struct node *loss = …operations…;
 *     graph_backward(&g);             every leaf's gradient has been added to
 *     graph_reset(&g);                all nodes are gone, memory is kept
 *
 * All nodes live in the graph's arena until graph_reset() or graph_rewind().
 * Without `training` no gradients are allocated and no tape is kept: the same
 * code then computes values only, with products whose rows do not depend on
 * their neighbours (gemm_rows), so that a sentence's result does not depend on
 * its batch.
 *
 * Weight gradients are not computed node by node: a product with a leaf notes
 * (x, dy) on the leaf, and graph_backward() ends with one product for each
 * leaf over all its notes. A recurrence of T steps so costs one product for
 * its weights, not T. A lookup notes (ids, dy), and graphs that share a table
 * can so add to one gradient, in turn.
 *
 * A graph belongs to one thread at a time. */
#ifndef ATTN_GRAPH_GRAPH_H
#define ATTN_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "tensor/precision.h"

struct graph;
struct node;
struct multiplier;
struct packed;
struct profile;

struct op {
    const char *name;
    void (*backward)(struct graph *g, struct node *y);
};

enum { NODE_INPUTS = 4 };

/* A matrix of float32, row-major. `grad` is NULL where no gradient is wanted.
 * `extra` is what the operation keeps for its backward pass. */
struct node {
    float *value; // [rows,cols]
    float *grad;  // [rows,cols]
    int rows, cols;
    const struct op *op; /* NULL for a leaf and for a view */
    struct node *in[NODE_INPUTS];
    void *extra;
    struct node *previous;       /* on the tape */
    struct product *products;    /* of a leaf: weight gradients to come, all
                                    of lookups or none */
    unsigned char *touched;      /* of a table: rows with a gradient */
    bool blank;                  /* grad holds nothing yet: it is to be written,
                                 not added to, which clears this */
    int uses;                    /* of a weight: products so far */
    float *turned;               // [cols,rows] of a weight, or NULL
    const struct packed *packed; /* a weight ready for products, */
    const struct packed *packed_turned; /* and its transpose; or NULL */
    enum precision precision; /* of a weight: of other products with it */
};

/* A note on a weight: its gradient gets x^T dy. Row i of a lookup's x would be
 * 1 at ids[i] and 0 elsewhere: it has the ids instead. */
struct product {
    const struct node *x, *y;
    const int *ids;
    struct product *next;
};

struct graph {
    struct arena arena;
    struct node *tape;    /* the last node with a gradient */
    struct node *weights; /* leaves with notes, linked by previous */
    bool training;        /* gradients and dropout */

    struct profile *profile;       /* NULL: no times are taken */
    struct multiplier *multiplier; /* made when it is first needed */

    /* The place in the stream of random numbers (dropout). */
    uint64_t seed, update;
    uint32_t part, draws;

    /* A cache of leaves by parameter number, kept by nn/params. */
    struct node **leaf;
};

void graph_init(struct graph *g);
void graph_release(struct graph *g); /* leaves it as graph_init() does */
void graph_reset(struct graph *g);

/* A result [rows,cols] of `op` on up to four inputs (NULL from the first
 * unused one). Has a zeroed gradient, and is on the tape, when the graph is
 * training and an input has a gradient. The value is not initialised. */
struct node *graph_node(struct graph *g, const struct op *op, int rows,
                        int cols, struct node *a, struct node *b,
                        struct node *c, struct node *d);

/* The same, spent: what reads it, once, uses the value up, may write what it
 * likes over it, and on the way back leaves the gradient of every row there.
 * Value and gradient are one memory, which is not zeroed. */
struct node *graph_spent_node(struct graph *g, const struct op *op, int rows,
                              int cols, struct node *a, struct node *b,
                              struct node *c, struct node *d);

/* For a reader that has left the gradient of these columns in the place of the
 * value of x: adds it to the gradient, where that is elsewhere. */
void node_hand_back(struct node *x, int first, int cols);

/* A result that is written over its first operand y: same memory, value and
 * gradient. The caller changes the value; nothing else may use y. */
struct node *graph_in_place(struct graph *g, const struct op *op,
                            struct node *y, struct node *a, struct node *b);

/* Values owned by somebody else; grad may be NULL. */
struct node *graph_leaf(struct graph *g, int rows, int cols, float *value,
                        float *grad);

/* A constant [rows,cols] of zeros. */
struct node *graph_zeros(struct graph *g, int rows, int cols);

/* Rows first … first + rows - 1 of x: the same memory, value and gradient. */
struct node *graph_view(struct graph *g, struct node *x, int first, int rows);

/* The same memory as x, read as [rows,cols]; the sizes agree. */
struct node *graph_reshape(struct graph *g, struct node *x, int rows, int cols);

/* Notes that the gradient of the leaf w gets x^T dy. */
void graph_note_product(struct graph *g, struct node *w, const struct node *x,
                        const struct node *y);

/* Notes that row ids[i] of the gradient of the leaf w gets row i of dy. */
void graph_note_lookup(struct graph *g, struct node *w, const int *ids,
                       const struct node *y);

/* What products with packed weights need. */
struct multiplier *graph_multiplier(struct graph *g);

/* Runs the tape backwards. The last operations (losses) have put their own
 * gradients in already. */
void graph_backward(struct graph *g);

/* The same in two steps, for those who share out the second: the tape, after
 * which the notes are still there; and the product of all notes on a weight,
 * put into dw or added to it, with the memory of `tool`, a graph of the calling
 * thread. The rows of all lookups in a table are added to dw, and marked in
 * `touched` where that is not NULL. */
void graph_backward_tape(struct graph *g);
void graph_weight_gradient(struct graph *tool, const struct node *w, bool add,
                           float *dw);
void graph_lookup_gradient(struct graph *tool, const struct node *w, float *dw,
                           unsigned char *touched);

static inline bool node_is_looked_up(const struct node *w)
{
    return w->products && w->products->ids;
}

/* Random numbers of a node are functions of where in a run it is drawn: a key
 * of 32 bits for a row, and a number in [0,1). Whoever draws adds one to
 * g->draws afterwards. */
uint32_t graph_key(const struct graph *g, int row);
float graph_uniform(const struct graph *g, int row);

/* Search runs step by step: mark before, rewind after what has outlived its
 * step was copied out. Only without `training`. */
struct arena_mark graph_mark(struct graph *g);
void graph_rewind(struct graph *g, struct arena_mark mark);

static inline size_t node_size(const struct node *x)
{
    return (size_t)x->rows * (size_t)x->cols;
}

static inline float *node_row(const struct node *x, int row)
{
    return x->value + (size_t)row * (size_t)x->cols;
}

static inline float *node_grad_row(const struct node *x, int row)
{
    return x->grad + (size_t)row * (size_t)x->cols;
}

#endif
