/* The adaptive output layer: its gradients, its losses against the formulas,
 * what search is given of it, and how a vocabulary is divided. */
#include "model/outputs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "config/config.h"
#include "graph/gradcheck.h"
#include "numbers.h"
#include "scratch.h"
#include "settings.h"
#include "tensor/gemm.h"

/* --- layers ----------------------------------------------------------------- */

struct layer {
    const char *name;
    int rows, width, head, clusters;
    int words[3], units[3]; /* of each cluster */
    int words_used;         /* gold words are below; 0: all */
    float smoothing, scale;
    size_t samples;
};

/* More than 512 rows are more than one chunk. */
static const struct layer layers[] = {
    { "one cluster", 9, 4, 3, 1, { 5 }, { 2 }, 0, 0, 1, 0 },
    { "two clusters", 12, 5, 4, 2, { 3, 6 }, { 3, 2 }, 0, 0, 1, 0 },
    { "smoothed", 12, 5, 4, 2, { 3, 6 }, { 3, 2 }, 0, 0.2f, 0.5f, 0 },
    { "three clusters", 40, 4, 6, 3, { 1, 4, 7 }, { 4, 2, 1 }, 0, 0, 1, 0 },
    { "a cluster unseen", 8, 4, 3, 2, { 4, 5 }, { 2, 3 }, 7, 0.1f, 1, 0 },
    { "the head alone", 5, 4, 6, 2, { 4, 5 }, { 2, 3 }, 6, 0, 1, 0 },
    { "chunks", 900, 3, 2, 2, { 3, 4 }, { 2, 2 }, 0, 0.1f, 0.1f, 3 },
};

enum { LAYERS_TRIED = sizeof(layers) / sizeof(layers[0]), LEAVES = 3 + 3 * 3 };

/* Leaves: r, w, b; then project, w, b of each cluster. */
struct trial {
    const struct layer *layer;
    struct graph g;
    struct gradcheck_leaf leaf[LEAVES];
    int leaves, vocabulary;
    int *gold;
    float *row_nll;
    struct loss loss;
};

static void add_leaf(struct trial *t, const char *name, int rows, int cols)
{
    size_t size = (size_t)rows * (size_t)cols;
    uint64_t seed = (uint64_t)t->leaves + 1;
    t->leaf[t->leaves++] = (struct gradcheck_leaf){
        .name = name,
        .value = numbers_new(size, 1.0f, seed),
        .grad = xcalloc(size, sizeof(float)),
        .size = size,
    };
}

static void trial_init(struct trial *t, const struct layer *l)
{
    static const char *const names[] = { "P0", "w0", "b0", "P1", "w1",
                                         "b1", "P2", "w2", "b2" };
    *t = (struct trial){ .layer = l, .vocabulary = l->head };
    graph_init(&t->g);
    add_leaf(t, "r", l->rows, l->width);
    add_leaf(t, "w", l->width, l->head + l->clusters);
    add_leaf(t, "b", 1, l->head + l->clusters);
    for (int c = 0; c < l->clusters; c++) {
        add_leaf(t, names[3 * c], l->width, l->units[c]);
        add_leaf(t, names[3 * c + 1], l->units[c], l->words[c]);
        add_leaf(t, names[3 * c + 2], 1, l->words[c]);
        t->vocabulary += l->words[c];
    }
    t->gold = ARRAY_ALLOC(t->gold, (size_t)l->rows);
    int used = l->words_used > 0 ? l->words_used : t->vocabulary;
    for (int i = 0; i < l->rows; i++)
        t->gold[i] = i < used ? i : numbers_pick(used, 4, (uint64_t)i);
    t->row_nll = ARRAY_ZERO(t->row_nll, (size_t)l->rows);
}

static void trial_release(struct trial *t)
{
    graph_release(&t->g);
    for (int i = 0; i < t->leaves; i++) {
        free(t->leaf[i].value);
        free(t->leaf[i].grad);
    }
    free(t->gold);
    free(t->row_nll);
}

static struct node *bind(struct trial *t, int i, int rows, int cols)
{
    return graph_leaf(&t->g, rows, cols, t->leaf[i].value, t->leaf[i].grad);
}

static struct adaptive bind_all(struct trial *t)
{
    const struct layer *l = t->layer;
    int entries = l->head + l->clusters;
    struct adaptive a = { .w = bind(t, 1, l->width, entries),
                          .b = bind(t, 2, 1, entries),
                          .clusters = l->clusters };
    for (int c = 0; c < l->clusters; c++)
        a.cluster[c] = (struct adaptive_cluster){
            bind(t, 3 + 3 * c, l->width, l->units[c]),
            bind(t, 4 + 3 * c, l->units[c], l->words[c]),
            bind(t, 5 + 3 * c, 1, l->words[c]),
        };
    return a;
}

static double run_loss(void *arg, bool backward)
{
    struct trial *t = arg;
    const struct layer *l = t->layer;
    graph_reset(&t->g);
    t->g.training = backward;
    struct adaptive a = bind_all(t);
    struct loss_config config = { .smoothing = l->smoothing,
                                  .scale = l->scale };
    t->loss = adaptive_cross_entropy(&t->g, bind(t, 0, l->rows, l->width), &a,
                                     t->gold, &config, t->row_nll);
    if (backward)
        graph_backward(&t->g);
    return (double)l->scale * t->loss.smoothed;
}

enum { GROUP = 3, FROM = 2 };

/* What hypotheses have cost so far, in groups of rows as beams are. */
static double log_p_of(int row)
{
    return row % GROUP == 0 ? -2.0 : -2.0 - 0.25 * numbers_pick(12, 9, row);
}

static struct node *run_logs(struct trial *t, int first, int rows, int best)
{
    graph_reset(&t->g);
    t->g.training = false;
    double *log_p = arena_array(&t->g.arena, (size_t)rows, sizeof(*log_p));
    int *group = arena_array(&t->g.arena, (size_t)rows, sizeof(*group));
    for (int i = 0; i < rows; i++) {
        log_p[i] = log_p_of(first + i);
        group[i] = (first + i) / GROUP;
    }
    struct adaptive a = bind_all(t);
    struct node *r = bind(t, 0, t->layer->rows, t->layer->width);
    return adaptive_logs(&t->g, graph_view(&t->g, r, first, rows), &a,
                         &(struct wanted){ .best = best,
                                           .log_p = log_p,
                                           .group = group,
                                           .from = FROM });
}

/* --- gradients and losses ----------------------------------------------------- */

static void test_gradients(void **state)
{
    (void)state;
    for (int k = 0; k < LAYERS_TRIED; k++) {
        struct trial t;
        trial_init(&t, &layers[k]);
        struct gradcheck check = { .function = run_loss,
                                   .arg = &t,
                                   .leaves = t.leaf,
                                   .count = t.leaves,
                                   .samples = layers[k].samples };
        if (gradcheck(&check) < 0)
            fail_msg("%s", layers[k].name);
        trial_release(&t);
    }
}

/* log softmax(x w + b) in double, to logs[cols] */
static void exact_logs(const double *x, int width, const float *w,
                       const float *b, int cols, double *logs)
{
    double sum = 0;
    for (int j = 0; j < cols; j++) {
        logs[j] = b ? (double)b[j] : 0;
        for (int k = 0; k < width; k++)
            logs[j] += x[k] * (double)w[k * cols + j];
        sum += exp(logs[j]);
    }
    for (int j = 0; j < cols; j++)
        logs[j] -= log(sum);
}

/* The choices of row i as the formulas have them: -log of what is chosen, and
 * the mean of -log of all there is to choose from. */
struct choices {
    double nll, mean;
};

static void add_choice(struct choices *c, const double *logs, int n, int chosen)
{
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum -= logs[j];
    c->nll -= logs[chosen];
    c->mean += sum / n;
}

static struct choices exact_choices(const struct trial *t, int i)
{
    const struct layer *l = t->layer;
    int entries = l->head + l->clusters, first = l->head, c = 0;
    double x[8], y[8], logs[16];
    struct choices sum = { 0, 0 };
    for (int k = 0; k < l->width; k++)
        x[k] = (double)t->leaf[0].value[i * l->width + k];
    exact_logs(x, l->width, t->leaf[1].value, t->leaf[2].value, entries, logs);
    if (t->gold[i] < l->head) {
        add_choice(&sum, logs, entries, t->gold[i]);
        return sum;
    }
    while (t->gold[i] >= first + l->words[c])
        first += l->words[c++];
    add_choice(&sum, logs, entries, l->head + c);
    for (int u = 0; u < l->units[c]; u++) {
        y[u] = 0;
        for (int k = 0; k < l->width; k++)
            y[u] += x[k] *
                    (double)t->leaf[3 + 3 * c].value[k * l->units[c] + u];
    }
    exact_logs(y, l->units[c], t->leaf[4 + 3 * c].value,
               t->leaf[5 + 3 * c].value, l->words[c], logs);
    add_choice(&sum, logs, l->words[c], t->gold[i] - first);
    return sum;
}

static void check_losses(const struct trial *t)
{
    double nll = 0, smoothed = 0, s = (double)t->layer->smoothing;
    for (int i = 0; i < t->layer->rows; i++) {
        struct choices row = exact_choices(t, i);
        if (!(fabs((double)t->row_nll[i] - row.nll) < 2e-6 * (1 + row.nll)))
            fail_msg("%s: row %d", t->layer->name, i);
        nll += row.nll;
        smoothed += (1 - s) * row.nll + s * row.mean;
    }
    assert_true(fabs(t->loss.nll - nll) < 1e-6 * (1 + nll));
    assert_true(fabs(t->loss.smoothed - smoothed) < 1e-6 * (1 + smoothed));
}

static void test_losses(void **state)
{
    (void)state;
    for (int k = 0; k < LAYERS_TRIED; k++) {
        struct trial t;
        trial_init(&t, &layers[k]);
        run_loss(&t, false);
        check_losses(&t);
        run_loss(&t, true);
        check_losses(&t);
        trial_release(&t);
    }
}

/* A cluster none of whose words was to be said learns nothing. */
static void test_unseen_clusters_are_left_alone(void **state)
{
    (void)state;
    for (int k = 0; k < LAYERS_TRIED; k++) {
        const struct layer *l = &layers[k];
        struct trial t;
        trial_init(&t, l);
        run_loss(&t, true);
        int first = l->head;
        for (int c = 0; c < l->clusters; first += l->words[c++])
            for (int i = 3 + 3 * c; i < 6 + 3 * c; i++) {
                float largest = 0;
                for (size_t j = 0; j < t.leaf[i].size; j++)
                    largest = fmaxf(largest, fabsf(t.leaf[i].grad[j]));
                bool unseen = l->words_used > 0 && first >= l->words_used;
                /* a choice of one word is no choice */
                assert_true((largest == 0) == (unseen || l->words[c] == 1));
            }
        trial_release(&t);
    }
}

/* --- search ------------------------------------------------------------------- */

static void test_logs_are_a_distribution(void **state)
{
    (void)state;
    for (int k = 0; k < LAYERS_TRIED; k++) {
        struct trial t;
        trial_init(&t, &layers[k]);
        run_loss(&t, false);
        struct node *logs = run_logs(&t, 0, layers[k].rows, 0);
        assert_int_equal(logs->cols, t.vocabulary);
        for (int i = 0; i < logs->rows; i++) {
            double sum = 0;
            for (int v = 0; v < logs->cols; v++)
                sum += exp((double)node_row(logs, i)[v]);
            assert_true(fabs(sum - 1) < 1e-5);
            assert_true(fabsf(node_row(logs, i)[t.gold[i]] + t.row_nll[i]) <
                        1e-5f);
        }
        trial_release(&t);
    }
}

/* How many continuations of its group are better than word v of a row. */
static int rank(const float *logs, int rows, int V, int row, int v)
{
    int better = 0, first = row / GROUP * GROUP;
    double sum = log_p_of(row) + (double)logs[row * V + v];
    for (int i = first; i < first + GROUP && i < rows; i++)
        for (int u = FROM; u < V; u++)
            better += log_p_of(i) + (double)logs[i * V + u] > sum;
    return better;
}

/* Rows of which there are few likely words: three words of the head stand out
 * in every second row. */
static void sharpen(struct trial *t)
{
    const struct layer *l = t->layer;
    for (int i = 0; i < l->rows; i += 2)
        t->leaf[0].value[i * l->width] = 20;
    for (int j = 0; j < l->head + l->clusters; j++)
        t->leaf[1].value[j] = j < 3 ? 1.0f : -1.0f;
}

/* What is left out is not among the best; all else is as it was. */
static void test_best_words_are_there(void **state)
{
    (void)state;
    enum { BEST = 3 };
    int left_out = 0, kept = 0;
    for (int k = 0; k < LAYERS_TRIED; k++) {
        const struct layer *l = &layers[k];
        struct trial t;
        trial_init(&t, l);
        sharpen(&t);
        struct node *all = run_logs(&t, 0, l->rows, 0);
        int V = all->cols;
        float *logs = ARRAY_ALLOC(logs, node_size(all));
        memcpy(logs, all->value, node_size(all) * sizeof(*logs));
        struct node *some = run_logs(&t, 0, l->rows, BEST);
        for (int i = 0; i < l->rows; i++)
            for (int v = 0; v < V; v++) {
                const float *now = node_row(some, i) + v;
                bool out = isinf(*now) && *now < 0;
                left_out += out;
                kept += !out && v >= l->head;
                if (out)
                    assert_true(rank(logs, l->rows, V, i, v) >= BEST);
                else
                    assert_true(same_bits(now, logs + i * V + v, 1));
            }
        free(logs);
        trial_release(&t);
    }
    if (left_out < 100 || kept < 100)
        fail_msg("%d left out, %d kept", left_out, kept);
}

/* A group has the bits that it has alone. */
static void test_groups_have_no_influence(void **state)
{
    (void)state;
    static const struct layer wide = { "wide",    150, 40, 30, 2, { 50, 90 },
                                       { 10, 8 }, 0,   0,  1,  0 };
    for (int best = 0; best <= 4; best += 2) {
        struct trial t;
        trial_init(&t, &wide);
        sharpen(&t);
        struct node *all = run_logs(&t, 0, wide.rows, best);
        size_t V = (size_t)all->cols;
        float *logs = ARRAY_ALLOC(logs, node_size(all));
        memcpy(logs, all->value, node_size(all) * sizeof(*logs));
        for (int i = 0; i < wide.rows; i += 2 * GROUP) {
            struct node *one = run_logs(&t, i, GROUP, best);
            assert_true(same_bits(one->value, logs + (size_t)i * V, GROUP * V));
        }
        struct node *half = run_logs(&t, 60, 81, best);
        assert_true(same_bits(half->value, logs + 60 * V, 81 * V));
        free(logs);
        trial_release(&t);
    }
}

/* --- how a vocabulary is divided --------------------------------------------- */

struct division {
    int head, clusters, vocabulary, width;
    int first[4]; /* word of each cluster, and V */
    int units[3];
};

static const struct division divisions[] = {
    { 0, 2, 32000, 256, { 4000, 11314, 32000 }, { 64, 16 } },
    { 2000, 2, 32000, 512, { 2000, 8000, 32000 }, { 128, 32 } },
    { 1000, 3, 8000, 64, { 1000, 2000, 4000, 8000 }, { 16, 8, 8 } },
    { 0, 1, 5, 6, { 4, 5 }, { 6 } },
    { 8, 2, 10, 6, { 8, 9, 10 }, { 6, 6 } },
    { 1, 3, 4, 3, { 1, 2, 3, 4 }, { 3, 3, 3 } },
};

static int declare(struct output *o, struct params *p, struct config *cfg,
                   const struct division *d, bool tied)
{
    memset(p, 0, sizeof(*p));
    config_init(cfg);
    set(cfg, "model.output", "adaptive");
    set_number(cfg, "model.output_head", d->head);
    set_number(cfg, "model.output_clusters", d->clusters);
    return output_declare(o, p, cfg,
                          &(struct output_shape){ .width = d->width,
                                                  .vocabulary = d->vocabulary,
                                                  .tied = tied });
}

static void test_divisions(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(divisions) / sizeof(divisions[0]); k++) {
        const struct division *d = &divisions[k];
        struct output o;
        struct params p;
        struct config cfg;
        assert_int_equal(declare(&o, &p, &cfg, d, false), 0);
        assert_int_equal(o.clusters, d->clusters);
        assert_int_equal(p.list[o.W].cols, d->first[0] + d->clusters);
        for (int c = 0; c < d->clusters; c++) {
            const struct param *W = &p.list[o.cluster[c].W];
            assert_int_equal(W->cols, d->first[c + 1] - d->first[c]);
            assert_int_equal(W->rows, d->units[c]);
            assert_int_equal(p.list[o.cluster[c].P].rows, d->width);
        }
        params_release(&p);
        config_release(&cfg);
    }
}

static void check_refused(const struct division *d, bool tied, const char *key,
                          const char *word)
{
    struct output o;
    struct params p;
    struct config cfg;
    capture_start();
    int result = declare(&o, &p, &cfg, d, tied);
    const char *said = capture_stop();
    assert_int_equal(result, -1);
    assert_holds(said, key);
    assert_holds(said, word);
    params_release(&p);
    config_release(&cfg);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused(&(struct division){ .clusters = 2,
                                      .vocabulary = 100,
                                      .width = 8 },
                  true, "model.tied_embeddings", "adaptive");
    check_refused(&(struct division){ .head = 100,
                                      .clusters = 2,
                                      .vocabulary = 100,
                                      .width = 8 },
                  false, "model.output_head", "100 entries");
    check_refused(&(struct division){ .head = 96,
                                      .clusters = 5,
                                      .vocabulary = 100,
                                      .width = 8 },
                  false, "model.output_clusters", "4 at the most");
}

int main(void)
{
    gemm_thread_init();
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_unseen_clusters_are_left_alone),
        cmocka_unit_test(test_logs_are_a_distribution),
        cmocka_unit_test(test_best_words_are_there),
        cmocka_unit_test(test_groups_have_no_influence),
        cmocka_unit_test(test_divisions),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
