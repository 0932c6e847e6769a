/* Gradients of operations against finite differences. Their values are in
 * test_op_values.c. */
#include "graph/ops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "graph/gradcheck.h"
#include "numbers.h"
#include "queries.h"
#include "tensor/gemm.h"

/* --- a table of small graphs --------------------------------------------- */

enum { LEAVES = 6 };

struct leaf_shape {
    const char *name;
    int rows, cols;
};

typedef struct node *build_fn(struct graph *g, struct node **leaf);

struct small_graph {
    const char *name;
    build_fn *build;
    struct leaf_shape leaf[LEAVES]; /* up to the first without a name */
    size_t samples;                 /* of each leaf; 0: all elements */
    float bound;                    /* values are in +- bound; 0: 1 */
    bool random;                    /* other values in inference (dropout) */
};

static struct node *build_linear(struct graph *g, struct node **leaf)
{
    return linear(g, leaf[0], leaf[1], leaf[2]);
}

static struct node *build_linear_no_bias(struct graph *g, struct node **leaf)
{
    return linear(g, leaf[0], leaf[1], NULL);
}

/* One weight in products of different sizes: notes of all of them. */
static struct node *build_shared_weight(struct graph *g, struct node **leaf)
{
    struct node **part = arena_array(&g->arena, 3, sizeof(*part));
    part[0] = linear(g, leaf[0], leaf[1], leaf[2]);
    part[1] = linear(g, node_tanh(g, leaf[3]), leaf[1], NULL);
    part[2] = linear(g, graph_view(g, leaf[0], 1, 2), leaf[1], leaf[2]);
    return stack_rows(g, &(struct stack){ part, 3 });
}

/* h_t = tanh(h_{t-1} W + b), more often than a weight needs to be turned */
static struct node *build_recurrence(struct graph *g, struct node **leaf)
{
    struct node *h = leaf[0];
    for (int t = 0; t < 9; t++)
        h = node_tanh(g, linear(g, h, leaf[1], leaf[2]));
    return h;
}

/* A weight that is itself computed. */
static struct node *build_computed_weight(struct graph *g, struct node **leaf)
{
    struct node *w = node_tanh(g, leaf[1]);
    return add(g, linear(g, leaf[0], w, NULL), linear(g, leaf[2], w, NULL));
}

/* More rows of notes than are gathered at once. */
static struct node *build_many_notes(struct graph *g, struct node **leaf)
{
    struct node *y = linear(g, leaf[0], leaf[1], NULL);
    y = add(g, y, linear(g, leaf[2], leaf[1], NULL));
    return add(g, y, linear(g, node_tanh(g, leaf[0]), leaf[1], NULL));
}

/* One note larger than all others together. */
static struct node *build_large_note(struct graph *g, struct node **leaf)
{
    struct node **part = arena_array(&g->arena, 3, sizeof(*part));
    part[0] = linear(g, leaf[0], leaf[1], NULL);
    part[1] = linear(g, leaf[2], leaf[1], NULL);
    part[2] = linear(g, leaf[0], leaf[1], NULL);
    return stack_rows(g, &(struct stack){ part, 3 });
}

static struct node *build_linear_into(struct graph *g, struct node **leaf)
{
    struct node *y = linear(g, leaf[0], leaf[1], leaf[2]);
    y = linear_into(g, y, leaf[3], leaf[4]);
    y = linear_into(g, y, leaf[0], leaf[5]);
    return node_tanh(g, y);
}

/* Parts of which one has no gradient, one comes twice and one is a view; and so
 * often that the weight is turned for the way back. */
static struct node *build_linear_stack(struct graph *g, struct node **leaf)
{
    struct node **part = arena_array(&g->arena, 4, sizeof(*part));
    struct node *x = node_tanh(g, leaf[0]);
    part[0] = graph_zeros(g, 1, 2);
    part[1] = x;
    part[2] = graph_view(g, x, 1, 2);
    part[3] = x;
    struct node *y = linear(g, leaf[1], leaf[2], NULL);
    for (int i = 0; i < 6; i++)
        y = linear_stack_into(g, y, &(struct stack){ part, 4 }, leaf[3]);
    y = linear_stack_into(g, y, &(struct stack){ &leaf[1], 1 }, leaf[4]);
    return node_tanh(g, y);
}

/* As a recurrence does it: all inputs at once, then step after step in place
 * of their parts. */
static struct node *build_steps_in_place(struct graph *g, struct node **leaf)
{
    struct node *inputs = linear(g, leaf[0], leaf[1], leaf[2]);
    struct node **state = arena_array(&g->arena, 3, sizeof(*state));
    struct node *h = leaf[3];
    for (int t = 0; t < 3; t++) {
        struct node *a = graph_view(g, inputs, 2 * t, 2);
        a = linear_into(g, a, h, leaf[4]);
        state[t] = h = node_tanh(g, a);
    }
    return stack_rows(g, &(struct stack){ state, 3 });
}

static struct node *build_layer_norm(struct graph *g, struct node **leaf)
{
    return layer_norm(g, leaf[0], leaf[1], leaf[2]);
}

static struct node *build_layer_norm_no_bias(struct graph *g,
                                             struct node **leaf)
{
    return layer_norm(g, leaf[0], leaf[1], NULL);
}

static struct node *build_layer_norm_into(struct graph *g, struct node **leaf)
{
    struct node *y = layer_norm(g, leaf[0], leaf[1], leaf[2]);
    y = layer_norm_into(g, y, leaf[3], leaf[4]);
    y = layer_norm_into(g, y, leaf[0], leaf[4]);
    return node_tanh(g, y);
}

/* As a recurrence does it, with the memory of an LSTM; one gain for all. */
static struct node *build_normalised_steps(struct graph *g, struct node **leaf)
{
    struct node *inputs = layer_norm(g, leaf[0], leaf[1], leaf[2]);
    struct node **state = arena_array(&g->arena, 3, sizeof(*state));
    struct node *h = leaf[3], *c = leaf[4];
    for (int t = 0; t < 3; t++) {
        struct node *a = graph_view(g, inputs, 2 * t, 2);
        a = layer_norm_into(g, a, linear(g, h, leaf[5], NULL), leaf[1]);
        c = lstm_cell(g, a, c);
        struct node *gain = split_columns(g, leaf[1], 0, 4);
        state[t] = h = lstm_state(g, a, layer_norm(g, c, gain, NULL));
    }
    return stack_rows(g, &(struct stack){ state, 3 });
}

static struct node *build_add(struct graph *g, struct node **leaf)
{
    return add(g, leaf[0], leaf[1]);
}

static struct node *build_add_itself(struct graph *g, struct node **leaf)
{
    struct node *x = node_tanh(g, leaf[0]);
    return add(g, x, x);
}

static struct node *build_tanh(struct graph *g, struct node **leaf)
{
    return node_tanh(g, leaf[0]);
}

/* [a b], by pick_stacked(). */
static struct node *beside(struct graph *g, struct node *a, struct node *b)
{
    int *row = arena_array(&g->arena, (size_t)a->rows, sizeof(*row));
    struct node **part = arena_array(&g->arena, 2, sizeof(*part));
    for (int i = 0; i < a->rows; i++)
        row[i] = i;
    part[0] = a;
    part[1] = b;
    return pick_stacked(g,
                        (const struct picks[]){ { { part, 1 }, row },
                                                { { part + 1, 1 }, row } },
                        2, a->rows);
}

static struct node *build_beside(struct graph *g, struct node **leaf)
{
    return beside(g, leaf[0], leaf[1]);
}

static struct node *build_beside_itself(struct graph *g, struct node **leaf)
{
    struct node *x = node_tanh(g, leaf[0]);
    return beside(g, x, x);
}

/* Two stacks side by side; a part without a gradient, a row picked twice. */
static struct node *build_pick_stacked(struct graph *g, struct node **leaf)
{
    static const int left[] = { 5, 0, 3, 3 }, right[] = { 0, 1, 1, 0 };
    struct node **parts = arena_array(&g->arena, 4, sizeof(*parts));
    parts[0] = leaf[0];
    parts[1] = graph_zeros(g, 1, 4);
    parts[2] = leaf[1];
    parts[3] = leaf[2];
    return pick_stacked(g,
                        (const struct picks[]){ { { parts, 3 }, left },
                                                { { parts + 3, 1 }, right } },
                        2, 4);
}

static struct node *build_pick(struct graph *g, struct node **leaf)
{
    static const int index[] = { 2, -1, 0, 2, 3, -1, 2 };
    return pick_rows(g, leaf[0], index, 7);
}

static struct node *build_stack(struct graph *g, struct node **leaf)
{
    struct node **part = arena_array(&g->arena, 4, sizeof(*part));
    part[0] = leaf[0];
    part[1] = node_tanh(g, leaf[1]);
    part[2] = leaf[2];
    part[3] = part[1];
    return stack_rows(g, &(struct stack){ part, 4 });
}

static struct node *build_lookup(struct graph *g, struct node **leaf)
{
    static const int ids[] = { 3, 0, 3, 5, 3, 0 };
    return lookup(g, leaf[0], ids, 6);
}

/* Views share memory: overlapping ones, one of a view, one of a leaf, and the
 * whole beside its parts. */
static struct node *build_views(struct graph *g, struct node **leaf)
{
    struct node *x = node_tanh(g, leaf[0]);
    struct node **part = arena_array(&g->arena, 5, sizeof(*part));
    part[0] = node_tanh(g, graph_view(g, x, 0, 3));
    part[1] = node_tanh(g, graph_view(g, x, 2, 3));
    part[2] = node_tanh(g, graph_view(g, graph_view(g, x, 1, 4), 1, 2));
    part[3] = node_tanh(g, graph_view(g, leaf[0], 4, 1));
    part[4] = graph_view(g, x, 0, 5);
    return stack_rows(g, &(struct stack){ part, 5 });
}

static struct node *build_dropout(struct graph *g, struct node **leaf)
{
    g->draws = 0;
    return dropout(g, dropout(g, leaf[0], 0.3f), 0.5f);
}

static struct node *build_dropout_rows(struct graph *g, struct node **leaf)
{
    g->draws = 0;
    return dropout_rows(g, leaf[0], 0.4f);
}

/* For operations that use up what they read. */
static struct node *copy(struct graph *g, struct node *x)
{
    return scale(g, x, 1);
}

static struct node *build_rnn(struct graph *g, struct node **leaf)
{
    return rnn_state(g, copy(g, leaf[0]));
}

/* Two steps of each cell, as a recurrence makes them: x, W, h, U. */
static struct node *build_rnn_spent(struct graph *g, struct node **leaf)
{
    struct node *a = linear_spent(g, leaf[0], leaf[1], NULL), *h = leaf[2];
    for (int t = 0; t < 2; t++)
        h = rnn_state(g,
                      linear_into(g, graph_view(g, a, 2 * t, 2), h, leaf[3]));
    return h;
}

static struct node *build_gru_spent(struct graph *g, struct node **leaf)
{
    struct node *a = linear_spent(g, leaf[0], leaf[1], NULL), *h = leaf[2];
    for (int t = 0; t < 2; t++)
        h = gru_gates(g, graph_view(g, a, 2 * t, 2),
                      linear_spent(g, h, leaf[3], NULL), h);
    return h;
}

static struct node *build_lstm_spent(struct graph *g, struct node **leaf)
{
    struct node *a = linear_spent(g, leaf[0], leaf[1], NULL), *h = leaf[2];
    struct node *c = h;
    for (int t = 0; t < 2; t++) {
        struct node *now = graph_view(g, a, 2 * t, 2);
        now = linear_into(g, now, h, leaf[3]);
        c = lstm_cell(g, now, c);
        h = lstm_state(g, now, c);
    }
    return h;
}

static struct node *build_gru(struct graph *g, struct node **leaf)
{
    return gru_gates(g, copy(g, leaf[0]), copy(g, leaf[1]), leaf[2]);
}

/* The state goes in by two ways. */
static struct node *build_gru_step(struct graph *g, struct node **leaf)
{
    struct node *h = node_tanh(g, leaf[0]);
    for (int t = 0; t < 2; t++)
        h = gru_gates(g, copy(g, graph_view(g, leaf[3], 2 * t, 2)),
                      linear(g, h, leaf[1], leaf[2]), h);
    return h;
}

static struct node *build_lstm(struct graph *g, struct node **leaf)
{
    struct node *a = copy(g, leaf[0]), *c = lstm_cell(g, a, leaf[1]);
    return beside(g, c, lstm_state(g, a, c));
}

static struct node *build_lstm_cell(struct graph *g, struct node **leaf)
{
    return lstm_cell(g, copy(g, leaf[0]), leaf[1]);
}

static struct node *build_lstm_state(struct graph *g, struct node **leaf)
{
    return lstm_state(g, copy(g, leaf[0]), leaf[1]);
}

static struct node *build_additive(struct graph *g, struct node **leaf)
{
    return additive_scores(g, leaf[0], leaf[1], leaf[2], &over);
}

static struct node *build_dot(struct graph *g, struct node **leaf)
{
    return dot_scores(g, leaf[0], leaf[1], &over);
}

static struct node *build_softmax(struct graph *g, struct node **leaf)
{
    return ragged_softmax(g, leaf[0], &over);
}

/* Some rows have nothing to look at. */
static const int earlier_start[] = { 0, 0, 4, 4, 8 };
static const int earlier_length[] = { 0, 1, 0, 3, 6 };
static const struct ragged earlier = { earlier_start, earlier_length, 6, NULL };

static struct node *build_earlier(struct graph *g, struct node **leaf)
{
    struct node *a = ragged_softmax(g, leaf[0], &earlier);
    return weighted_sum(g, a, leaf[1], &earlier);
}

static struct node *build_additive_earlier(struct graph *g, struct node **leaf)
{
    return additive_scores(g, leaf[0], leaf[1], leaf[2], &earlier);
}

static struct node *build_dot_earlier(struct graph *g, struct node **leaf)
{
    return dot_scores(g, leaf[0], leaf[1], &earlier);
}

static struct node *build_overlap(struct graph *g, struct node **leaf)
{
    return overlap(g, leaf[0], 3);
}

static struct node *build_weighted_sum(struct graph *g, struct node **leaf)
{
    return weighted_sum(g, leaf[0], leaf[1], &over);
}

static struct node *build_mean(struct graph *g, struct node **leaf)
{
    return ragged_mean(g, leaf[0], &over, QUERIES);
}

/* Memory as keys and as values, as `dot` has it. */
static struct node *build_attention(struct graph *g, struct node **leaf)
{
    struct node *memory = node_tanh(g, leaf[1]);
    struct node *e = dot_scores(g, leaf[0], memory, &over);
    return weighted_sum(g, ragged_softmax(g, e, &over), memory, &over);
}

/* Windows into these sentences. */
static const int window_start[] = { 3, 1, 5, 7, 11 };
static const int window_length[] = { 2, 2, 2, 1, 3 };
static const int window_first[] = { 0, 1, 2, 0, 3 };
static const struct ragged window = { window_start, window_length, 3,
                                      window_first };

static struct node *build_covered(struct graph *g, struct node **leaf)
{
    return covered_scores(g, leaf[0], leaf[1], leaf[2], leaf[3], &over);
}

static struct node *build_covered_window(struct graph *g, struct node **leaf)
{
    return covered_scores(g, leaf[0], leaf[1], leaf[2], leaf[3], &window);
}

static struct node *build_normalised(struct graph *g, struct node **leaf)
{
    return normalised(g, leaf[0], leaf[1]);
}

static struct node *build_place(struct graph *g, struct node **leaf)
{
    return place_window(g, leaf[0], &window, WIDTH);
}

static struct node *build_read(struct graph *g, struct node **leaf)
{
    return read_window(g, leaf[0], 2, &window);
}

static struct node *build_position(struct graph *g, struct node **leaf)
{
    return relative_position(g, leaf[0], &over);
}

static struct node *build_gaussian(struct graph *g, struct node **leaf)
{
    return gaussian_weights(g, leaf[0], leaf[1], 1.5f, &window);
}

static struct node *build_prior(struct graph *g, struct node **leaf)
{
    return gaussian_prior(g, leaf[0], leaf[1], 1.5f, &window);
}

static struct node *build_forget(struct graph *g, struct node **leaf)
{
    struct node *a = ragged_softmax(g, leaf[1], &over);
    return forget_aligned(g, leaf[0], a, 1e-4f, &over);
}

static struct node *build_monotonic(struct graph *g, struct node **leaf)
{
    struct node *b = ragged_softmax(g, leaf[1], &over);
    return monotonic_alignment(g, leaf[0], b, &over);
}

static struct node *build_scale(struct graph *g, struct node **leaf)
{
    return scale(g, leaf[0], -1.75f);
}

static struct node *build_number(struct graph *g, struct node **leaf)
{
    return add_number(g, leaf[0], leaf[1]);
}

static struct node *build_noise(struct graph *g, struct node **leaf)
{
    return node_tanh(g, add_noise(g, leaf[0]));
}

/* The larger of each pair stays the larger: tanh of x, x of twice its size. */
static struct node *build_maxout(struct graph *g, struct node **leaf)
{
    struct node *pairs = beside(g, leaf[0], scale(g, leaf[0], 3));
    return maxout(g, graph_reshape(g, pairs, 2 * pairs->rows, pairs->cols / 2));
}

static struct node *build_columns(struct graph *g, struct node **leaf)
{
    struct node *x = node_tanh(g, leaf[0]);
    return beside(g, split_columns(g, x, 3, 4), split_columns(g, x, 0, 5));
}

static struct node *build_heads(struct graph *g, struct node **leaf)
{
    return split_heads(g, leaf[0], 3);
}

static const struct small_graph graphs[] = {
    { "place_window", build_place, .leaf = { { "a", QUERIES, 3 } } },
    { "read_window", build_read, .leaf = { { "x", QUERIES, 4 } } },
    { "relative_position", build_position, .leaf = { { "x", QUERIES, 1 } } },
    { "gaussian_weights", build_gaussian,
      .leaf = { { "a", QUERIES, 3 }, { "p", QUERIES, 1 } } },
    { "gaussian_prior", build_prior,
      .leaf = { { "e", QUERIES, 3 }, { "p", QUERIES, 1 } } },
    { "forget_aligned", build_forget,
      .leaf = { { "u", QUERIES, WIDTH }, { "e", QUERIES, WIDTH } } },
    { "monotonic_alignment", build_monotonic,
      .leaf = { { "e", QUERIES, WIDTH }, { "b", QUERIES, WIDTH } } },
    { "scale", build_scale, .leaf = { { "x", 3, 5 } } },
    { "add_number", build_number, .leaf = { { "x", 3, 5 }, { "b", 1, 1 } } },
    { "add_noise", build_noise, .leaf = { { "x", 3, 5 } }, .random = true },
    { "maxout", build_maxout, .leaf = { { "x", 3, 8 } } },
    { "split_columns", build_columns, .leaf = { { "x", 3, 7 } } },
    { "split_heads", build_heads, .leaf = { { "x", 4, 6 } } },
    { "linear", build_linear,
      .leaf = { { "x", 5, 3 }, { "w", 3, 4 }, { "b", 1, 4 } } },
    { "linear without bias", build_linear_no_bias,
      .leaf = { { "x", 1, 7 }, { "w", 7, 1 } } },
    { "shared weight", build_shared_weight,
      .leaf = { { "x", 5, 3 }, { "w", 3, 4 }, { "b", 1, 4 }, { "z", 2, 3 } } },
    { "recurrence", build_recurrence,
      .leaf = { { "h", 3, 4 }, { "w", 4, 4 }, { "b", 1, 4 } } },
    { "computed weight", build_computed_weight,
      .leaf = { { "x", 5, 3 }, { "w", 3, 4 }, { "z", 5, 3 } } },
    { "many notes", build_many_notes,
      .leaf = { { "x", 700, 2 }, { "w", 2, 3 }, { "z", 700, 2 } },
      .samples = 3 },
    { "large note", build_large_note,
      .leaf = { { "x", 10, 2 }, { "w", 2, 3 }, { "z", 2100, 2 } },
      .samples = 3 },
    { "linear_into", build_linear_into,
      .leaf = { { "x", 3, 4 },
                { "w", 4, 5 },
                { "b", 1, 5 },
                { "z", 3, 2 },
                { "v", 2, 5 },
                { "u", 4, 5 } },
      .bound = 0.5f },
    { "linear_stack_into", build_linear_stack,
      .leaf = { { "x", 3, 2 },
                { "z", 9, 3 },
                { "w", 3, 5 },
                { "v", 2, 5 },
                { "u", 3, 5 } },
      .bound = 0.5f },
    { "steps in place", build_steps_in_place,
      .leaf = { { "x", 6, 3 },
                { "w", 3, 4 },
                { "b", 1, 4 },
                { "h", 2, 4 },
                { "u", 4, 4 } },
      .bound = 0.7f },
    { "layer_norm", build_layer_norm,
      .leaf = { { "x", 4, 7 }, { "g", 1, 7 }, { "b", 1, 7 } } },
    { "layer_norm without bias", build_layer_norm_no_bias,
      .leaf = { { "x", 3, 37 }, { "g", 1, 37 } } },
    { "layer_norm of two", build_layer_norm,
      .leaf = { { "x", 1, 2 }, { "g", 1, 2 }, { "b", 1, 2 } } },
    { "layer_norm_into", build_layer_norm_into,
      .leaf = { { "x", 3, 5 },
                { "g", 1, 5 },
                { "b", 1, 5 },
                { "z", 3, 5 },
                { "f", 1, 5 } } },
    { "normalised steps", build_normalised_steps,
      .leaf = { { "x", 6, 16 },
                { "g", 1, 16 },
                { "b", 1, 16 },
                { "h", 2, 4 },
                { "c", 2, 4 },
                { "u", 4, 16 } } },
    { "add", build_add, .leaf = { { "a", 3, 5 }, { "b", 3, 5 } } },
    { "add itself", build_add_itself, .leaf = { { "a", 3, 5 } } },
    { "tanh", build_tanh, .leaf = { { "x", 4, 9 } }, .bound = 2 },
    { "side by side", build_beside, .leaf = { { "a", 3, 5 }, { "b", 3, 2 } } },
    { "beside itself", build_beside_itself, .leaf = { { "a", 3, 5 } } },
    { "pick_rows", build_pick, .leaf = { { "x", 4, 5 } } },
    { "stack_rows", build_stack,
      .leaf = { { "a", 3, 4 }, { "b", 1, 4 }, { "c", 2, 4 } } },
    { "pick_stacked", build_pick_stacked,
      .leaf = { { "a", 2, 4 }, { "b", 3, 4 }, { "c", 2, 3 } } },
    { "lookup", build_lookup, .leaf = { { "table", 6, 4 } } },
    { "graph_view", build_views, .leaf = { { "x", 5, 3 } } },
    { "dropout", build_dropout, .leaf = { { "x", 6, 7 } }, .random = true },
    { "dropout_rows", build_dropout_rows, .leaf = { { "x", 9, 4 } },
      .random = true },
    { "gru_gates", build_gru,
      .leaf = { { "gx", 3, 15 }, { "gh", 3, 15 }, { "h", 3, 5 } } },
    { "gru of 19", build_gru,
      .leaf = { { "gx", 2, 57 }, { "gh", 2, 57 }, { "h", 2, 19 } } },
    { "gru steps", build_gru_step,
      .leaf = { { "h", 2, 4 },
                { "u", 4, 12 },
                { "c", 1, 12 },
                { "gx", 4, 12 } } },
    { "rnn_state", build_rnn, .leaf = { { "a", 3, 19 } } },
    { "rnn steps, spent", build_rnn_spent,
      .leaf = { { "x", 4, 3 }, { "w", 3, 4 }, { "h", 2, 4 }, { "u", 4, 4 } } },
    { "gru steps, spent", build_gru_spent,
      .leaf = { { "x", 4, 3 },
                { "w", 3, 12 },
                { "h", 2, 4 },
                { "u", 4, 12 } } },
    { "lstm steps, spent", build_lstm_spent,
      .leaf = { { "x", 4, 3 },
                { "w", 3, 16 },
                { "h", 2, 4 },
                { "u", 4, 16 } } },
    { "lstm", build_lstm, .leaf = { { "a", 3, 20 }, { "c", 3, 5 } } },
    { "lstm_cell", build_lstm_cell,
      .leaf = { { "a", 2, 76 }, { "c", 2, 19 } } },
    { "lstm_state", build_lstm_state,
      .leaf = { { "a", 2, 76 }, { "c", 2, 19 } } },
    { "additive_scores", build_additive,
      .leaf = { { "q", QUERIES, 5 }, { "k", MEMORY, 5 }, { "v", 1, 5 } } },
    { "additive_scores of 300", build_additive,
      .leaf = { { "q", QUERIES, 300 }, { "k", MEMORY, 300 }, { "v", 1, 300 } },
      .samples = 8 },
    { "covered_scores", build_covered,
      .leaf = { { "q", QUERIES, 5 },
                { "k", MEMORY, 5 },
                { "vw", 2, 5 },
                { "c", QUERIES, WIDTH } } },
    { "covered_scores of a window", build_covered_window,
      .leaf = { { "q", QUERIES, 19 },
                { "k", MEMORY, 19 },
                { "vw", 2, 19 },
                { "c", QUERIES, WIDTH } } },
    { "normalised", build_normalised,
      .leaf = { { "v", 1, 19 }, { "g", 1, 1 } } },
    { "dot_scores", build_dot,
      .leaf = { { "q", QUERIES, 19 }, { "k", MEMORY, 19 } } },
    { "ragged_softmax", build_softmax, .leaf = { { "e", QUERIES, WIDTH } },
      .bound = 2 },
    { "additive_scores of nothing", build_additive_earlier,
      .leaf = { { "q", QUERIES, 5 }, { "k", MEMORY, 5 }, { "v", 1, 5 } } },
    { "dot_scores of nothing", build_dot_earlier,
      .leaf = { { "q", QUERIES, 5 }, { "k", MEMORY, 5 } } },
    { "softmax and sum of nothing", build_earlier,
      .leaf = { { "e", QUERIES, WIDTH }, { "v", MEMORY, 5 } } },
    { "overlap", build_overlap, .leaf = { { "a", 6, 7 } } },
    { "weighted_sum", build_weighted_sum,
      .leaf = { { "a", QUERIES, WIDTH }, { "v", MEMORY, 19 } } },
    { "ragged_mean", build_mean, .leaf = { { "v", MEMORY, 5 } } },
    { "attention", build_attention,
      .leaf = { { "q", QUERIES, 5 }, { "v", MEMORY, 5 } } },
};

enum { GRAPHS = sizeof(graphs) / sizeof(graphs[0]) };

/* --- what is done with each of them --------------------------------------- */

struct trial {
    const struct small_graph *graph;
    struct graph g;
    int count;
    float *value[LEAVES], *grad[LEAVES];
    bool constant[LEAVES];
    bool inference;
};

static size_t leaf_size(const struct trial *t, int l)
{
    const struct leaf_shape *leaf = &t->graph->leaf[l];
    return (size_t)leaf->rows * (size_t)leaf->cols;
}

static void trial_init(struct trial *t, const struct small_graph *graph)
{
    *t = (struct trial){ .graph = graph };
    graph_init(&t->g);
    t->g.seed = 11;
    while (t->count < LEAVES && graph->leaf[t->count].name)
        t->count++;
    float bound = graph->bound > 0 ? graph->bound : 1.0f;
    for (int l = 0; l < t->count; l++) {
        t->value[l] = numbers_new(leaf_size(t, l), bound, (uint64_t)l + 5);
        t->grad[l] = xcalloc(leaf_size(t, l), sizeof(float));
    }
}

static void trial_release(struct trial *t)
{
    graph_release(&t->g);
    for (int l = 0; l < t->count; l++) {
        free(t->value[l]);
        free(t->grad[l]);
    }
}

/* Builds the graph and the random functional of its result. */
static double run(void *arg, bool backward)
{
    struct trial *t = arg;
    struct node *leaf[LEAVES];
    graph_reset(&t->g);
    t->g.training = !t->inference;
    for (int l = 0; l < t->count; l++)
        leaf[l] = graph_leaf(&t->g, t->graph->leaf[l].rows,
                             t->graph->leaf[l].cols, t->value[l],
                             t->constant[l] ? NULL : t->grad[l]);
    struct node *y = t->graph->build(&t->g, leaf);
    double sum = gradcheck_functional(y, 3);
    if (backward)
        graph_backward(&t->g);
    return sum;
}

static void zero_gradients(struct trial *t)
{
    for (int l = 0; l < t->count; l++)
        memset(t->grad[l], 0, leaf_size(t, l) * sizeof(float));
}

static void test_gradients(void **state)
{
    (void)state;
    for (int k = 0; k < GRAPHS; k++) {
        struct trial t;
        struct gradcheck_leaf leaves[LEAVES];
        trial_init(&t, &graphs[k]);
        for (int l = 0; l < t.count; l++)
            leaves[l] = (struct gradcheck_leaf){ graphs[k].leaf[l].name,
                                                 t.value[l], t.grad[l],
                                                 leaf_size(&t, l) };
        struct gradcheck check = { .function = run,
                                   .arg = &t,
                                   .leaves = leaves,
                                   .count = t.count,
                                   .samples = graphs[k].samples };
        if (gradcheck(&check) < 0)
            fail_msg("%s", graphs[k].name);
        trial_release(&t);
    }
}

/* Gradients are added to what is there. */
static void test_gradients_are_added(void **state)
{
    (void)state;
    for (int k = 0; k < GRAPHS; k++) {
        struct trial t, again;
        trial_init(&t, &graphs[k]);
        trial_init(&again, &graphs[k]);
        run(&t, true);
        for (int l = 0; l < t.count; l++)
            numbers_fill(again.grad[l], leaf_size(&t, l), 1.0f, (uint64_t)l);
        run(&again, true);
        for (int l = 0; l < t.count; l++) {
            float *start = numbers_new(leaf_size(&t, l), 1.0f, (uint64_t)l);
            for (size_t i = 0; i < leaf_size(&t, l); i++) {
                double sum = (double)start[i] + (double)t.grad[l][i];
                if (fabs((double)again.grad[l][i] - sum) >
                    1e-5 * (1 + fabs(sum)))
                    fail_msg("%s: %s[%zu]", graphs[k].name,
                             graphs[k].leaf[l].name, i);
            }
            free(start);
        }
        trial_release(&t);
        trial_release(&again);
    }
}

/* The gradients of the others are the same when a leaf has none. */
static void check_constant_leaf(const struct small_graph *graph, int constant)
{
    struct trial all, some;
    trial_init(&all, graph);
    trial_init(&some, graph);
    run(&all, true);
    some.constant[constant] = true;
    run(&some, true);
    for (int l = 0; l < all.count; l++)
        if (l != constant &&
            !same_bits(all.grad[l], some.grad[l], leaf_size(&all, l)))
            fail_msg("%s: gradient of %s when %s has none", graph->name,
                     graph->leaf[l].name, graph->leaf[constant].name);
    trial_release(&all);
    trial_release(&some);
}

static void test_leaves_without_gradient(void **state)
{
    (void)state;
    for (int k = 0; k < GRAPHS; k++)
        for (int l = 0; l < LEAVES && graphs[k].leaf[l].name; l++)
            check_constant_leaf(&graphs[k], l);
}

static void test_nothing_is_wanted(void **state)
{
    (void)state;
    for (int k = 0; k < GRAPHS; k++) {
        struct trial t;
        trial_init(&t, &graphs[k]);
        for (int l = 0; l < t.count; l++)
            t.constant[l] = true;
        run(&t, true);
        assert_null(t.g.tape);
        assert_null(t.g.weights);
        trial_release(&t);
    }
}

/* The same values, and neither tape nor gradients. */
static void test_inference(void **state)
{
    (void)state;
    for (int k = 0; k < GRAPHS; k++) {
        struct trial t;
        trial_init(&t, &graphs[k]);
        double trained = run(&t, false);
        t.inference = true;
        double inferred = run(&t, false);
        assert_null(t.g.tape);
        if (!graphs[k].random &&
            fabs(trained - inferred) > 1e-5 * (1 + fabs(trained)))
            fail_msg("%s: %.9g in training, %.9g in inference", graphs[k].name,
                     trained, inferred);
        trial_release(&t);
    }
}

/* Running it again gives the same bits, also in memory that was used. */
static void test_determinism(void **state)
{
    (void)state;
    for (int k = 0; k < GRAPHS; k++) {
        struct trial t, once;
        trial_init(&t, &graphs[k]);
        trial_init(&once, &graphs[k]);
        double value = run(&once, true);
        numbers_fill(arena_alloc(&t.g.arena, 1 << 18), 1 << 16, 9.0f, 1);
        for (int round = 0; round < 2; round++) {
            zero_gradients(&t);
            assert_true(run(&t, true) == value);
        }
        for (int l = 0; l < t.count; l++)
            assert_true(same_bits(t.grad[l], once.grad[l], leaf_size(&t, l)));
        trial_release(&t);
        trial_release(&once);
    }
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_gradients_are_added),
        cmocka_unit_test(test_leaves_without_gradient),
        cmocka_unit_test(test_nothing_is_wanted),
        cmocka_unit_test(test_inference),
        cmocka_unit_test(test_determinism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
