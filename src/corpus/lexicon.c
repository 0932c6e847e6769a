#include "corpus/lexicon.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "base/report.h"
#include "base/workers.h"
#include "corpus/corpus.h"
#include "corpus/vocab.h"

enum {
    NOTHING = BOS, /* the null word's row */
    ROW_TASKS = 256,
    BLOCK_PAIRS = 1000, /* of a task that reads pairs */
    ROUND_BLOCKS = 64   /* between two looks at the progress */
};

static const double PART = 4294967296.0; /* counts are in 2^-32 */

/* What a worker uses as a tool. */
struct tool {
    int32_t *source, *target; /* ids of a pair; source[0] is the null word */
    size_t source_cap, target_cap;
    size_t *place; // [sources] entries of a target word
    size_t place_cap;
    uint32_t *stamp; // [target_size] the row + 1 that has met the word
    int32_t *met;    // [target_size] words that a row has met
};

struct estimate {
    struct lexicon *lexicon;
    const struct corpus *corpus;
    const struct lexicon_config *config;
    struct workers *workers;
    struct tool *tool;    // [workers]
    size_t *first;        // [rows + 1] of each word's occurrences in …
    uint32_t *occurrence; /* pairs that hold the word, rising */
    bool filling;         /* rows are filled, not counted */
    double *log_sum;      // [blocks] of log p(target | source)
    size_t done;          /* blocks before this round */
};

/* The ids of pair i without </s>, the null word ahead of the source. */
static int read_source(const struct estimate *e, struct tool *t, size_t i)
{
    int len = corpus_length(e->corpus, CORPUS_SOURCE, i);
    ARRAY_GROW(t->source, (size_t)len + 1, t->source_cap);
    t->source[0] = NOTHING;
    corpus_ids(e->corpus, CORPUS_SOURCE, i, t->source + 1);
    return len;
}

static int read_target(const struct estimate *e, struct tool *t, size_t i)
{
    int len = corpus_length(e->corpus, CORPUS_TARGET, i);
    ARRAY_GROW(t->target, (size_t)len, t->target_cap);
    corpus_ids(e->corpus, CORPUS_TARGET, i, t->target);
    return len - 1;
}

/* --- which words meet ---------------------------------------------------- */

/* Calls for every source word but the null word, once a pair. */
typedef void occurrence_fn(struct estimate *e, int word, uint32_t pair);

static void each_occurrence(struct estimate *e, occurrence_fn *take)
{
    struct tool *t = &e->tool[0];
    size_t *last = ARRAY_ZERO(last, (size_t)e->lexicon->rows);
    for (size_t i = 0; i < e->corpus->pairs; i++) {
        int S = read_source(e, t, i);
        for (int s = 1; s < S; s++) {
            int word = t->source[s];
            if (last[word] != i + 1)
                take(e, word, (uint32_t)i);
            last[word] = i + 1;
        }
    }
    free(last);
}

static void count_occurrence(struct estimate *e, int word, uint32_t pair)
{
    (void)pair;
    e->first[word + 1]++;
}

/* Moves first[word] to the end of the word's occurrences. */
static void put_occurrence(struct estimate *e, int word, uint32_t pair)
{
    e->occurrence[e->first[word]++] = pair;
}

static void find_occurrences(struct estimate *e)
{
    int rows = e->lexicon->rows;
    ARRAY_ZERO(e->first, (size_t)rows + 1);
    each_occurrence(e, count_occurrence);
    for (int r = 0; r < rows; r++)
        e->first[r + 1] += e->first[r];
    ARRAY_ALLOC(e->occurrence, e->first[rows]);
    each_occurrence(e, put_occurrence);
    memmove(e->first + 1, e->first, (size_t)rows * sizeof(*e->first));
    e->first[0] = 0;
}

static void meet(const struct estimate *e, struct tool *t, size_t pair, int row,
                 size_t *met)
{
    int T = read_target(e, t, pair);
    for (int j = 0; j < T; j++) {
        int word = t->target[j];
        if (t->stamp[word] == (uint32_t)row + 1)
            continue;
        t->stamp[word] = (uint32_t)row + 1;
        t->met[(*met)++] = word;
    }
}

/* The target words of the pairs that hold the row's word, in t->met. */
static size_t meet_all(const struct estimate *e, struct tool *t, int row)
{
    size_t met = 0;
    if (row == NOTHING)
        for (size_t i = 0; i < e->corpus->pairs; i++)
            meet(e, t, i, row, &met);
    else
        for (size_t i = e->first[row]; i < e->first[row + 1]; i++)
            meet(e, t, e->occurrence[i], row, &met);
    return met;
}

static int compare_ids(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return x < y ? -1 : x > y;
}

/* Every ROW_TASKS-th row: long ones are spread over the tasks. */
static void make_rows(void *arg, int task, int worker)
{
    struct estimate *e = arg;
    struct lexicon *l = e->lexicon;
    struct tool *t = &e->tool[worker];
    for (int row = task; row < l->rows; row += ROW_TASKS) {
        size_t met = meet_all(e, t, row);
        if (!e->filling) {
            l->start[row + 1] = met;
            continue;
        }
        assert(met == l->start[row + 1] - l->start[row]);
        if (met == 0)
            continue;
        qsort(t->met, met, sizeof(*t->met), compare_ids);
        memcpy(l->target + l->start[row], t->met, met * sizeof(*t->met));
    }
}

static void run_rows(struct estimate *e, bool filling)
{
    e->filling = filling;
    for (int w = 0; w < workers_count(e->workers); w++)
        memset(e->tool[w].stamp, 0,
               (size_t)e->config->target_size * sizeof(*e->tool[w].stamp));
    workers_run(e->workers, ROW_TASKS, make_rows, e);
}

/* The entries, all of them equally probable. */
static void make_table(struct estimate *e)
{
    struct lexicon *l = e->lexicon;
    find_occurrences(e);
    ARRAY_ZERO(l->start, (size_t)l->rows + 1);
    run_rows(e, false);
    for (int row = 0; row < l->rows; row++)
        l->start[row + 1] += l->start[row];
    size_t n = lexicon_entries(l);
    ARRAY_ALLOC(l->target, n);
    ARRAY_ALLOC(l->probability, n);
    ARRAY_ZERO(l->count, n);
    run_rows(e, true);
    for (size_t i = 0; i < n; i++)
        l->probability[i] = 1.0f / (float)e->config->target_size;
    free(e->occurrence);
    free(e->first);
    e->occurrence = NULL;
    e->first = NULL;
}

/* --- expectation --------------------------------------------------------- */

/* The entry of the target word, or where it would stand. */
static size_t entry_of(const struct lexicon *l, int row, int32_t target)
{
    size_t first = l->start[row], n = l->start[row + 1] - first;
    while (n > 1) {
        size_t half = n / 2;
        first = l->target[first + half] <= target ? first + half : first;
        n -= half;
    }
    return first;
}

/* Each of S source words gets its share of one occurrence of a target word
 * (Brown et al. 1993, eq. 17):
 *     c(f | e_i) += t(f | e_i) / sum_k t(f | e_k)
 * Returns the sum. */
static double share(struct lexicon *l, struct tool *t, int S, int32_t target)
{
    double sum = 0;
    for (int s = 0; s < S; s++) {
        t->place[s] = entry_of(l, t->source[s], target);
        sum += (double)l->probability[t->place[s]];
    }
    for (int s = 0; s < S; s++) {
        double part = (double)l->probability[t->place[s]] / sum;
        __atomic_fetch_add(&l->count[t->place[s]],
                           (uint64_t)llrint(part * PART), __ATOMIC_RELAXED);
    }
    return sum;
}

/* p(f | e) = prod_j 1/S sum_i t(f_j | e_i), S with the null word */
static void count_block(void *arg, int task, int worker)
{
    struct estimate *e = arg;
    struct tool *t = &e->tool[worker];
    size_t block = e->done + (size_t)task;
    size_t from = block * BLOCK_PAIRS, to = from + BLOCK_PAIRS;
    double log_sum = 0;
    for (size_t i = from; i < to && i < e->corpus->pairs; i++) {
        int S = read_source(e, t, i), T = read_target(e, t, i);
        ARRAY_GROW(t->place, (size_t)S, t->place_cap);
        for (int j = 0; j < T; j++)
            log_sum += log(share(e->lexicon, t, S, t->target[j]) / S);
    }
    e->log_sum[block] = log_sum;
}

/* Returns the perplexity of a target word before the step. */
static double count_all(struct estimate *e, int iteration)
{
    size_t blocks = (e->corpus->pairs + BLOCK_PAIRS - 1) / BLOCK_PAIRS;
    struct progress progress;
    double sum = 0;
    progress_init(&progress, PROGRESS_NOTHING);
    for (e->done = 0; e->done < blocks; e->done += ROUND_BLOCKS) {
        size_t left = blocks - e->done;
        workers_run(e->workers,
                    (int)(left < ROUND_BLOCKS ? left : ROUND_BLOCKS),
                    count_block, e);
        progress_show(&progress, "iteration %d of %d: %.0f %% of the pairs",
                      iteration + 1, e->config->iterations,
                      100.0 * (double)e->done / (double)blocks);
    }
    progress_end(&progress);
    for (size_t b = 0; b < blocks; b++)
        sum += e->log_sum[b];
    return exp(-sum / (double)e->corpus->tokens[CORPUS_TARGET]);
}

/* --- maximisation -------------------------------------------------------- */

/* t(f | e) = c(f | e) / sum_f' c(f' | e)                    (ibid., eq. 14) */
static void divide_rows(void *arg, int task, int worker)
{
    struct lexicon *l = ((struct estimate *)arg)->lexicon;
    (void)worker;
    for (int row = task; row < l->rows; row += ROW_TASKS) {
        uint64_t sum = 0;
        for (size_t i = l->start[row]; i < l->start[row + 1]; i++)
            sum += l->count[i];
        for (size_t i = l->start[row]; i < l->start[row + 1]; i++) {
            l->probability[i] = (float)((double)l->count[i] /
                                        (double)(sum > 0 ? sum : 1));
            l->count[i] = 0;
        }
    }
}

static void make_tools(struct estimate *e)
{
    int n = workers_count(e->workers);
    ARRAY_ZERO(e->tool, (size_t)n);
    for (int w = 0; w < n; w++) {
        ARRAY_ALLOC(e->tool[w].stamp, (size_t)e->config->target_size);
        ARRAY_ALLOC(e->tool[w].met, (size_t)e->config->target_size);
    }
    ARRAY_ZERO(e->log_sum, e->corpus->pairs / BLOCK_PAIRS + 1);
}

static void release_tools(struct estimate *e)
{
    for (int w = 0; w < workers_count(e->workers); w++) {
        struct tool *t = &e->tool[w];
        free(t->source);
        free(t->target);
        free(t->place);
        free(t->stamp);
        free(t->met);
    }
    free(e->tool);
    free(e->log_sum);
}

void lexicon_estimate(struct lexicon *l, const struct corpus *corpus,
                      const struct lexicon_config *config,
                      struct workers *workers)
{
    struct estimate e = {
        .lexicon = l, .corpus = corpus, .config = config, .workers = workers
    };
    *l = (struct lexicon){ .rows = config->source_size };
    make_tools(&e);
    make_table(&e);
    note("%zu pairs of sentences, %zu pairs of words", corpus->pairs,
         lexicon_entries(l));
    for (int i = 0; i < config->iterations; i++) {
        double perplexity = count_all(&e, i);
        workers_run(workers, ROW_TASKS, divide_rows, &e);
        note("iteration %d: perplexity %.2f before it", i + 1, perplexity);
    }
    release_tools(&e);
    free(l->count);
    l->count = NULL;
}

/* --- the result ---------------------------------------------------------- */

size_t lexicon_entries(const struct lexicon *l)
{
    return l->start ? l->start[l->rows] : 0;
}

float lexicon_probability(const struct lexicon *l, int source, int target)
{
    size_t i = entry_of(l, source, target);
    bool found = i < l->start[source + 1] && l->target[i] == target;
    return found ? l->probability[i] : 0;
}

struct entry {
    int32_t target;
    float probability;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

/* The entries first … end - 1 worth keeping, best first; how many. */
static size_t take_row(const struct lexicon *l, size_t first, size_t end,
                       double threshold, struct entry *to)
{
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        if (l->target[i] >= VOCAB_CONTROLS && l->probability[i] > 0 &&
            (double)l->probability[i] >= threshold)
            to[n++] = (struct entry){ l->target[i], l->probability[i] };
    qsort(to, n, sizeof(*to), compare_entries);
    return n;
}

void lexicon_prune(struct lexicon *l, int best, double threshold)
{
    struct entry *row = NULL;
    size_t cap = 0, kept = 0, first = 0;
    for (int r = 0; r < l->rows; r++) {
        size_t end = l->start[r + 1];
        ARRAY_GROW(row, end - first + 1, cap);
        size_t n = r < VOCAB_CONTROLS ? 0
                                      : take_row(l, first, end, threshold, row);
        n = n < (size_t)best ? n : (size_t)best;
        l->start[r] = kept;
        for (size_t i = 0; i < n; i++) {
            l->target[kept] = row[i].target;
            l->probability[kept++] = row[i].probability;
        }
        first = end;
    }
    l->start[l->rows] = kept;
    free(row);
}

void lexicon_write(const struct lexicon *l, const struct vocab *source,
                   const struct vocab *target, FILE *out)
{
    for (int row = 0; row < l->rows; row++)
        for (size_t i = l->start[row]; i < l->start[row + 1]; i++)
            fprintf(out, "%s %s %.7g\n", vocab_token(target, l->target[i]),
                    vocab_token(source, row), (double)l->probability[i]);
}

void lexicon_release(struct lexicon *l)
{
    free(l->start);
    free(l->target);
    free(l->probability);
    free(l->count);
    memset(l, 0, sizeof(*l));
}
