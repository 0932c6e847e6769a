/* Adaptive softmax (Grave, Joulin, Cisse, Grangier and Jegou 2017, "Efficient
 * softmax approximation for GPUs", sec. 4.3): two choices one after the other,
 * of a frequent word or a cluster, then of a word of the cluster. The product
 * is a distribution over all words like any other, so that perplexities may be
 * compared with those of a full softmax.
 *
 *     -log p(w) = -log p_head(entry of w) - log p_c(w), w in cluster c
 *
 * Each choice is a cross_entropy() of its own, over the rows it is made in. */
#include <assert.h>
#include <math.h>

#include "graph/ops.h"
#include "tensor/vec.h"

static int head_words(const struct adaptive *a)
{
    return a->w->cols - a->clusters;
}

/* The entry of each word in the head. */
static int *head_gold(struct graph *g, const struct adaptive *a,
                      const int *gold, int n)
{
    int *entry = arena_array(&g->arena, (size_t)n, sizeof(*entry));
    for (int i = 0; i < n; i++) {
        int h = head_words(a), c = 0, end = h;
        while (c < a->clusters && gold[i] >= end)
            end += a->cluster[c++].b->cols;
        assert(gold[i] >= 0 && gold[i] < end);
        entry[i] = c == 0 ? gold[i] : h + c - 1;
    }
    return entry;
}

/* The numbers of the rows with this entry. */
static int *rows_of(struct graph *g, const int *entry, int n, int wanted,
                    int *count)
{
    int *rows = arena_array(&g->arena, (size_t)n, sizeof(*rows));
    *count = 0;
    for (int i = 0; i < n; i++)
        if (entry[i] == wanted)
            rows[(*count)++] = i;
    return rows;
}

/* x P: a cluster's own, narrow view of some rows of r. */
static struct node *cluster_rows(struct graph *g, struct node *r,
                                 const struct adaptive_cluster *c,
                                 const int *rows, int n)
{
    return linear(g, pick_rows(g, r, rows, n), c->project, NULL);
}

/* Of the rows, whose words are in the cluster that begins with word `first`. */
static struct loss cluster_loss(struct graph *g, struct node *r,
                                const struct adaptive_cluster *c, int first,
                                const int *rows, int n, const int *gold,
                                const struct loss_config *config,
                                float *row_nll)
{
    int *word = arena_array(&g->arena, (size_t)n, sizeof(*word));
    float *nll = arena_array(&g->arena, (size_t)n, sizeof(*nll));
    for (int i = 0; i < n; i++)
        word[i] = gold[rows[i]] - first;
    struct node *x = cluster_rows(g, r, c, rows, n);
    struct loss loss = cross_entropy(g, x, c->w, c->b, word, config, nll);
    for (int i = 0; i < n && row_nll; i++)
        row_nll[rows[i]] += nll[i];
    return loss;
}

struct loss adaptive_cross_entropy(struct graph *g, struct node *r,
                                   const struct adaptive *a, const int *gold,
                                   const struct loss_config *config,
                                   float *row_nll)
{
    assert(!config->transposed);
    int h = head_words(a), first = h;
    int *entry = head_gold(g, a, gold, r->rows);
    struct loss total = cross_entropy(g, r, a->w, a->b, entry, config, row_nll);
    for (int c = 0; c < a->clusters; c++) {
        int n, *rows = rows_of(g, entry, r->rows, h + c, &n);
        if (n > 0) {
            struct loss one = cluster_loss(g, r, &a->cluster[c], first, rows, n,
                                           gold, config, row_nll);
            total.smoothed += one.smoothed;
            total.nll += one.nll;
        }
        first += a->cluster[c].b->cols;
    }
    return total;
}

/* y_j = log softmax(x)_j + before, rounded as cross_entropy() rounds it */
static void log_softmax(float *y, const float *x, int n, float before)
{
    float top = vec_max(x, n);
    double log_sum = log((double)vec_exp_sum(y, x, top, n));
    for (int j = 0; j < n; j++)
        y[j] = (float)((double)(x[j] - top) - log_sum) + before;
}

/* Whether a word of a cluster may be among the best: none is likelier than its
 * cluster, and of equals the first is the better one. */
static bool may_be_best(const float *head, int words, float cluster, int best)
{
    int better = 0;
    for (int j = 0; j < words; j++)
        better += head[j] >= cluster;
    return best == 0 || better < best;
}

/* Columns first … of y, for the rows that want them; -INFINITY elsewhere. */
static void fill_cluster(struct graph *g, struct node *r,
                         const struct adaptive_cluster *c, const int *rows,
                         int n, const float *before, int first, struct node *y)
{
    int words = c->b->cols;
    for (int i = 0; i < y->rows; i++)
        for (int j = 0; j < words; j++)
            node_row(y, i)[first + j] = -INFINITY;
    if (n == 0)
        return;
    struct node *x = cluster_rows(g, r, c, rows, n);
    struct node *logits = linear(g, x, c->w, c->b);
    for (int i = 0; i < n; i++)
        log_softmax(node_row(y, rows[i]) + first, node_row(logits, i), words,
                    before[rows[i]]);
}

/* The head's words to the first columns of y; log p of cluster c in row i to
 * before[c n + i]. */
static void fill_head(struct graph *g, struct node *r, const struct adaptive *a,
                      struct node *y, float *before)
{
    struct node *head = linear(g, r, a->w, a->b);
    int h = head_words(a);
    for (int i = 0; i < r->rows; i++) {
        log_softmax(node_row(y, i), node_row(head, i), head->cols, 0);
        for (int c = 0; c < a->clusters; c++)
            before[c * r->rows + i] = node_row(y, i)[h + c];
    }
}

struct node *adaptive_logs(struct graph *g, struct node *r,
                           const struct adaptive *a, int best)
{
    static const struct op op = { "adaptive softmax", NULL };
    assert(!g->training);
    int h = head_words(a), V = h, N = r->rows;
    for (int c = 0; c < a->clusters; c++)
        V += a->cluster[c].b->cols;
    struct node *y = graph_node(g, &op, N, V, NULL, NULL, NULL, NULL);
    float *before = arena_array(&g->arena, (size_t)N * (size_t)a->clusters,
                                sizeof(*before));
    int *rows = arena_array(&g->arena, (size_t)N, sizeof(*rows));
    fill_head(g, r, a, y, before);
    for (int c = 0, first = h; c < a->clusters; c++) {
        const float *log_p = before + c * N;
        int n = 0;
        for (int i = 0; i < N; i++)
            if (may_be_best(node_row(y, i), h, log_p[i], best))
                rows[n++] = i;
        fill_cluster(g, r, &a->cluster[c], rows, n, log_p, first, y);
        first += a->cluster[c].b->cols;
    }
    return y;
}
