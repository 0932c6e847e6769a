/* What is true of the weights of every mechanism, whatever its parameters:
 * sums, windows, and that a sentence's do not depend on the others. */
#include "attention/attention.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "numbers.h"
#include "scratch.h"
#include "settings.h"
#include "tensor/gemm.h"

/* More steps than words, one sentence of a single word. */
enum { SENTENCES = 5, LONGEST = 9, UNITS = 12, SIZE = 8, TURNS = 12 };

static const int words[SENTENCES] = { 9, 1, 4, 2, 6 };

struct form {
    const struct score *score;
    const struct align *align;
    int heads, window;
    bool halves, variants;
    const char *mode;
};

static double at(const struct node *x, int row, int column)
{
    return (double)node_row(x, row)[column];
}

static bool is(const struct form *f, const char *kind)
{
    return strcmp(f->align->name, kind) == 0;
}

static bool is_mode(const struct form *f, const char *mode)
{
    return is(f, "local_p") && strcmp(f->mode, mode) == 0;
}

static bool is_random(const struct form *f)
{
    return f->align->draws || f->align->expects;
}

/* With random parameters. */
struct mechanism {
    struct form form;
    struct attention attention;
    struct params params;
    int query;         /* width */
    bool other_values; /* other numbers in the second halves of the states */
};

static const char *describe(const struct form *f)
{
    static char text[128];
    snprintf(text, sizeof(text), "%s %s heads:%d window:%d%s%s %s",
             f->score->name, f->align->name, f->heads, f->window,
             f->halves ? " key_value" : "", f->variants ? " variants" : "",
             f->mode);
    return text;
}

static void make_config(struct config *cfg, const struct form *f)
{
    bool covered = f->variants && !f->align->query_is_summary;
    config_init(cfg);
    set(cfg, "attention.score", f->score->name);
    set(cfg, "attention.kind", f->align->name);
    set(cfg, "attention.memory", f->halves ? "key_value" : "shared");
    set(cfg, "attention.local_mode", f->mode);
    set(cfg, "attention.normalized", f->variants ? "true" : "false");
    set(cfg, "attention.coverage", covered ? "true" : "false");
    set_number(cfg, "attention.heads", f->heads);
    set_number(cfg, "attention.window", f->window);
    set_number(cfg, "attention.size", SIZE);
    set_number(cfg, "attention.length_limit", LONGEST);
}

static bool compares_equals(const struct score *score)
{
    return strstr(score->name, "dot") != NULL;
}

/* What must be refused, and nothing else. */
static bool fits(const struct form *f)
{
    if (!f->align->context)
        return true;
    if (f->heads > 1)
        return !f->align->draws && !(f->halves && !f->score->keys);
    if (f->halves && compares_equals(f->score))
        return !f->align->query_is_summary;
    return !f->halves || f->score->keys;
}

/* -1: refused. */
static int mechanism_init(struct mechanism *m, const struct form *f)
{
    struct config cfg;
    memset(m, 0, sizeof(*m));
    m->form = *f;
    m->query = f->halves && f->heads == 1 ? UNITS / 2 : UNITS;
    make_config(&cfg, f);
    capture_start();
    int result = attention_declare(&m->attention, &m->params, &cfg, m->query,
                                   UNITS);
    capture_stop();
    config_release(&cfg);
    params_allocate(&m->params);
    numbers_fill(m->params.values, m->params.size, 1, 5);
    return result;
}

static void mechanism_release(struct mechanism *m)
{
    params_release(&m->params);
}

/* What is looked at, of a sentence. */
struct looks {
    float weights[TURNS][LONGEST], scores[TURNS][LONGEST];
    float context[TURNS][UNITS];
    int place[TURNS]; /* of the greatest weight */
};

/* Numbers that depend on the row's name alone. */
static void fill_row(float *x, int cols, uint64_t stream, int row)
{
    numbers_fill(x, (size_t)cols, 2, stream * 1000 + (uint64_t)row);
}

/* Streams; ASKED + t. */
enum { STATES = 1, OTHERS = 2, SUMMARIES = 3, ASKED = 4 };

static struct node *rows_of(struct graph *g, uint64_t stream,
                            const int *sentence, int n, int cols)
{
    struct node *x = graph_zeros(g, n, cols);
    for (int i = 0; i < n; i++)
        fill_row(node_row(x, i), cols, stream, sentence[i]);
    return x;
}

/* The states of the sentences, one below the other, and where each begins. */
static struct node *states_of(const struct mechanism *m, struct graph *g,
                              const int *sentence, int n, int *begin, int *size)
{
    int rows = 0;
    for (int i = 0; i < n; i++) {
        begin[i] = rows;
        size[i] = words[sentence[i]];
        rows += size[i];
    }
    struct node *x = graph_zeros(g, rows, UNITS);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < size[i]; j++) {
            float *row = node_row(x, begin[i] + j);
            int name = sentence[i] * LONGEST + j;
            fill_row(row, UNITS, STATES, name);
            if (m->other_values)
                fill_row(row + UNITS / 2, UNITS / 2, OTHERS, name);
        }
    return x;
}

/* Scores of all words, which the mechanism may not have asked for. */
static struct node *all_scores(const struct mechanism *m, struct graph *g,
                               const struct attention_memory *memory,
                               const struct ragged *rows, struct node *query,
                               const struct attention_state *state)
{
    struct attention_memory now = *memory;
    now.coverage = state->part[ATTENTION_COVERAGE];
    return attention_scores(&m->attention, g, &now, rows, query);
}

static void note(struct looks *looks, int t, const struct node *weights,
                 const struct node *context, int row, int S)
{
    for (int j = S; j < weights->cols; j++)
        assert_true(node_row(weights, row)[j] == 0);
    memcpy(looks->weights[t], node_row(weights, row),
           (size_t)S * sizeof(float));
    memcpy(looks->context[t], node_row(context, row),
           (size_t)context->cols * sizeof(float));
    for (int j = 1; j < S; j++)
        if (looks->weights[t][j] > looks->weights[t][looks->place[t]])
            looks->place[t] = j;
}

/* The context is the sum of the values, as much of each as its weight; values
 * are the states, or their second halves. */
static void check_sums(const struct node *states, const struct ragged *rows,
                       const struct node *weights, const struct node *context)
{
    int first = states->cols - context->cols;
    for (int i = 0; i < context->rows; i++)
        for (int c = 0; c < context->cols; c++) {
            double sum = 0;
            for (int j = 0; j < rows->length[i]; j++)
                sum += at(weights, i, j) *
                       at(states, rows->start[i] + j, first + c);
            assert_true(fabs(at(context, i, c) - sum) < 1e-5);
        }
}

static void take_steps(const struct mechanism *m, struct graph *g,
                       const int *sentence, int n, const struct node *states,
                       const struct attention_memory *memory,
                       const struct ragged *rows, struct looks *looks)
{
    struct attention_state state;
    struct attention_step step;
    bool plain = m->form.heads == 1;
    attention_begin(&m->attention, g, memory, rows,
                    rows_of(g, SUMMARIES, sentence, n, UNITS), &state);
    for (int t = 0; t < TURNS; t++) {
        struct node *q = rows_of(g, ASKED + (uint64_t)t, sentence, n, m->query);
        struct node *e = NULL, *c;
        if (plain && !m->form.align->query_is_summary)
            e = all_scores(m, g, memory, rows, q, &state);
        c = attention_step(&m->attention, g, memory, rows, q, &state, &step);
        if (plain)
            check_sums(states, rows, step.weights, c);
        for (int i = 0; i < n; i++) {
            note(&looks[i], t, step.weights, c, i, rows->length[i]);
            for (int j = 0; j < rows->length[i] && e; j++)
                looks[i].scores[t][j] = node_row(e, i)[j];
        }
        state = step.after;
    }
}

/* Of these sentences in a batch of their own. */
static void look(const struct mechanism *m, bool training, const int *sentence,
                 int n, struct looks *looks)
{
    static const float advantage[SENTENCES];
    int begin[SENTENCES], size[SENTENCES], widest = 0;
    struct graph g;
    struct attention_memory memory;
    memset(looks, 0, (size_t)n * sizeof(*looks));
    graph_init(&g);
    g.training = training;
    params_bind(&m->params, NULL, NULL, &g);
    struct node *states = states_of(m, &g, sentence, n, begin, size);
    for (int i = 0; i < n; i++)
        widest = size[i] > widest ? size[i] : widest;
    struct ragged rows = { begin, size, widest, NULL };
    attention_memory_init(&m->attention, &g, states, &memory);
    memory.advantage = advantage;
    memory.scale = 1;
    take_steps(m, &g, sentence, n, states, &memory, &rows, looks);
    graph_release(&g);
}

static const int everyone[SENTENCES] = { 0, 1, 2, 3, 4 };

/* --- sums ------------------------------------------------------------------- */

/* A Gaussian takes away from a sum; a process stops somewhere or nowhere, in
 * training with some probability. */
static bool sum_is_right(const struct form *f, bool training, double sum)
{
    double stopped = sum * f->heads;
    if (is_mode(f, "paper"))
        return sum > 0 && sum < 1 + 1e-6;
    if (f->align->expects && training)
        return sum > 0 && sum < 1 + 1e-6;
    if (f->align->expects)
        return fabs(stopped - rint(stopped)) < 1e-6 && sum < 1 + 1e-6;
    return fabs(sum - 1) < 1e-6;
}

static bool is_one_place(const struct form *f, bool training)
{
    return f->align->draws || (f->align->expects && !training && f->heads == 1);
}

static void check_row(const struct form *f, bool training, const float *weights,
                      int S)
{
    double sum = 0;
    for (int j = 0; j < S; j++) {
        if (!(weights[j] >= 0))
            fail_msg("%s: a weight of %g", describe(f), (double)weights[j]);
        if (is_one_place(f, training))
            assert_true(weights[j] == 0 || weights[j] == 1);
        sum += (double)weights[j];
    }
    if (!sum_is_right(f, training, sum))
        fail_msg("%s: weights sum to %.9g", describe(f), sum);
}

static void check_rows(const struct mechanism *m, bool training,
                       const struct looks *looks)
{
    for (int i = 0; i < SENTENCES; i++)
        for (int t = 0; t < TURNS; t++)
            check_row(&m->form, training, looks[i].weights[t], words[i]);
}

/* static looks but once; a process never goes back. */
static void check_course(const struct mechanism *m, const struct looks *looks)
{
    const struct form *f = &m->form;
    for (int i = 0; i < SENTENCES; i++) {
        int stood = 0;
        for (int t = 0; t < TURNS; t++) {
            const float *w = looks[i].weights[t];
            if (f->align->query_is_summary)
                assert_true(same_bits(w, looks[i].weights[0], LONGEST));
            if (!f->align->expects || f->heads > 1 || w[looks[i].place[t]] == 0)
                continue;
            assert_true(looks[i].place[t] >= stood);
            stood = looks[i].place[t];
        }
    }
}

/* --- windows ------------------------------------------------------------------ */

/* y = x W */
static void project(const struct mechanism *m, const char *name,
                    const double *x, double *y)
{
    const struct param *p = params_find(&m->params, name);
    const float *w = m->params.values + p->offset;
    for (int c = 0; c < p->cols; c++) {
        y[c] = 0;
        for (int r = 0; r < p->rows; r++)
            y[c] += x[r] * (double)w[r * p->cols + c];
    }
}

/* local_p: p_t = (S - 1) sigma(tanh(q W_p) v_p), q the head's part of q W_q */
static double position(const struct mechanism *m, int sentence, int t, int head)
{
    float query[UNITS];
    double q[UNITS], parts[SIZE], x[SIZE], y;
    fill_row(query, m->query, ASKED + (uint64_t)t, sentence);
    for (int c = 0; c < m->query; c++)
        q[c] = (double)query[c];
    if (m->form.heads > 1)
        project(m, "attention.W_q", q, parts);
    project(m, "attention.W_p",
            m->form.heads > 1 ? parts + head * SIZE / m->form.heads : q, x);
    for (int c = 0; c < SIZE; c++)
        x[c] = tanh(x[c]);
    project(m, "attention.v_p", x, &y);
    return (words[sentence] - 1) / (1 + exp(-y));
}

static double centre(const struct mechanism *m, int sentence, int t, int head)
{
    int last = words[sentence] - 1;
    if (is(&m->form, "local_m"))
        return t < last ? t : last;
    return position(m, sentence, t, head);
}

/* Too near to the next word to tell which of them a float is at. */
static bool is_doubtful(double p)
{
    return p != rint(p) && fabs(p - rint(p)) < 1e-4;
}

/* Something inside the window, nothing outside, of some head at least. */
static void check_window(const struct mechanism *m, const struct looks *looks,
                         int sentence, int t)
{
    bool inside[LONGEST] = { false };
    for (int k = 0; k < m->form.heads; k++) {
        double p = centre(m, sentence, t, k);
        if (is_doubtful(p))
            return;
        for (int j = 0; j < words[sentence]; j++)
            if (fabs(j - floor(p)) <= m->form.window)
                inside[j] = true;
    }
    for (int j = 0; j < words[sentence]; j++)
        if ((looks[sentence].weights[t][j] > 0) != inside[j])
            fail_msg("%s: sentence %d, step %d, word %d", describe(&m->form),
                     sentence, t, j);
}

/* The three readings of local_p, from scores and position:
 *     softmax in the window (prior: everywhere) times G, and divided by its
 *     sum (not paper), G_j = exp(-(j - p)^2 / 2 s^2), s = D / 2 */
static void read_position(const struct form *f, const float *e, int S, double p,
                          double *weights)
{
    double sum = 0, after = 0, s = f->window / 2.0;
    for (int j = 0; j < S; j++) {
        bool in = is_mode(f, "prior") || fabs(j - floor(p)) <= f->window;
        weights[j] = in ? exp((double)e[j]) : 0;
        sum += weights[j];
    }
    for (int j = 0; j < S; j++) {
        weights[j] *= exp(-(j - p) * (j - p) / (2 * s * s)) / sum;
        after += weights[j];
    }
    for (int j = 0; j < S && !is_mode(f, "paper"); j++)
        weights[j] /= after;
}

static void check_reading(const struct mechanism *m, const struct looks *looks,
                          int sentence, int t)
{
    double wanted[LONGEST], p = centre(m, sentence, t, 0);
    if (is_doubtful(p))
        return;
    read_position(&m->form, looks[sentence].scores[t], words[sentence], p,
                  wanted);
    for (int j = 0; j < words[sentence]; j++)
        if (!(fabs((double)looks[sentence].weights[t][j] - wanted[j]) < 1e-4))
            fail_msg("%s: sentence %d, step %d, word %d: %g, not %g",
                     describe(&m->form), sentence, t, j,
                     (double)looks[sentence].weights[t][j], wanted[j]);
}

static void check_places(const struct mechanism *m, const struct looks *looks)
{
    const struct form *f = &m->form;
    bool window = is(f, "local_m") ||
                  (is(f, "local_p") && !is_mode(f, "prior"));
    for (int i = 0; i < SENTENCES; i++)
        for (int t = 0; t < TURNS; t++) {
            if (window)
                check_window(m, looks, i, t);
            if (is(f, "local_p") && f->heads == 1)
                check_reading(m, looks, i, t);
        }
}

/* --- all of it ---------------------------------------------------------------- */

/* In other company, and alone: the same to the last bit. */
static void check_company(const struct mechanism *m, bool training,
                          const struct looks *all)
{
    static const int some[] = { 4, 2, 1 }, pairs[] = { 3, 3, 0 };
    struct looks own[SENTENCES];
    for (int i = 0; i < SENTENCES; i++) {
        look(m, training, &everyone[i], 1, own);
        assert_memory_equal(own, &all[i], sizeof(*own));
    }
    look(m, training, some, 3, own);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(&own[i], &all[some[i]], sizeof(*own));
    look(m, training, pairs, 3, own);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(&own[i], &all[pairs[i]], sizeof(*own));
}

/* key_value: what the second halves hold is for the context alone. */
static void check_halves(struct mechanism m, const struct looks *looks)
{
    struct looks other[SENTENCES];
    m.other_values = true;
    look(&m, false, everyone, SENTENCES, other);
    for (int i = 0; i < SENTENCES; i++) {
        assert_memory_equal(other[i].weights, looks[i].weights,
                            sizeof(other[i].weights));
        bool same = same_bits(other[i].context[0], looks[i].context[0], UNITS);
        assert_int_equal(same, looks[i].weights[0][looks[i].place[0]] == 0);
    }
}

static void check_no_context(const struct mechanism *m)
{
    struct graph g;
    struct attention_memory memory;
    struct attention_state state;
    struct attention_step step;
    int begin[1], size[1];
    graph_init(&g);
    struct node *states = states_of(m, &g, everyone, 1, begin, size);
    struct node *query = rows_of(&g, ASKED, everyone, 1, UNITS);
    struct ragged rows = { begin, size, size[0], NULL };
    attention_memory_init(&m->attention, &g, states, &memory);
    attention_begin(&m->attention, &g, &memory, &rows, query, &state);
    assert_null(attention_step(&m->attention, &g, &memory, &rows, query, &state,
                               &step));
    assert_null(step.weights);
    assert_int_equal(m->params.size, 0);
    graph_release(&g);
}

static void check_form(const struct form *f)
{
    struct mechanism m;
    struct looks looks[SENTENCES], trained[SENTENCES];
    if ((mechanism_init(&m, f) == 0) != fits(f))
        fail_msg("%s: is it refused?", describe(f));
    if (fits(f) && !f->align->context)
        check_no_context(&m);
    if (fits(f) && f->align->context) {
        look(&m, false, everyone, SENTENCES, looks);
        check_rows(&m, false, looks);
        check_course(&m, looks);
        check_places(&m, looks);
        check_company(&m, false, looks);
        if (f->halves)
            check_halves(m, looks);
        look(&m, true, everyone, SENTENCES, trained);
        check_rows(&m, true, trained);
        if (!is_random(f))
            assert_memory_equal(trained, looks, sizeof(looks));
    }
    mechanism_release(&m);
}

/* A window of one word to each side, and one wider than any sentence. */
static void check_windows(struct form f)
{
    static const int windows[] = { 1, 3, LONGEST + 3 };
    static const char *const modes[] = { "paper", "renormalized", "prior" };
    for (int w = 0; w < 3; w++)
        for (int k = 0; k < 3; k++) {
            f.window = windows[w];
            f.mode = modes[k];
            if ((w == 0 || is(&f, "local_m") || is(&f, "local_p")) &&
                (k == 0 || is(&f, "local_p")))
                check_form(&f);
        }
}

static void test_every_mechanism(void **state)
{
    (void)state;
    for (int s = 0; scores[s]; s++)
        for (int k = 0; aligns[k]; k++)
            for (int bits = 0; bits < 8; bits++) {
                struct form f = { .score = scores[s], .align = aligns[k] };
                f.heads = 1 + bits % 2;
                f.halves = bits / 2 % 2;
                f.variants = bits / 4 % 2;
                if (!f.variants || f.score->variants)
                    check_windows(f);
            }
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mechanism),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
