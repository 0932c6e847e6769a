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

#include "base/profile.h"
#include "graph/ops.h"
#include "tensor/kernel.h"
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

/* y_j = (x_j - top - log_sum) + before, rounded as cross_entropy() does it */
KERNEL static void normalise(float *y, const float *x, int n, float top,
                             double log_sum, float before)
{
    for (int j = 0; j < n; j++)
        y[j] = (float)((double)(x[j] - top) - log_sum) + before;
}

/* y_j = log softmax(x)_j + before */
static void log_softmax(float *y, const float *x, int n, float before)
{
    float top = vec_max(x, n);
    double log_sum = log((double)vec_exp_total(x, top, n));
    normalise(y, x, n, top, log_sum, before);
}

/* The head's words to the first columns of y; log p of cluster c in row i to
 * cluster_logs[c n + i]. */
static void fill_head(struct graph *g, struct node *r, const struct adaptive *a,
                      struct node *y, float *cluster_logs)
{
    struct node *head = linear(g, r, a->w, a->b);
    int h = head_words(a);
    profile_enter(g->profile, "adaptive softmax", PROFILE_FORWARD);
    for (int i = 0; i < r->rows; i++) {
        log_softmax(node_row(y, i), node_row(head, i), head->cols, 0);
        for (int c = 0; c < a->clusters; c++)
            cluster_logs[c * r->rows + i] = node_row(y, i)[h + c];
    }
}

/* Columns first … of y, for the rows that want them; -INFINITY elsewhere. */
static void fill_cluster(struct graph *g, struct node *r,
                         const struct adaptive_cluster *c, const int *rows,
                         int n, const float *cluster_logs, int first,
                         struct node *y)
{
    int words = c->b->cols;
    if (n > 0) {
        struct node *x = cluster_rows(g, r, c, rows, n);
        struct node *logits = linear(g, x, c->w, c->b);
        profile_enter(g->profile, "adaptive softmax", PROFILE_FORWARD);
        for (int i = 0; i < n; i++)
            log_softmax(node_row(y, rows[i]) + first, node_row(logits, i),
                        words, cluster_logs[rows[i]]);
    }
    for (int i = 0, k = 0; i < y->rows; i++) {
        if (k < n && rows[k] == i) {
            k++;
            continue;
        }
        for (int j = 0; j < words; j++)
            node_row(y, i)[first + j] = -INFINITY;
    }
}

/* The best sums of a group so far, falling. */
struct best {
    double *sum; // [most]
    int count, most;
};

/* What a sum must reach to be among the best. */
static double best_least(const struct best *b)
{
    return b->count < b->most ? -INFINITY : b->sum[b->most - 1];
}

static void best_add(struct best *b, double sum)
{
    int at = b->count < b->most ? b->count++ : b->most - 1;
    for (; at > 0 && b->sum[at - 1] < sum; at--)
        b->sum[at] = b->sum[at - 1];
    b->sum[at] = sum;
}

/* least[i]: the least sum among the best of row i's group, of the words of the
 * head alone; no more than that of all words. */
static void find_least(const struct node *y, int head,
                       const struct wanted *wanted, struct best *best,
                       double *least)
{
    const int *group = wanted->group;
    for (int first = 0, last; first < y->rows; first = last) {
        best->count = 0;
        for (last = first; last < y->rows && group[last] == group[first];
             last++)
            for (int j = wanted->from; j < head; j++) {
                double sum = wanted->log_p[last] + (double)node_row(y, last)[j];
                if (sum > best_least(best))
                    best_add(best, sum);
            }
        for (int i = first; i < last; i++)
            least[i] = best_least(best);
    }
}

static double *least_sums(struct graph *g, const struct node *y, int head,
                          const struct wanted *wanted)
{
    size_t K = (size_t)wanted->best, N = (size_t)y->rows;
    if (K == 0)
        return NULL;
    double *least = arena_array(&g->arena, N, sizeof(*least));
    struct best best = { .sum = arena_array(&g->arena, K, sizeof(*best.sum)),
                         .most = wanted->best };
    find_least(y, head, wanted, &best, least);
    return least;
}

/* Rows in which a word of a cluster may be wanted: no word is likelier than
 * its cluster. */
static int pick_wanted(const float *cluster_logs, int n,
                       const struct wanted *wanted, const double *least,
                       int *rows)
{
    int picked = 0;
    for (int i = 0; i < n; i++)
        if (!least || !(wanted->log_p[i] + (double)cluster_logs[i] < least[i]))
            rows[picked++] = i;
    return picked;
}

struct node *adaptive_logs(struct graph *g, struct node *r,
                           const struct adaptive *a,
                           const struct wanted *wanted)
{
    static const struct op op = { "adaptive softmax", NULL };
    assert(!g->training);
    int h = head_words(a), V = h, N = r->rows;
    for (int c = 0; c < a->clusters; c++)
        V += a->cluster[c].b->cols;
    struct node *y = graph_node(g, &op, N, V, NULL, NULL, NULL, NULL);
    float *cluster_logs = arena_array(&g->arena,
                                      (size_t)N * (size_t)a->clusters,
                                      sizeof(*cluster_logs));
    fill_head(g, r, a, y, cluster_logs);
    const double *least = least_sums(g, y, h, wanted);
    for (int c = 0, first = h; c < a->clusters; c++) {
        const float *logs = cluster_logs + (size_t)c * (size_t)N;
        int *rows = arena_array(&g->arena, (size_t)N, sizeof(*rows));
        int n = pick_wanted(logs, N, wanted, least, rows);
        fill_cluster(g, r, &a->cluster[c], rows, n, logs, first, y);
        first += a->cluster[c].b->cols;
    }
    return y;
}
