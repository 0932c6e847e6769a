/* Differentiable operations. Each computes its value at once and knows its
 * gradient; each stands with its formulas in a file op_*.c of its own, and
 * each is checked against finite differences in tests/unit/test_ops.c.
 *
 * Letters: n rows (tokens, sentences or hypotheses), N rows of the encoder's
 * memory of all sentences of a batch, S length of a source, E embedding, H
 * hidden, M memory, A attention, V vocabulary. Shapes are asserted. Results
 * belong to the graph. */
#ifndef ATTN_GRAPH_OPS_H
#define ATTN_GRAPH_OPS_H

#include "graph/graph.h"

/* x[n,k] w[k,m] + b[1,m]; b may be NULL. */
struct node *linear(struct graph *g, struct node *x, struct node *w,
                    struct node *b);

/* y[n,m] + x[n,k] w[k,m], in the place of y: nothing else may use y. */
struct node *linear_into(struct graph *g, struct node *y, struct node *x,
                         struct node *w);

/* a + b, same shape. */
struct node *add(struct graph *g, struct node *a, struct node *b);

struct node *node_tanh(struct graph *g, struct node *x);

/* [a b]: columns side by side, same rows. */
struct node *join_columns(struct graph *g, struct node *a, struct node *b);

/* Row i is row index[i] of x, or zeros where index[i] < 0. index is kept. */
struct node *pick_rows(struct graph *g, struct node *x, const int *index,
                       int n);

/* The parts one below the other; all of the same width. parts is kept. */
struct node *stack_rows(struct graph *g, struct node *const *parts, int count);

/* Row i of the table[V,E] for ids[i]; ids is kept. */
struct node *lookup(struct graph *g, struct node *table, const int *ids,
                    int n);

/* Drops each unit with probability `rate` and scales the others by
 * 1 / (1 - rate); the identity unless training. Which ones is a function of
 * the graph's seed, update, part and number of draws so far. */
struct node *dropout(struct graph *g, struct node *x, float rate);

/* The same for whole rows. */
struct node *dropout_rows(struct graph *g, struct node *x, float rate);

/* GRU gates, reset gate after the matrix. gx[n,3H] = xW + b, gh[n,3H] = hU + c
 * in the order r, z, n; h[n,H] -> h'[n,H]. */
struct node *gru_gates(struct graph *g, struct node *gx, struct node *gh,
                       struct node *h);

/* LSTM from its pre-activations a[n,4H] in the order i, f, g, o and the cell
 * c[n,H]: the new cell, then the new state from it. */
struct node *lstm_cell(struct graph *g, struct node *a, struct node *c);
struct node *lstm_state(struct graph *g, struct node *a, struct node *c);

/* Which rows of the memory a row may attend to: start[i] … start[i] +
 * length[i] - 1. width is the largest length there may be: weights are
 * [n,width] with zeros behind length[i]. Both arrays are kept. */
struct ragged {
    const int *start, *length;
    int width;
};

/* e_ij = v . tanh(q_i + k_j): q[n,A], k[N,A], v[1,A] -> [n,width]. */
struct node *additive_scores(struct graph *g, struct node *q, struct node *k,
                             struct node *v, const struct ragged *over);

/* e_ij = q_i . k_j: q[n,A], k[N,A] -> [n,width]. */
struct node *dot_scores(struct graph *g, struct node *q, struct node *k,
                        const struct ragged *over);

/* Softmax over the first length[i] columns of row i. */
struct node *ragged_softmax(struct graph *g, struct node *e,
                            const struct ragged *over);

/* c_i = sum_j a_ij v_j: a[n,width], v[N,M] -> [n,M]. */
struct node *weighted_sum(struct graph *g, struct node *a, struct node *v,
                          const struct ragged *over);

/* m_i = mean of its sentence's memory rows -> [n,M]. */
struct node *ragged_mean(struct graph *g, struct node *v,
                         const struct ragged *over, int n);

/* Output layer and cross-entropy in one: logits = r w + b (or r w^T + b when
 * `transposed`), never held for all rows at once. */
struct loss_config {
    bool transposed;                /* w is [V,E], tied to an embedding */
    float smoothing;                /* share spread over all words */
    float scale;                    /* gradients are those of scale * loss */
};

struct loss {
    double smoothed;                /* the sum that is minimised, unscaled */
    double nll;                     /* sum of -log p(gold), without smoothing */
};

/* r[n,E], gold[n] -> the summed loss over the rows. In training gradients of
 * scale * loss flow from here; this is where they start. row_nll may be NULL;
 * else it gets -log p(gold[i]) for each row. */
struct loss cross_entropy(struct graph *g, struct node *r, struct node *w,
                          struct node *b, const int *gold,
                          const struct loss_config *config, float *row_nll);

#endif
