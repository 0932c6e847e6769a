/* Attention = score x alignment: two plug-in tables, any pair of them.
 *
 * A score (score_*.c) compares a query with the keys of its sentence; an
 * alignment (align_*.c) makes weights, and from these a context, of the
 * scores. What they share is here: the memory, the softmax, the context, and
 * the carrying of what an alignment must remember from step to step.
 *
 *     attention_memory_init(&a, g, &memory)             once a batch: keys
 *     attention_begin(&a, g, &memory, &over, summary, state)     first state
 *     context = attention_step(&a, g, &memory, &over, query, before, &step)
 *
 * Rows: a step has n queries, one for each sentence or hypothesis still
 * alive; `over` says which rows of the memory belong to the sentence of each
 * query. State is a value: nodes with a row for each query, which the caller
 * may view, pick and reorder (beam search does). Nothing is kept in here.
 *
 * To add a score or an alignment, add its file: the tables are made from the
 * names of the files. */
#ifndef ATTN_ATTENTION_ATTENTION_H
#define ATTN_ATTENTION_ATTENTION_H

#include "graph/ops.h"
#include "nn/params.h"

struct config;

/* Most nodes that are carried from one step to the next: those of an alignment,
 * and the coverage. */
enum { ATTENTION_STATES = 3, ATTENTION_COVERAGE = ATTENTION_STATES - 1 };

struct attention;

/* The encoder's output for the sentences of a batch, as it is compared and
 * summed up. With heads, head k's rows follow those of head k - 1. */
struct attention_memory {
    struct node *values; // [N,M]
    struct node *keys;   // [N,A], NULL when nothing is compared

    /* For scores that read it: how much each word of the sentences has been
     * looked at in the steps before. NULL: not wanted. */
    struct node *coverage; // [n,width]

    /* For alignments that draw, while training: what the choices of the step
     * at hand will turn out to cost, and the scale of the loss. */
    const float *advantage; // [n]
    float scale;
};

struct attention_state {
    struct node *part[ATTENTION_STATES]; // [n,…] each; NULL behind the last
};

/* What a step gives besides its context. */
struct attention_step {
    struct node *weights; // [n,width]; NULL for kind none
    struct attention_state after;
};

struct score {
    const char *name;
    const char *aliases; /* further names, between blanks */
    bool variants;       /* knows attention.normalized and .coverage */
    bool ordered;        /* goes by positions */

    /* Declares parameters; the widths of query, memory and attention are set.
     * -1 after reporting that they do not fit. */
    int (*declare)(struct attention *a, struct params *p,
                   const struct config *cfg);

    /* Keys of the whole memory, once a batch; NULL: nothing is compared. */
    struct node *(*keys)(const struct attention *a, struct graph *g,
                         struct node *values); // [N,M] -> [N,A]

    /* Scores of queries against keys. */
    struct node *(*scores)(const struct attention *a, struct graph *g,
                           struct node *query, // [n,Q]
                           const struct attention_memory *memory,
                           const struct ragged *over); // -> [n,width]
};

struct align {
    const char *name;
    const char *aliases;
    bool context;          /* false: there is none (kind none) */
    bool query_is_summary; /* compares the encoder's summary */
    bool draws;            /* needs to be told what choices cost */
    bool expects;          /* trains on an expectation, with noise */
    bool ordered;          /* goes by positions */

    /* Declares further parameters; may be NULL. */
    int (*declare)(struct attention *a, struct params *p,
                   const struct config *cfg);

    /* The state before the first step, of n rows; may be NULL (no state). The
     * summary is given to those that compare it, NULL to others. */
    void (*begin)(const struct attention *a, struct graph *g,
                  const struct attention_memory *memory,
                  const struct ragged *over, int n, struct node *summary,
                  struct attention_state *state);

    /* Fills in the step, returns the context [n,M]. */
    struct node *(*step)(const struct attention *a, struct graph *g,
                         const struct attention_memory *memory,
                         const struct ragged *over, struct node *query,
                         const struct attention_state *before,
                         struct attention_step *step);
};

/* The tables, NULL after the last. */
extern const struct score *const scores[];
extern const struct align *const aligns[];

/* Heads (Vaswani et al. 2017, sec. 3.2.2) and the halves of key_value (Daniluk
 * et al. 2017) are made here, around scores and alignments, which see more rows
 * of narrower queries, keys and values: with h heads a query [n,Q] W_q [Q,A]
 * is h n rows of A / h, keys W_k and values W_v of the memory likewise, and
 * the heads' contexts stand side by side. attention.W_q, .W_k, .W_v exist with
 * heads only. The parameters of the score are those of all heads. */
struct attention {
    const struct score *score;
    const struct align *align;
    int query, memory; /* widths that the score compares */
    int size;          /* A: attention.size */
    int context;       /* width of the context; 0: none */
    int heads;
    bool halves; /* attention.memory: key_value */
    int W_q, W_k, W_v;
    int window;      /* D: attention.window */
    bool coverage;   /* attention.coverage */
    float entropy;   /* attention.entropy */
    int local_mode;  /* of local_p: enum local_mode */
    int W, U, b, v;  /* numbers of a score's parameters */
    int g, w;        /* -1: none */
    int W_p, v_p, r; /* and of an alignment's */
};

/* Looks up attention.score and attention.kind and declares what they need
 * under "attention." for queries of the decoder's width. 0, or -1 after
 * reporting. */
int attention_declare(struct attention *a, struct params *p,
                      const struct config *cfg, int query, int memory);

/* Width of the context: M, or 0 where there is none. */
int attention_width(const struct attention *a);

/* Keys and values of the encoder's output [N,M]. */
void attention_memory_init(const struct attention *a, struct graph *g,
                           struct node *states,
                           struct attention_memory *memory);

/* summary[n,M] is [last forward; first backward] state of the encoder. */
void attention_begin(const struct attention *a, struct graph *g,
                     const struct attention_memory *memory,
                     const struct ragged *over, struct node *summary,
                     struct attention_state *state);

/* The context[n,M], or NULL where there is none. */
struct node *attention_step(const struct attention *a, struct graph *g,
                            const struct attention_memory *memory,
                            const struct ragged *over, struct node *query,
                            const struct attention_state *before,
                            struct attention_step *step);

/* For alignments: softmax of the scores of the queries over all positions. */
struct node *attention_softmax(const struct attention *a, struct graph *g,
                               const struct attention_memory *memory,
                               const struct ragged *over, struct node *query);

/* For alignments: scores of the queries, of a window or of all positions. */
struct node *attention_scores(const struct attention *a, struct graph *g,
                              const struct attention_memory *memory,
                              const struct ragged *over, struct node *query);

/* For alignments: the window of D words to each side of centre[n], cut at the
 * ends of the sentences; the arrays are the graph's. */
struct ragged attention_window(const struct attention *a, struct graph *g,
                               const struct ragged *over, const float *centre,
                               int n);

/* For scores: declares attention.NAME; the second kind is a matrix that meets
 * all rows of the memory at once, and no query. */
int attention_param(struct params *p, const char *name, int rows, int cols,
                    enum init init);
int attention_memory_param(struct params *p, const char *name, int rows,
                           int cols);

/* For scores that compare the states as they are: 0, or -1 after reporting that
 * queries and keys are not equally wide; and the keys, which are the states. */
int attention_same_width(const struct attention *a, const struct config *cfg);
struct node *attention_states(const struct attention *a, struct graph *g,
                              struct node *values);

#endif
