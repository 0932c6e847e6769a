/* Operations: gradients against finite differences, values against plain
 * loops in double precision. */
#include "graph/ops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "graph/gradcheck.h"
#include "numbers.h"
#include "tensor/gemm.h"
#include "tensor/vec.h"

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
    return stack_rows(g, part, 3);
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
    return stack_rows(g, part, 3);
}

static struct node *build_linear_into(struct graph *g, struct node **leaf)
{
    struct node *y = linear(g, leaf[0], leaf[1], leaf[2]);
    y = linear_into(g, y, leaf[3], leaf[4]);
    y = linear_into(g, y, leaf[0], leaf[5]);
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
    return stack_rows(g, state, 3);
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
    return stack_rows(g, state, 3);
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
                        (const struct picks[]){ { part, 1, row },
                                                { part + 1, 1, row } },
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
                        (const struct picks[]){ { parts, 3, left },
                                                { parts + 3, 1, right } },
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
    return stack_rows(g, part, 4);
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
    return stack_rows(g, part, 5);
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

/* Five queries; two share a sentence, one sentence has one word. */
static const int over_start[] = { 3, 0, 3, 7, 8 };
static const int over_length[] = { 4, 3, 4, 1, 6 };
static const struct ragged over = { over_start, over_length, 6, NULL };

enum { QUERIES = 5, MEMORY = 14, WIDTH = 6 };

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

/* --- values --------------------------------------------------------------- */

static struct graph scratch_graph(void)
{
    struct graph g;
    graph_init(&g);
    return g;
}

/* A leaf of random numbers, in the graph's memory. */
static struct node *random_leaf(struct graph *g, int rows, int cols,
                                float bound, uint64_t seed)
{
    size_t n = (size_t)rows * (size_t)cols;
    float *value = arena_array(&g->arena, n, sizeof(*value));
    float *grad = arena_array(&g->arena, n, sizeof(*grad));
    numbers_fill(value, n, bound, seed);
    memset(grad, 0, n * sizeof(*grad));
    return graph_leaf(g, rows, cols, value, grad);
}

static double at(const struct node *x, int row, int col)
{
    return (double)node_row(x, row)[col];
}

static double sigma(double x)
{
    return 1 / (1 + exp(-x));
}

static void assert_near(const struct node *y, int row, int col, double expected)
{
    if (!(fabs(at(y, row, col) - expected) <= 2e-6 * (1 + fabs(expected))))
        fail_msg("[%d,%d] is %.8g, not %.8g", row, col, at(y, row, col),
                 expected);
}

static void test_gru_values(void **state)
{
    (void)state;
    enum { B = 3, H = 21 };
    struct graph g = scratch_graph();
    struct node *gx = random_leaf(&g, B, 3 * H, 2, 1);
    struct node *gh = random_leaf(&g, B, 3 * H, 2, 2);
    struct node *h = random_leaf(&g, B, H, 1, 3);
    struct node *y = gru_gates(&g, copy(&g, gx), copy(&g, gh), h);
    for (int b = 0; b < B; b++)
        for (int i = 0; i < H; i++) {
            double r = sigma(at(gx, b, i) + at(gh, b, i));
            double z = sigma(at(gx, b, H + i) + at(gh, b, H + i));
            double n = tanh(at(gx, b, 2 * H + i) + r * at(gh, b, 2 * H + i));
            assert_near(y, b, i, (1 - z) * n + z * at(h, b, i));
        }
    graph_release(&g);
}

static void test_lstm_values(void **state)
{
    (void)state;
    enum { B = 3, H = 21 };
    struct graph g = scratch_graph();
    struct node *a = random_leaf(&g, B, 4 * H, 2, 1);
    struct node *c = random_leaf(&g, B, H, 2, 3);
    struct node *spent = copy(&g, a), *cell = lstm_cell(&g, spent, c);
    struct node *h = lstm_state(&g, spent, cell);
    for (int b = 0; b < B; b++)
        for (int k = 0; k < H; k++) {
            double i = sigma(at(a, b, k)), f = sigma(at(a, b, H + k));
            double n = tanh(at(a, b, 2 * H + k)),
                   o = sigma(at(a, b, 3 * H + k));
            double expected = f * at(c, b, k) + i * n;
            assert_near(cell, b, k, expected);
            assert_near(h, b, k, o * tanh(expected));
        }
    graph_release(&g);
}

/* The j-th of a row of k, normalised. */
static double normalised_at(const struct node *x, int row, int j)
{
    int k = x->cols;
    double mean = 0, variance = 0;
    for (int l = 0; l < k; l++)
        mean += at(x, row, l) / k;
    for (int l = 0; l < k; l++)
        variance += (at(x, row, l) - mean) * (at(x, row, l) - mean) / k;
    return (at(x, row, j) - mean) / sqrt(variance + 1e-5);
}

/* Rows of all sizes, one that is almost constant, and one of zeros. */
static void test_layer_norm_values(void **state)
{
    (void)state;
    enum { ROWS = 5 };
    static const int widths[] = { 2, 3, 16, 21, 64, 300 };
    static const float factors[ROWS] = { 1, 100, 1e-2f, 1e-4f, 0 };
    for (int w = 0; w < 6; w++) {
        int k = widths[w];
        struct graph g = scratch_graph();
        struct node *x = random_leaf(&g, ROWS, k, 1, 1);
        struct node *gain = random_leaf(&g, 1, k, 2, 2);
        struct node *bias = random_leaf(&g, 1, k, 2, 3);
        struct node *start = random_leaf(&g, ROWS, k, 2, 4);
        for (int i = 0; i < ROWS; i++)
            vec_scale(node_row(x, i), factors[i], (size_t)k);
        struct node *y = layer_norm(&g, x, gain, bias);
        struct node *plain = layer_norm(&g, x, gain, NULL);
        struct node *zeros = graph_zeros(&g, ROWS, k);
        struct node *sum = layer_norm_into(&g, add(&g, start, zeros), x, gain);
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < k; j++) {
                double z = at(gain, 0, j) * normalised_at(x, i, j);
                assert_near(y, i, j, z + at(bias, 0, j));
                assert_near(plain, i, j, z);
                assert_near(sum, i, j, z + at(start, i, j));
            }
        assert_true(same_bits(node_row(y, ROWS - 1), bias->value, (size_t)k));
        graph_release(&g);
    }
}

/* A row's values have the same bits in whatever company. */
static void test_layer_norm_of_one_row(void **state)
{
    (void)state;
    enum { ROWS = 6, K = 53 };
    struct graph g = scratch_graph();
    struct node *x = random_leaf(&g, ROWS, K, 1, 1);
    struct node *gain = random_leaf(&g, 1, K, 2, 2);
    struct node *bias = random_leaf(&g, 1, K, 2, 3);
    struct node *y = layer_norm(&g, x, gain, bias);
    for (int i = 0; i < ROWS; i++) {
        struct node *one = layer_norm(&g, graph_view(&g, x, i, 1), gain, bias);
        assert_true(same_bits(node_row(y, i), one->value, K));
    }
    node_row(x, 2)[K - 1] = NAN;
    y = layer_norm(&g, x, gain, bias);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < K; j++)
            assert_int_equal(isnan(node_row(y, i)[j]) != 0, i == 2);
    graph_release(&g);
}

static void test_score_values(void **state)
{
    (void)state;
    enum { A = 260 };
    struct graph g = scratch_graph();
    struct node *q = random_leaf(&g, QUERIES, A, 1, 1);
    struct node *k = random_leaf(&g, MEMORY, A, 1, 2);
    struct node *v = random_leaf(&g, 1, A, 1, 3);
    struct node *additive = additive_scores(&g, q, k, v, &over);
    struct node *dot = dot_scores(&g, q, k, &over);
    assert_int_equal(additive->cols, WIDTH);
    for (int i = 0; i < QUERIES; i++)
        for (int j = 0; j < WIDTH; j++) {
            double sum[2] = { 0, 0 };
            for (int a = 0; a < A && j < over_length[i]; a++) {
                double key = at(k, over_start[i] + j, a);
                sum[0] += at(v, 0, a) * tanh(at(q, i, a) + key);
                sum[1] += at(q, i, a) * key;
            }
            assert_true(fabs(at(additive, i, j) - sum[0]) < 1e-4);
            assert_true(fabs(at(dot, i, j) - sum[1]) < 1e-4);
            if (j >= over_length[i])
                assert_true(at(additive, i, j) == 0 && at(dot, i, j) == 0);
        }
    graph_release(&g);
}

/* What is behind the length has no influence, whatever it is. */
static void test_softmax_values(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    struct node *e = random_leaf(&g, QUERIES, WIDTH, 30, 1);
    for (int i = 0; i < QUERIES; i++)
        for (int j = over_length[i]; j < WIDTH; j++)
            node_row(e, i)[j] = NAN;
    struct node *a = ragged_softmax(&g, e, &over);
    for (int i = 0; i < QUERIES; i++) {
        double sum = 0, total = 0;
        for (int j = 0; j < over_length[i]; j++)
            sum += exp(at(e, i, j));
        for (int j = 0; j < WIDTH; j++) {
            bool inside = j < over_length[i];
            assert_near(a, i, j, inside ? exp(at(e, i, j)) / sum : 0);
            assert_true(at(a, i, j) >= 0);
            total += at(a, i, j);
        }
        assert_true(fabs(total - 1) < 1e-6);
    }
    graph_release(&g);
}

/* Scores so large that their exponentials overflow. */
static void test_softmax_of_large_scores(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    struct node *e = random_leaf(&g, QUERIES, WIDTH, 3e4f, 1);
    struct node *a = ragged_softmax(&g, e, &over);
    for (int i = 0; i < QUERIES; i++) {
        double total = 0;
        for (int j = 0; j < WIDTH; j++)
            total += at(a, i, j);
        assert_true(fabs(total - 1) < 1e-6);
    }
    graph_release(&g);
}

static void test_context_values(void **state)
{
    (void)state;
    enum { M = 21 };
    struct graph g = scratch_graph();
    struct node *a = random_leaf(&g, QUERIES, WIDTH, 1, 1);
    struct node *v = random_leaf(&g, MEMORY, M, 1, 2);
    struct node *c = weighted_sum(&g, a, v, &over);
    struct node *mean = ragged_mean(&g, v, &over, QUERIES);
    for (int i = 0; i < QUERIES; i++)
        for (int m = 0; m < M; m++) {
            double sum = 0, plain = 0;
            for (int j = 0; j < over_length[i]; j++) {
                sum += at(a, i, j) * at(v, over_start[i] + j, m);
                plain += at(v, over_start[i] + j, m);
            }
            assert_near(c, i, m, sum);
            assert_near(mean, i, m, plain / over_length[i]);
        }
    graph_release(&g);
}

static void test_rows_are_moved(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    struct node *x = random_leaf(&g, 4, 5, 1, 1);
    static const int index[] = { 3, -1, 0 };
    struct node *y = pick_rows(&g, x, index, 3);
    assert_true(same_bits(node_row(y, 0), node_row(x, 3), 5));
    assert_true(same_bits(node_row(y, 2), node_row(x, 0), 5));
    for (int j = 0; j < 5; j++)
        assert_true(node_row(y, 1)[j] == 0);
    assert_ptr_equal(graph_view(&g, x, 0, 4), x);
    assert_ptr_equal(graph_view(&g, x, 2, 1)->value, node_row(x, 2));
    graph_release(&g);
}

static void test_touched_rows(void **state)
{
    (void)state;
    static const int ids[] = { 4, 1, 4 };
    static const unsigned char expected[6] = { 0, 1, 0, 0, 1, 0 };
    unsigned char touched[6] = { 0 };
    struct graph g = scratch_graph();
    g.training = true;
    struct node *table = random_leaf(&g, 6, 3, 1, 1);
    table->touched = touched;
    gradcheck_functional(lookup(&g, table, ids, 3), 1);
    graph_backward(&g);
    assert_memory_equal(touched, expected, sizeof(touched));
    graph_release(&g);
}

/* --- dropout --------------------------------------------------------------- */

typedef struct node *dropout_fn(struct graph *g, struct node *x, float rate);

/* The factors of a mask, in memory of the graph. */
static float *mask_of(struct graph *g, dropout_fn *drop, int rows, int cols,
                      float rate)
{
    struct node *x = random_leaf(g, rows, cols, 1, 1);
    for (size_t i = 0; i < node_size(x); i++)
        x->value[i] = 1;
    return drop(g, x, rate)->value;
}

static void check_rate(dropout_fn *drop, int rows, int cols, float rate,
                       double independent)
{
    struct graph g = scratch_graph();
    g.training = true;
    size_t n = (size_t)rows * (size_t)cols, dropped = 0;
    const float *mask = mask_of(&g, drop, rows, cols, rate);
    for (size_t i = 0; i < n; i++) {
        assert_true(mask[i] == 0 || mask[i] == 1 / (1 - rate));
        dropped += mask[i] == 0;
    }
    double expected = (double)rate,
           deviation = sqrt(expected * (1 - expected) / independent);
    assert_true(fabs((double)dropped / (double)n - expected) < 4 * deviation);
    graph_release(&g);
}

static void test_dropout_rates(void **state)
{
    (void)state;
    static const float rates[] = { 0.01f, 0.1f, 0.5f, 0.9f };
    for (int i = 0; i < 4; i++) {
        check_rate(dropout, 100, 200, rates[i], 20000);
        check_rate(dropout_rows, 20000, 2, rates[i], 20000);
    }
}

/* Neighbours in a row, in a column and in the next draw are dropped together
 * as often as independent ones: a quarter of the time. */
static void test_dropout_is_independent(void **state)
{
    (void)state;
    enum { N = 150 };
    struct graph g = scratch_graph();
    g.training = true;
    const float *a = mask_of(&g, dropout, N, N, 0.5f);
    const float *b = mask_of(&g, dropout, N, N, 0.5f);
    int row = 0, column = 0, draw = 0;
    for (int i = 0; i + 1 < N; i++)
        for (int j = 0; j + 1 < N; j++) {
            const float *here = a + i * N + j;
            row += here[0] == 0 && here[1] == 0;
            column += here[0] == 0 && here[N] == 0;
            draw += here[0] == 0 && b[i * N + j] == 0;
        }
    double n = (N - 1) * (N - 1), slack = 4 * sqrt(n * 3 / 16);
    assert_true(fabs(row - n / 4) < slack);
    assert_true(fabs(column - n / 4) < slack);
    assert_true(fabs(draw - n / 4) < slack);
    graph_release(&g);
}

static void test_dropped_rows_are_whole(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    g.training = true;
    const float *mask = mask_of(&g, dropout_rows, 50, 7, 0.5f);
    for (int i = 0; i < 50; i++)
        for (int j = 1; j < 7; j++)
            assert_true(mask[i * 7 + j] == mask[i * 7]);
    graph_release(&g);
}

/* A mask is a function of seed, update, part, draw, row and column. */
static void test_dropout_is_a_function(void **state)
{
    (void)state;
    enum { ROWS = 6, COLS = 40 };
    struct graph g = scratch_graph(), other = scratch_graph();
    g.training = other.training = true;
    const float *first = mask_of(&g, dropout, ROWS, COLS, 0.5f);
    const float *second = mask_of(&g, dropout, ROWS, COLS, 0.5f);
    assert_false(same_bits(first, second, ROWS * COLS));
    const float *same = mask_of(&other, dropout, ROWS, COLS, 0.5f);
    assert_true(same_bits(first, same, ROWS * COLS));
    for (int word = 0; word < 3; word++) {
        other.draws = 0;
        other.seed = word == 0;
        other.update = word == 1;
        other.part = word == 2;
        const float *changed = mask_of(&other, dropout, ROWS, COLS, 0.5f);
        assert_false(same_bits(first, changed, ROWS * COLS));
    }
    graph_release(&g);
    graph_release(&other);
}

/* Nor does it depend on how many rows and columns there are beside. */
static void test_dropout_does_not_depend_on_the_size(void **state)
{
    (void)state;
    struct graph g = scratch_graph(), other = scratch_graph();
    g.training = other.training = true;
    const float *small = mask_of(&g, dropout, 3, 21, 0.5f);
    const float *large = mask_of(&other, dropout, 8, 50, 0.5f);
    for (int i = 0; i < 3; i++)
        assert_true(same_bits(small + 21 * i, large + 50 * i, 21));
    graph_release(&g);
    graph_release(&other);
}

static void test_no_dropout(void **state)
{
    (void)state;
    struct graph g = scratch_graph();
    struct node *x = random_leaf(&g, 3, 4, 1, 1);
    assert_ptr_equal(dropout(&g, x, 0.5f), x);
    assert_ptr_equal(dropout_rows(&g, x, 0.5f), x);
    g.training = true;
    assert_ptr_equal(dropout(&g, x, 0), x);
    assert_ptr_equal(dropout_rows(&g, x, 0), x);
    graph_release(&g);
}

/* --- output layer and cross-entropy ---------------------------------------- */

struct output {
    const char *name;
    int rows, width, vocabulary;
    bool transposed;
    float smoothing, scale;
    size_t samples;
};

/* More than 512 rows are more than one chunk. */
static const struct output outputs[] = {
    { "plain", 7, 4, 9, false, 0, 1, 0 },
    { "smoothed", 7, 4, 9, false, 0.1f, 1, 0 },
    { "transposed", 7, 4, 9, true, 0, 1, 0 },
    { "transposed and smoothed", 7, 4, 9, true, 0.3f, 1, 0 },
    { "scaled", 5, 3, 20, false, 0.1f, 0.25f, 0 },
    { "one word", 3, 4, 1, false, 0.1f, 1, 0 },
    { "several chunks", 520, 3, 5, false, 0.1f, 0.1f, 3 },
    { "several chunks, transposed", 520, 3, 5, true, 0.1f, 0.1f, 3 },
};

enum { OUTPUTS = sizeof(outputs) / sizeof(outputs[0]), PARTS = 3 };

struct output_trial {
    const struct output *output;
    struct graph g;
    size_t size[PARTS];
    float *value[PARTS], *grad[PARTS]; /* r, w, b */
    int *gold;
    float *row_nll;
    struct loss loss;
    bool inference, constant[PARTS];
};

static void output_init(struct output_trial *t, const struct output *o)
{
    *t = (struct output_trial){ .output = o };
    graph_init(&t->g);
    t->size[0] = (size_t)o->rows * (size_t)o->width;
    t->size[1] = (size_t)o->width * (size_t)o->vocabulary;
    t->size[2] = (size_t)o->vocabulary;
    for (int p = 0; p < PARTS; p++) {
        t->value[p] = numbers_new(t->size[p], 1.0f, (uint64_t)p + 1);
        t->grad[p] = xcalloc(t->size[p], sizeof(float));
    }
    t->gold = ARRAY_ALLOC(t->gold, (size_t)o->rows);
    for (int i = 0; i < o->rows; i++)
        t->gold[i] = numbers_pick(o->vocabulary, 4, (uint64_t)i);
    t->row_nll = ARRAY_ZERO(t->row_nll, (size_t)o->rows);
}

static void output_release(struct output_trial *t)
{
    graph_release(&t->g);
    for (int p = 0; p < PARTS; p++) {
        free(t->value[p]);
        free(t->grad[p]);
    }
    free(t->gold);
    free(t->row_nll);
}

static float *gradient_of(struct output_trial *t, int p)
{
    return t->constant[p] ? NULL : t->grad[p];
}

/* Gradients start from the operation itself: a call that is to give a value
 * only is of an inference graph. */
static double run_output(void *arg, bool backward)
{
    struct output_trial *t = arg;
    const struct output *o = t->output;
    graph_reset(&t->g);
    t->g.training = backward;
    struct node *r = graph_leaf(&t->g, o->rows, o->width, t->value[0],
                                gradient_of(t, 0));
    struct node *w = graph_leaf(&t->g, o->transposed ? o->vocabulary : o->width,
                                o->transposed ? o->width : o->vocabulary,
                                t->value[1], gradient_of(t, 1));
    struct node *b = graph_leaf(&t->g, 1, o->vocabulary, t->value[2],
                                gradient_of(t, 2));
    struct loss_config config = { .transposed = o->transposed,
                                  .smoothing = o->smoothing,
                                  .scale = o->scale };
    t->loss = cross_entropy(&t->g, r, w, b, t->gold, &config, t->row_nll);
    if (backward)
        graph_backward(&t->g);
    return (double)o->scale * t->loss.smoothed;
}

static void test_cross_entropy_gradients(void **state)
{
    (void)state;
    static const char *const names[PARTS] = { "r", "w", "b" };
    for (int k = 0; k < OUTPUTS; k++) {
        struct output_trial t;
        struct gradcheck_leaf leaves[PARTS];
        output_init(&t, &outputs[k]);
        for (int p = 0; p < PARTS; p++)
            leaves[p] = (struct gradcheck_leaf){ names[p], t.value[p],
                                                 t.grad[p], t.size[p] };
        struct gradcheck check = { .function = run_output,
                                   .arg = &t,
                                   .leaves = leaves,
                                   .count = PARTS,
                                   .samples = outputs[k].samples };
        if (gradcheck(&check) < 0)
            fail_msg("%s", outputs[k].name);
        output_release(&t);
    }
}

static double logit(const struct output_trial *t, int i, int v)
{
    const struct output *o = t->output;
    double sum = (double)t->value[2][v];
    for (int e = 0; e < o->width; e++) {
        float w = o->transposed ? t->value[1][v * o->width + e]
                                : t->value[1][e * o->vocabulary + v];
        sum += (double)t->value[0][i * o->width + e] * (double)w;
    }
    return sum;
}

/* - sum_v t_v log p_v, t = (1 - s) onehot + s / V */
static double row_loss(const struct output_trial *t, int i, double smoothing)
{
    int V = t->output->vocabulary;
    double sum = 0, loss = 0;
    for (int v = 0; v < V; v++)
        sum += exp(logit(t, i, v));
    for (int v = 0; v < V; v++) {
        double share = smoothing / V + (v == t->gold[i] ? 1 - smoothing : 0);
        loss -= share * (logit(t, i, v) - log(sum));
    }
    return loss;
}

static void check_losses(const struct output_trial *t)
{
    double nll = 0, smoothed = 0;
    for (int i = 0; i < t->output->rows; i++) {
        double row = row_loss(t, i, 0);
        assert_true(fabs((double)t->row_nll[i] - row) < 2e-6 * (1 + row));
        nll += row;
        smoothed += row_loss(t, i, (double)t->output->smoothing);
    }
    assert_true(fabs(t->loss.nll - nll) < 1e-6 * (1 + nll));
    assert_true(fabs(t->loss.smoothed - smoothed) < 1e-6 * (1 + smoothed));
}

static void test_cross_entropy_values(void **state)
{
    (void)state;
    for (int k = 0; k < OUTPUTS; k++) {
        struct output_trial t;
        output_init(&t, &outputs[k]);
        run_output(&t, false);
        check_losses(&t);
        run_output(&t, true);
        check_losses(&t);
        output_release(&t);
    }
}

/* Logits far outside of what exp() can take; and the loss of a row that is
 * sure, which is small but not negative. */
static void test_cross_entropy_of_large_logits(void **state)
{
    (void)state;
    struct output_trial t;
    output_init(&t, &outputs[0]);
    for (size_t i = 0; i < t.size[1]; i++)
        t.value[1][i] *= 300;
    run_output(&t, true);
    assert_true(isfinite(t.loss.nll));
    for (int i = 0; i < outputs[0].rows; i++)
        assert_true(t.row_nll[i] >= 0);
    for (size_t i = 0; i < t.size[0]; i++)
        assert_true(isfinite(t.grad[0][i]));
    output_release(&t);
}

static void test_cross_entropy_is_not_a_number(void **state)
{
    (void)state;
    struct output_trial t;
    output_init(&t, &outputs[0]);
    t.value[0][5] = NAN;
    run_output(&t, true);
    assert_true(isnan(t.loss.nll) && isnan(t.loss.smoothed));
    output_release(&t);
}

/* Rows that are the same have the same gradient, whatever chunk they are in. */
static void test_cross_entropy_in_chunks(void **state)
{
    (void)state;
    enum { PERIOD = 13 };
    for (int k = 0; k < OUTPUTS; k++) {
        const struct output *o = &outputs[k];
        struct output_trial t;
        output_init(&t, o);
        for (int i = PERIOD; i < o->rows; i++) {
            t.gold[i] = t.gold[i - PERIOD];
            memcpy(t.value[0] + i * o->width,
                   t.value[0] + (i - PERIOD) * o->width,
                   (size_t)o->width * sizeof(float));
        }
        run_output(&t, true);
        for (int i = PERIOD * o->width; i < o->rows * o->width; i++) {
            double was = (double)t.grad[0][i - PERIOD * o->width];
            assert_true(fabs((double)t.grad[0][i] - was) < 1e-6);
        }
        output_release(&t);
    }
}

static void test_cross_entropy_of_constants(void **state)
{
    (void)state;
    for (int k = 0; k < OUTPUTS; k++)
        for (int p = 0; p < PARTS; p++) {
            struct output_trial all, some;
            output_init(&all, &outputs[k]);
            output_init(&some, &outputs[k]);
            some.constant[p] = true;
            run_output(&all, true);
            run_output(&some, true);
            for (int q = 0; q < PARTS; q++)
                assert_true(q == p ||
                            same_bits(all.grad[q], some.grad[q], all.size[q]));
            output_release(&all);
            output_release(&some);
        }
}

/* --- hard choices ---------------------------------------------------------- */

enum { CHOICES = 4 };

/* One draw from leaf e; its gradient is written, its choice returned. */
static int draw_once(struct graph *g, float *e, float *grad, uint64_t update,
                     const float *costs, float entropy)
{
    static const int start[] = { 0 }, length[] = { CHOICES };
    static const struct ragged all = { start, length, CHOICES, NULL };
    float advantage = 0;
    graph_reset(g);
    g->training = true;
    g->seed = 3;
    g->update = update;
    memset(grad, 0, CHOICES * sizeof(*grad));
    struct node *leaf = graph_leaf(g, 1, CHOICES, e, grad);
    struct choice_costs told = { &advantage, 0.5f, entropy };
    struct node *y = draw_position(g, leaf, &all, &told);
    int drawn = 0;
    while (y->value[drawn] == 0)
        drawn++;
    advantage = costs[drawn] - 1.0f; /* any baseline will do */
    graph_backward(g);
    return drawn;
}

static double entropy_of(const double *p)
{
    double h = 0;
    for (int j = 0; j < CHOICES; j++)
        h -= p[j] * log(p[j]);
    return h;
}

/* The mean of the estimate is the gradient of scale * (E[cost] - entropy H),
 * within four standard errors; choices come as often as they should. */
static void test_draws_estimate_the_gradient(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    float e[CHOICES] = { 0.3f, -0.8f, 1.1f, 0.0f }, grad[CHOICES];
    static const float costs[CHOICES] = { 2.0f, 0.5f, 3.0f, -1.0f };
    const double entropy = 0.3;
    double p[CHOICES], total = 0, mean_cost = 0;
    double sum[CHOICES] = { 0 }, squares[CHOICES] = { 0 };
    int count[CHOICES] = { 0 };
    struct graph g;
    for (int j = 0; j < CHOICES; j++)
        total += p[j] = exp((double)e[j]);
    for (int j = 0; j < CHOICES; j++)
        mean_cost += (p[j] /= total) * (double)costs[j];
    graph_init(&g);
    for (int i = 0; i < DRAWS; i++) {
        count[draw_once(&g, e, grad, (uint64_t)i, costs, (float)entropy)]++;
        for (int j = 0; j < CHOICES; j++) {
            sum[j] += (double)grad[j];
            squares[j] += (double)grad[j] * (double)grad[j];
        }
    }
    graph_release(&g);
    for (int j = 0; j < CHOICES; j++) {
        double exact = 0.5 * p[j] * ((double)costs[j] - mean_cost) +
                       0.5 * entropy * p[j] * (log(p[j]) + entropy_of(p));
        double mean = sum[j] / DRAWS;
        double error = sqrt((squares[j] / DRAWS - mean * mean) / DRAWS);
        assert_true(fabs(mean - exact) < 4 * error);
        assert_true(fabs(count[j] - p[j] * DRAWS) <
                    4 * sqrt(p[j] * (1 - p[j]) * DRAWS));
    }
}

static void test_best_position(void **state)
{
    (void)state;
    float e[2 * 3] = { 1, 4, 9, 2, 2, -1 };
    static const int start[] = { 0, 0 }, length[] = { 2, 3 };
    static const struct ragged two = { start, length, 3, NULL };
    static const float right[2 * 3] = { 0, 1, 0, 1, 0, 0 };
    struct graph g;
    graph_init(&g);
    struct node *y = best_position(&g, graph_leaf(&g, 2, 3, e, NULL), &two);
    assert_memory_equal(y->value, right, sizeof(right));
    graph_release(&g);
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_draws_estimate_the_gradient),
        cmocka_unit_test(test_best_position),
        cmocka_unit_test(test_gradients_are_added),
        cmocka_unit_test(test_leaves_without_gradient),
        cmocka_unit_test(test_nothing_is_wanted),
        cmocka_unit_test(test_inference),
        cmocka_unit_test(test_determinism),
        cmocka_unit_test(test_gru_values),
        cmocka_unit_test(test_lstm_values),
        cmocka_unit_test(test_layer_norm_values),
        cmocka_unit_test(test_layer_norm_of_one_row),
        cmocka_unit_test(test_score_values),
        cmocka_unit_test(test_softmax_values),
        cmocka_unit_test(test_softmax_of_large_scores),
        cmocka_unit_test(test_context_values),
        cmocka_unit_test(test_rows_are_moved),
        cmocka_unit_test(test_touched_rows),
        cmocka_unit_test(test_dropout_rates),
        cmocka_unit_test(test_dropout_is_independent),
        cmocka_unit_test(test_dropped_rows_are_whole),
        cmocka_unit_test(test_dropout_is_a_function),
        cmocka_unit_test(test_dropout_does_not_depend_on_the_size),
        cmocka_unit_test(test_no_dropout),
        cmocka_unit_test(test_cross_entropy_gradients),
        cmocka_unit_test(test_cross_entropy_values),
        cmocka_unit_test(test_cross_entropy_of_large_logits),
        cmocka_unit_test(test_cross_entropy_is_not_a_number),
        cmocka_unit_test(test_cross_entropy_in_chunks),
        cmocka_unit_test(test_cross_entropy_of_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
