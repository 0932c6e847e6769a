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
#include "graph/stack.h"

/* x[n,k] w[k,m] + b[1,m]; b may be NULL. */
struct node *linear(struct graph *g, struct node *x, struct node *w,
                    struct node *b);

/* The same for one reader that uses the result up, all of it: rnn_state(),
 * gru_gates(), or lstm_cell() with lstm_state(). The gradient takes the place
 * of the value. */
struct node *linear_spent(struct graph *g, struct node *x, struct node *w,
                          struct node *b);

/* y[n,m] + x[n,k] w[k,m], in the place of y: nothing else may use y. */
struct node *linear_into(struct graph *g, struct node *y, struct node *x,
                         struct node *w);

/* The same for x in parts, as with stack_rows(), whose result is not kept. */
struct node *linear_stack_into(struct graph *g, struct node *y,
                               const struct stack *x, struct node *w);

/* Some columns of a matrix and of a bias. */
struct columns {
    int size;         /* L */
    const int *index; // [L] which, rising
    const float *w;   // [k,L]
    const float *b;   // [1,L]
};

/* Copies columns index[size], kept, of rows[m,k]^T and b[1,m]. For search. */
struct columns *pick_columns(struct graph *g, const float *rows, const float *b,
                             int k, const int *index, int size);

/* Row i is row i of x[n,k] times columns[which[i]], plus their bias: y is as
 * wide as the widest, and what stands behind the columns of a row has no
 * meaning. Rows with the same ones stand together. No gradients: for search. */
struct node *linear_columns(struct graph *g, struct node *x,
                            const struct columns *const *columns,
                            const int *which);

/* Rows made alike: g_j (x_ij - mu_i) / sqrt(v_i + 1e-5) + b_j, mu_i and v_i
 * mean and variance of row i: x[n,k], gain[1,k], bias[1,k] or NULL. */
struct node *layer_norm(struct graph *g, struct node *x, struct node *gain,
                        struct node *bias);

/* y[n,k] + the same without bias, in the place of y: nothing else may use y. */
struct node *layer_norm_into(struct graph *g, struct node *y, struct node *x,
                             struct node *gain);

/* a + b, same shape. */
struct node *add(struct graph *g, struct node *a, struct node *b);

struct node *node_tanh(struct graph *g, struct node *x);

/* y_ij = max(x_i,2j, x_i,2j+1): x[n,2R] -> [n,R]. */
struct node *maxout(struct graph *g, struct node *x);

/* Columns first … first + cols - 1 of x. */
struct node *split_columns(struct graph *g, struct node *x, int first,
                           int cols);

/* x[N,h d] -> [h N,d]: row k N + i is the k-th of h parts of row i. */
struct node *split_heads(struct graph *g, struct node *x, int heads);

/* Row i is row index[i] of x, or zeros where index[i] < 0. index is kept. */
struct node *pick_rows(struct graph *g, struct node *x, const int *index,
                       int n);

/* The stack as one matrix; a single part is the result itself. */
struct node *stack_rows(struct graph *g, const struct stack *x);

/* Rows picked of a stack. */
struct picks {
    struct stack of;
    const int *index; // [n]
};

/* Side by side, for each of up to NODE_INPUTS picks: row i is its row index[i].
 * As pick_rows() of stack_rows(), but without the results between them. */
struct node *pick_stacked(struct graph *g, const struct picks *picks, int sides,
                          int n);

/* Row i of the table[V,E] for ids[i]; ids is kept. */
struct node *lookup(struct graph *g, struct node *table, const int *ids, int n);

/* Drops each unit with probability `rate` and scales the others by
 * 1 / (1 - rate); the identity unless training. Which ones is a function of
 * the graph's seed, update, part and number of draws so far. */
struct node *dropout(struct graph *g, struct node *x, float rate);

/* The same for whole rows. */
struct node *dropout_rows(struct graph *g, struct node *x, float rate);

/* x_ij + N(0, 1) while training, x else; drawn as in dropout(). */
struct node *add_noise(struct graph *g, struct node *x);

/* x[n,k] + b for a number b[1,1]. */
struct node *add_number(struct graph *g, struct node *x, struct node *b);

/* tanh a, which it uses up: nothing else may read a. */
struct node *rnn_state(struct graph *g, struct node *a);

/* GRU gates, reset gate after the matrix. gx[n,3H] = xW + b, gh[n,3H] = hU + c
 * in the order r, z, n, which it uses up: nothing else may read them;
 * h[n,H] -> h'[n,H]. */
struct node *gru_gates(struct graph *g, struct node *gx, struct node *gh,
                       struct node *h);

/* LSTM from its pre-activations a[n,4H] in the order i, f, g, o and the cell
 * c[n,H]: the new cell, then the new state from it. Each uses its columns of a
 * up, the second the last H: nothing else may read them. */
struct node *lstm_cell(struct graph *g, struct node *a, struct node *c);
struct node *lstm_state(struct graph *g, struct node *a, struct node *c);

/* Which rows of the memory a row may attend to: start[i] … start[i] +
 * length[i] - 1. width is the largest length there may be: weights are
 * [n,width] with zeros behind length[i]. A window into a sentence says with
 * first[i] where in the sentence it begins; NULL: at 0. The arrays are kept. */
struct ragged {
    const int *start, *length;
    int width;
    const int *first;
};

/* e_ij = v . tanh(q_i + k_j): q[n,A], k[N,A], v[1,A] -> [n,width]. */
struct node *additive_scores(struct graph *g, struct node *q, struct node *k,
                             struct node *v, const struct ragged *over);

/* The same with coverage c[n,L] of all positions of a sentence, and v, w below
 * each other in vw[2,A]: e_ij = v . tanh(q_i + k_j + c_i,(f_i + j) w). */
struct node *covered_scores(struct graph *g, struct node *q, struct node *k,
                            struct node *vw, struct node *c,
                            const struct ragged *over);

/* y = g v / |v|, for v[1,A] and a number g[1,1]. */
struct node *normalised(struct graph *graph, struct node *v, struct node *g);

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

/* y_b = |A_b A_b^T - I|^2 for groups A_b of r rows: a[n r,k] -> [n,1]. */
struct node *overlap(struct graph *g, struct node *a, int r);

/* Weights of a window at their places in the sentence: row i of a[n,w] goes
 * to columns first[i] … of y[n,width], zeros elsewhere. */
struct node *place_window(struct graph *g, struct node *a,
                          const struct ragged *window, int width);

/* p_i = (S_i - 1) sigma(x_i), S_i the length of row i's sentence:
 * x[n,1] -> [n,1]. */
struct node *relative_position(struct graph *g, struct node *x,
                               const struct ragged *over);

/* y_ij = a_ij exp(-(f_i + j - p_i)^2 / (2 s^2)) with f_i = first[i]:
 * a[n,w], p[n,1] -> [n,w]. */
struct node *gaussian_weights(struct graph *g, struct node *a, struct node *p,
                              float s, const struct ragged *over);

/* y_ij = e_ij - (f_i + j - p_i)^2 / (2 s^2): the same in logarithms. */
struct node *gaussian_prior(struct graph *g, struct node *e, struct node *p,
                            float s, const struct ragged *over);

/* y_ij = x_i,(f_i + j), the columns of a window: x[n,L] -> [n,w]; `behind`
 * where that is L or more. */
struct node *read_window(struct graph *g, struct node *x, float behind,
                         const struct ragged *over);

/* y_ij = u_ij + log(max(1 - a_ij, floor)): what was aligned counts less. */
struct node *forget_aligned(struct graph *g, struct node *u, struct node *a,
                            float floor, const struct ragged *over);

/* y = s x */
struct node *scale(struct graph *g, struct node *x, float s);

/* Expected monotonic alignment of a step (Raffel et al. 2017, eqs. 8 to 11):
 * p_ij = sigma(e_ij); q_i0 = b_i0, q_ij = (1 - p_i,j-1) q_i,j-1 + b_ij;
 * a_ij = p_ij q_ij, b the alignment of the step before: e, b [n,width]. */
struct node *monotonic_alignment(struct graph *g, struct node *e,
                                 struct node *b, const struct ragged *over);

/* One position for each row, drawn from p_i = softmax(e_i): y is 1 there, 0
 * elsewhere. Gradients come by REINFORCE, not through y: with the cost C_i of
 * what followed from the choice, less a baseline, in advantage[i] by the time
 * of the backward pass,
 *     de_i += scale (advantage_i (y_i - p_i) + entropy p_i (log p_i + H_i))
 * the second term being that of -entropy H, H_i the entropy of p_i. */
struct choice_costs {
    const float *advantage; // [n]
    float scale, entropy;
};

struct node *draw_position(struct graph *g, struct node *e,
                           const struct ragged *over,
                           const struct choice_costs *costs);

/* 1 at the largest e_ij of each row (the first of equals), 0 elsewhere; no
 * gradient. */
struct node *best_position(struct graph *g, const struct node *e,
                           const struct ragged *over);

/* Output layer and cross-entropy in one: logits = r w + b (or r w^T + b when
 * `transposed`), never held for all rows at once. */
struct loss_config {
    bool transposed; /* w is [V,E], tied to an embedding */
    float smoothing; /* share spread over all words */
    float scale;     /* gradients are those of scale * loss */
};

struct loss {
    double smoothed; /* the sum that is minimised, unscaled */
    double nll;      /* sum of -log p(gold), without smoothing */
};

/* r[n,E], gold[n] -> the summed loss over the rows. In training gradients of
 * scale * loss flow from here; this is where they start. row_nll may be NULL;
 * else it gets -log p(gold[i]) for each row. */
struct loss cross_entropy(struct graph *g, struct node *r, struct node *w,
                          struct node *b, const int *gold,
                          const struct loss_config *config, float *row_nll);

/* The same by adaptive softmax (Grave et al. 2017). The first words have an
 * entry each in the head, the others stand in clusters, each of which has an
 * entry behind these:
 *     p(w) = p_head(w)              for a word of the head
 *     p(w) = p_head(c) p_c(w)       for a word of cluster c
 *     p_head = softmax(r w + b), p_c = softmax(r project_c w_c + b_c) */
enum { ADAPTIVE_CLUSTERS = 8 };

struct adaptive {
    struct node *w, *b; // [R,h+k], [1,h+k]
    int clusters;       /* k */
    struct adaptive_cluster {
        struct node *project, *w, *b; // [R,D], [D,n], [1,n]
    } cluster[ADAPTIVE_CLUSTERS];
};

/* Only rows whose word is in a cluster touch the cluster's arrays. With
 * smoothing s each of the two choices is smoothed over what it is a choice of:
 * the head's over its h + k entries, the cluster's over its n words. */
struct loss adaptive_cross_entropy(struct graph *g, struct node *r,
                                   const struct adaptive *a, const int *gold,
                                   const struct loss_config *config,
                                   float *row_nll);

/* What a search wants of the words: of all continuations of the rows of a
 * group, the `best` by log_p + log p(word), words below `from` left aside. A
 * row's group is that of the row before it, or a new one. */
struct wanted {
    int best;            /* 0: all words of all rows */
    const double *log_p; // [n] of what each row continues
    const int *group;    // [n]
    int from;
};

/* log p of all words, r[n,R] -> [n,V], for inference. Words of clusters that
 * cannot be among those wanted may have -INFINITY. */
struct node *adaptive_logs(struct graph *g, struct node *r,
                           const struct adaptive *a,
                           const struct wanted *wanted);

#endif
