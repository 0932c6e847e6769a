/* Self-attention of the encoder: what its states look at among themselves
 * before the decoder sees them. A plug-in table, one file self_*.c each.
 *
 * Parameters are named encoder.self.*; shapes stand in the files. */
#ifndef ATTN_MODEL_SELF_H
#define ATTN_MODEL_SELF_H

#include "nn/params.h"

struct config;
struct encoded;
struct self_attention;

struct self_kind {
    const char *name;
    bool hops; /* the rows of its memory are not words, and have no order */

    /* NULL: nothing to declare, and nothing to do. */
    void (*declare)(struct self_attention *s, struct params *p);

    /* Puts another memory in the place of the encoder's output. */
    void (*run)(const struct self_attention *s, struct graph *g,
                struct encoded *encoded);
};

/* The kinds there are: NULL after the last. */
extern const struct self_kind *const selves[];

struct self_attention {
    const struct self_kind *kind;
    int width, size, hops; /* M, A, r */
    float penalty;
    int W, U, V, b, v; /* numbers of parameters */
    int W_h, W_c, b_h;
};

/* 0, or -1 after reporting. width: M. */
int self_declare(struct self_attention *s, struct params *p,
                 const struct config *cfg, int width);

void self_run(const struct self_attention *s, struct graph *g,
              struct encoded *encoded);

/* For kinds: declares encoder.self.NAME. */
int self_param(struct params *p, const char *name, int rows, int cols,
               enum init init);

/* For kinds that give each state a context: declares W_h, W_c and b_h, and
 * computes tanh(h W_h + c W_c + b_h) of rows h, c W_c given. */
void self_join_declare(struct self_attention *s, struct params *p);
struct node *self_join(const struct self_attention *s, struct graph *g,
                       struct node *h, struct node *projected);

#endif
