#include "search/shortlist.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/lines.h"
#include "base/report.h"
#include "base/text.h"
#include "corpus/vocab.h"

struct shortlist {
    int first;       /* words 0 … first - 1 are in every list */
    int target_size; /* entries of the target vocabulary */
    int rows;        /* of the source vocabulary */
    size_t *start;   // [rows + 1] of a source word's translations
    int32_t *target; // [start[rows]]
};

struct entry {
    int32_t source, target;
    float probability;
};

/* The table while it is read. */
struct table {
    const struct vocab *source, *target;
    struct entry *entries;
    size_t count, cap;
    size_t lines, unknown, empty; /* in all; passed over */
};

enum field { TARGET, SOURCE, PROBABILITY, FIELDS };

static bool is_empty_word(const char *word, size_t len)
{
    return len == 4 && memcmp(word, "NULL", 4) == 0;
}

static int read_probability(const struct lines *in, const char *text,
                            size_t len, float *to)
{
    char *end;
    double p = strtod(text, &end);
    if (end != text + len || !(p >= 0 && p <= 1))
        return error("%s:%zu: '%.*s' is no probability: lines are "
                     "'TARGET SOURCE PROBABILITY'",
                     in->name, in->number, len < 100 ? (int)len : 100, text);
    *to = (float)p;
    return 0;
}

static void add_entry(struct table *t, const char *const *word,
                      const size_t *len, float probability)
{
    int target = vocab_lookup(t->target, word[TARGET], len[TARGET]);
    int source = vocab_lookup(t->source, word[SOURCE], len[SOURCE]);
    if (is_empty_word(word[TARGET], len[TARGET]) ||
        is_empty_word(word[SOURCE], len[SOURCE])) {
        t->empty++;
        return;
    }
    if (target == UNK || source == UNK) {
        t->unknown++;
        return;
    }
    ARRAY_GROW(t->entries, t->count + 1, t->cap);
    t->entries[t->count++] = (struct entry){ source, target, probability };
}

static int wrong_number(const struct lines *in, const char *than)
{
    return error("%s:%zu: %s than three words: lines are "
                 "'TARGET SOURCE PROBABILITY'",
                 in->name, in->number, than);
}

static int read_line(struct table *t, const struct lines *in, const char *line,
                     size_t len)
{
    const char *word[FIELDS], *cursor = line, *end = line + len;
    size_t length[FIELDS];
    float probability = 0;
    if (lines_check(in, line, len) < 0)
        return -1;
    for (int f = 0; f < FIELDS; f++) {
        word[f] = next_token(&cursor, end, &length[f]);
        if (!word[f])
            return wrong_number(in, "less");
    }
    if (!text_is_blank(cursor, (size_t)(end - cursor)))
        return wrong_number(in, "more");
    if (read_probability(in, word[PROBABILITY], length[PROBABILITY],
                         &probability) < 0)
        return -1;
    t->lines++;
    add_entry(t, word, length, probability);
    return 0;
}

static int read_table(struct table *t, const char *path)
{
    struct lines in = { 0 };
    char *line;
    size_t len;
    int got;
    if (lines_open(&in, path) < 0)
        return -1;
    while ((got = lines_next(&in, &line, &len)) > 0)
        if (read_line(t, &in, line, len) < 0) {
            got = -1;
            break;
        }
    lines_release(&in);
    if (got == 0 && t->count == 0)
        return error("%s: no line in %zu has a word of the target vocabulary "
                     "and then one of the source vocabulary; lines are "
                     "'TARGET SOURCE PROBABILITY'",
                     path, t->lines);
    return got;
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->probability != y->probability)
        return x->probability > y->probability ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

/* Of each source word the best ones; a word that comes twice counts once. */
static void take_best(struct shortlist *s, struct table *t, size_t best)
{
    int32_t *seen = ARRAY_ZERO(seen, (size_t)s->target_size);
    size_t kept = 0, i = 0;
    qsort(t->entries, t->count, sizeof(*t->entries), compare_entries);
    ARRAY_ZERO(s->start, (size_t)s->rows + 1);
    ARRAY_ALLOC(s->target, t->count);
    for (int row = 0; row < s->rows; row++) {
        s->start[row] = kept;
        for (; i < t->count && t->entries[i].source == row; i++) {
            int32_t word = t->entries[i].target;
            if (seen[word] == row + 1 || kept - s->start[row] == best)
                continue;
            seen[word] = row + 1;
            s->target[kept++] = word;
        }
    }
    s->start[s->rows] = kept;
    free(seen);
}

static void tell(const struct shortlist *s, const struct table *t,
                 const char *path)
{
    note("%s: %zu translations of words; passed over: %zu lines with words "
         "that are not in the vocabularies, %zu of the empty word, %zu beyond "
         "the best",
         path, s->start[s->rows], t->unknown, t->empty,
         t->count - s->start[s->rows]);
}

static int at_least(int a, int b)
{
    return a > b ? a : b;
}

struct shortlist *shortlist_read(const char *path, const struct vocab *source,
                                 const struct vocab *target,
                                 const struct shortlist_config *config)
{
    struct table table = { .source = source, .target = target };
    struct shortlist *s = NULL;
    if (read_table(&table, path) == 0) {
        int first = at_least(config->first, VOCAB_CONTROLS);
        s = xcalloc(1, sizeof(*s));
        s->first = first < target->size ? first : target->size;
        s->rows = source->size;
        s->target_size = target->size;
        take_best(s, &table, (size_t)config->best);
        tell(s, &table, path);
    }
    free(table.entries);
    return s;
}

void shortlist_free(struct shortlist *s)
{
    if (!s)
        return;
    free(s->start);
    free(s->target);
    free(s);
}

static void mark(uint64_t *set, int word)
{
    set[word / 64] |= (uint64_t)1 << (word % 64);
}

/* The members of a set of words 0 … 64 n - 1, rising. */
static int list_members(const uint64_t *set, size_t n, int *words)
{
    int count = 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t left = set[i]; left; left &= left - 1)
            words[count++] = (int)(i * 64) + __builtin_ctzll(left);
    return count;
}

int shortlist_words(const struct shortlist *s, const int *source, int len,
                    struct arena *arena, const int **words)
{
    size_t n = ((size_t)s->target_size + 63) / 64, most = (size_t)s->first;
    uint64_t *set = arena_array(arena, n, sizeof(*set));
    memset(set, 0, n * sizeof(*set));
    for (int word = 0; word < s->first; word++)
        mark(set, word);
    for (int i = 0; i < len; i++) {
        const size_t *start = s->start + source[i];
        for (size_t j = start[0]; j < start[1]; j++)
            mark(set, s->target[j]);
        most += start[1] - start[0];
    }
    int *list = arena_array(arena, most, sizeof(*list));
    *words = list;
    return list_members(set, n, list);
}
