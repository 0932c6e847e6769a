#include "metrics/bleu.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"

const char *const bleu_smooth_names[] = {
    [BLEU_SMOOTH_NONE] = "none",   [BLEU_SMOOTH_FLOOR] = "floor",
    [BLEU_SMOOTH_ADD_K] = "add-k", [BLEU_SMOOTH_EXP] = "exp",
    [BLEU_SMOOTH_EXP + 1] = NULL,
};

double bleu_smooth_value(enum bleu_smooth method)
{
    static const double values[] = {
        [BLEU_SMOOTH_NONE] = 0,
        [BLEU_SMOOTH_FLOOR] = 0.1,
        [BLEU_SMOOTH_ADD_K] = 1,
        [BLEU_SMOOTH_EXP] = 0,
    };
    return values[method];
}

/* An n-gram of up to BLEU_ORDER tokens, the places behind its last are -1. */
struct ngram {
    int id[BLEU_ORDER];
};

/* All n-grams of a text, sorted. */
struct ngrams {
    struct ngram *gram;
    size_t count;
    size_t tokens;
};

static int ngram_compare(const void *a, const void *b)
{
    const struct ngram *x = a, *y = b;

    for (int i = 0; i < BLEU_ORDER; i++)
        if (x->id[i] != y->id[i])
            return x->id[i] < y->id[i] ? -1 : 1;
    return 0;
}

static int ngram_order(const struct ngram *g)
{
    int n = 0;
    while (n < BLEU_ORDER && g->id[n] >= 0)
        n++;
    return n;
}

/* The tokens as numbers; the map grows by those it has not seen. The caller
 * frees the array. */
static int *number_tokens(struct bleu_text text, struct map *numbers,
                          size_t *count)
{
    const char *cursor = text.s, *end = text.s + text.len;
    int *ids = NULL;
    size_t len, cap = 0;

    *count = 0;
    for (;;) {
        const char *token = next_token(&cursor, end, &len);
        if (token == NULL)
            return ids;
        int next = (int)numbers->count;
        int id = map_get(numbers, token, len, next);
        if (id == next)
            map_put(numbers, token, len, id);
        ARRAY_GROW(ids, *count + 1, cap);
        ids[(*count)++] = id;
    }
}

/* The number of n-grams in that many tokens. */
static size_t ngram_count(size_t tokens, int order)
{
    return tokens >= (size_t)order ? tokens - (size_t)order + 1 : 0;
}

static struct ngrams ngrams_new(struct bleu_text text, struct map *numbers)
{
    struct ngrams all = { 0 };
    int *ids = number_tokens(text, numbers, &all.tokens);

    for (int n = 1; n <= BLEU_ORDER; n++)
        all.count += ngram_count(all.tokens, n);
    struct ngram *g = ARRAY_ALLOC(all.gram, all.count);
    for (int n = 1; n <= BLEU_ORDER; n++)
        for (size_t i = 0; i < ngram_count(all.tokens, n); i++, g++)
            for (int k = 0; k < BLEU_ORDER; k++)
                g->id[k] = k < n ? ids[i + (size_t)k] : -1;
    qsort(all.gram, all.count, sizeof *all.gram, ngram_compare);
    free(ids);
    return all;
}

/* How many n-grams from i on are the one at i. */
static size_t run_length(const struct ngrams *a, size_t i)
{
    size_t n = 1;
    while (i + n < a->count && ngram_compare(&a->gram[i], &a->gram[i + n]) == 0)
        n++;
    return n;
}

/* Moves *at to the first n-gram that is not below g; how often g is there. */
static size_t occurrences(const struct ngrams *a, size_t *at,
                          const struct ngram *g)
{
    while (*at < a->count && ngram_compare(&a->gram[*at], g) < 0)
        ++*at;
    if (*at == a->count || ngram_compare(&a->gram[*at], g) != 0)
        return 0;
    return run_length(a, *at);
}

/* Walks through hypothesis and references side by side, in their order. */
static void count_matches(struct bleu *b, const struct ngrams *hyp,
                          const struct ngrams *refs, int n_refs)
{
    size_t *at = ARRAY_ZERO(at, (size_t)n_refs);

    for (size_t i = 0; i < hyp->count;) {
        size_t wanted = run_length(hyp, i), best = 0;
        for (int r = 0; r < n_refs; r++) {
            size_t there = occurrences(&refs[r], &at[r], &hyp->gram[i]);
            best = there > best ? there : best;
        }
        int order = ngram_order(&hyp->gram[i]);
        b->total[order - 1] += (long)wanted;
        b->match[order - 1] += (long)(best < wanted ? best : wanted);
        i += wanted;
    }
    free(at);
}

static size_t distance(size_t a, size_t b)
{
    return a > b ? a - b : b - a;
}

/* The length of the reference that is nearest to the hypothesis'. */
static size_t nearest_length(size_t hyp, const struct ngrams *refs, int n_refs)
{
    size_t best = refs[0].tokens;

    for (int r = 1; r < n_refs; r++) {
        size_t len = refs[r].tokens;
        size_t is = distance(len, hyp), was = distance(best, hyp);
        if (is < was || (is == was && len < best))
            best = len;
    }
    return best;
}

void bleu_add_multi(struct bleu *b, struct bleu_text hyp,
                    const struct bleu_text *refs, int n_refs)
{
    struct map numbers = { 0 };
    struct ngrams h = ngrams_new(hyp, &numbers);
    struct ngrams *r = ARRAY_ALLOC(r, (size_t)n_refs);

    assert(n_refs > 0);
    for (int i = 0; i < n_refs; i++)
        r[i] = ngrams_new(refs[i], &numbers);
    count_matches(b, &h, r, n_refs);
    b->hyp_len += (long)h.tokens;
    b->ref_len += (long)nearest_length(h.tokens, r, n_refs);
    for (int i = 0; i < n_refs; i++)
        free(r[i].gram);
    free(r);
    free(h.gram);
    map_release(&numbers);
}

void bleu_add(struct bleu *b, struct bleu_text hyp, struct bleu_text ref)
{
    bleu_add_multi(b, hyp, &ref, 1);
}

/* exp(1 - r/c) when the hypotheses are shorter than the references. */
static double brevity(const struct bleu *b)
{
    if (b->hyp_len >= b->ref_len)
        return 1;
    if (b->hyp_len == 0)
        return 0;
    return exp(1 - (double)b->ref_len / (double)b->hyp_len);
}

/* Fills in precisions up to the first order which has no n-gram at all. */
static void precisions(const struct bleu *b, enum bleu_smooth method,
                       double value, double precision[BLEU_ORDER])
{
    double share = 1;

    for (int i = 0; i < BLEU_ORDER; i++) {
        double more = method == BLEU_SMOOTH_ADD_K && i > 0 ? value : 0;
        double match = (double)b->match[i] + more;
        double total = (double)b->total[i] + more;
        if (total == 0)
            return;
        if (match == 0 && method == BLEU_SMOOTH_EXP) {
            share /= 2;
            match = share;
        }
        if (match == 0 && method == BLEU_SMOOTH_FLOOR)
            match = value;
        precision[i] = 100 * match / total;
    }
}

struct bleu_score bleu_score(const struct bleu *b, enum bleu_smooth method,
                             double value)
{
    struct bleu_score s = { .brevity = brevity(b) };
    long matches = 0;
    double logs = 0; /* of 0: -inf, whose exponential is 0 */

    if (b->ref_len > 0)
        s.ratio = (double)b->hyp_len / (double)b->ref_len;
    for (int i = 0; i < BLEU_ORDER; i++)
        matches += b->match[i];
    if (matches == 0)
        return s;
    precisions(b, method, value, s.precision);
    for (int i = 0; i < BLEU_ORDER; i++)
        logs += log(s.precision[i]);
    s.score = fmin(s.brevity * exp(logs / BLEU_ORDER), 100); /* 100 + 4e-14 */
    return s;
}
