#include "corpus/corpus.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/report.h"
#include "base/text.h"
#include "corpus/vocab.h"

#define UNKNOWN_PERCENT 30 /* of a side's words, above which we warn */

/* One of the two files while it is read. */
struct reader {
    struct lines in;
    const struct vocab *vocab;
    char *line;
    size_t len;
    int got; /* what lines_next() said */
};

static int next_line(struct reader *r)
{
    r->got = lines_next(&r->in, &r->line, &r->len);
    if (r->got <= 0)
        return r->got;
    return lines_check(&r->in, r->line, r->len) < 0 ? -1 : 1;
}

static size_t count_lines(struct reader *r)
{
    while (r->got > 0)
        r->got = lines_next(&r->in, &r->line, &r->len);
    return r->in.number;
}

static int lengths_differ(struct reader *source, struct reader *target)
{
    size_t n = count_lines(source), m = count_lines(target);
    if (source->got < 0 || target->got < 0)
        return -1;
    return error("'%s' has %zu lines but '%s' has %zu: line by line they have "
                 "to be the same sentences",
                 source->in.name, n, target->in.name, m);
}

/* What a line gave: its words' number and how many of them are unknown. */
struct sentence {
    size_t words, unknown;
};

/* Appends the ids of the line and EOS. Stops after max_length words, if that
 * is not 0, and says that there were more by counting one more. */
static struct sentence append(struct corpus *c, const struct reader *r,
                              size_t max_length)
{
    const char *cursor = r->line, *end = r->line + r->len;
    struct sentence s = { 0 };
    size_t len;

    for (;;) {
        const char *word = next_token(&cursor, end, &len);
        if (word == NULL)
            break;
        s.words++;
        if (max_length > 0 && s.words > max_length)
            break;
        int id = vocab_lookup(r->vocab, word, len);
        s.unknown += id == UNK;
        ARRAY_GROW(c->ids, c->ids_len + 1, c->ids_cap);
        c->ids[c->ids_len++] = id;
    }
    ARRAY_GROW(c->ids, c->ids_len + 1, c->ids_cap);
    c->ids[c->ids_len++] = EOS;
    return s;
}

/* What to do with pairs. */
struct filter {
    bool all; /* leave out none */
    size_t max_length;
};

static void warn_cut(const struct reader *r, size_t max_length)
{
    warn("%s:%zu: more than %zu words; what is behind them is passed over",
         r->in.name, r->in.number, max_length);
}

/* Whether the pair is to be left out, which it counts. */
static bool left_out(struct corpus *c, const struct reader *source,
                     const struct reader *target, const struct sentence s[2],
                     size_t max_length)
{
    size_t *reason = NULL;
    if (s[0].words == 0 && s[1].words == 0)
        reason = &c->empty;
    else if (s[0].words == 0 || s[1].words == 0)
        reason = &c->half_empty;
    else if (source->in.cut || target->in.cut ||
             (max_length > 0 &&
              (s[0].words > max_length || s[1].words > max_length)))
        reason = &c->too_long;
    if (reason == NULL)
        return false;
    ++*reason;
    return true;
}

/* Whether the pair, whose ids have been appended, stays. */
static bool stays(struct corpus *c, const struct reader *source,
                  const struct reader *target, const struct sentence s[2],
                  const struct filter *filter)
{
    if (!filter->all)
        return !left_out(c, source, target, s, filter->max_length);
    if (s[0].words > filter->max_length)
        warn_cut(source, filter->max_length);
    if (s[1].words > filter->max_length)
        warn_cut(target, filter->max_length);
    return true;
}

static void add_pair(struct corpus *c, const struct reader *source,
                     const struct reader *target, const struct filter *filter)
{
    size_t start = c->ids_len;
    struct sentence s[2];
    s[0] = append(c, source, filter->max_length);
    size_t middle = c->ids_len;
    s[1] = append(c, target, filter->max_length);
    if (!stays(c, source, target, s, filter)) {
        c->ids_len = start;
        return;
    }
    c->tokens[0] += middle - start - 1;
    c->tokens[1] += c->ids_len - middle - 1;
    for (int i = 0; i < 2; i++)
        c->unknown[i] += s[i].unknown;
    ARRAY_GROW(c->pair, c->pairs + 1, c->pair_cap);
    c->pair[c->pairs++] = (struct corpus_pair){
        .start = start,
        .source = (int32_t)(middle - start),
        .target = (int32_t)(c->ids_len - middle),
    };
}

static int read_pairs(struct corpus *c, struct reader *source,
                      struct reader *target, const struct filter *filter)
{
    for (;;) {
        int s = next_line(source), t = s < 0 ? -1 : next_line(target);
        if (s < 0 || t < 0)
            return -1;
        if (s != t)
            return lengths_differ(source, target);
        if (s == 0)
            return 0;
        if (c->pairs == CORPUS_LIMIT)
            return error("%s:%zu: more than %zu pairs, give less text",
                         source->in.name, source->in.number, CORPUS_LIMIT);
        add_pair(c, source, target, filter);
    }
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void tell_left_out(const struct corpus *c, const char *name,
                          int max_length)
{
    if (c->empty > 0)
        note("%s: %zu empty pair%s skipped", name, c->empty, plural(c->empty));
    if (c->half_empty > 0)
        note("%s: %zu pair%s with one side empty skipped", name, c->half_empty,
             plural(c->half_empty));
    if (c->too_long > 0 && max_length > 0)
        note("%s: %zu pair%s longer than %d tokens skipped", name, c->too_long,
             plural(c->too_long), max_length);
    else if (c->too_long > 0)
        note("%s: %zu pair%s with a line that is too long skipped", name,
             c->too_long, plural(c->too_long));
}

static void tell_unknown(const struct corpus *c, int side, const char *name)
{
    double percent = 100.0 * (double)c->unknown[side] / (double)c->tokens[side];
    if (percent > UNKNOWN_PERCENT)
        warn("%s: %.0f %% of the words are not in the vocabulary", name,
             percent);
}

static int finish(struct corpus *c, const struct reader *source,
                  const struct reader *target, const struct filter *filter)
{
    tell_left_out(c, source->in.name, (int)filter->max_length);
    if (c->pairs == 0 && !filter->all)
        return error("'%s' and '%s': no usable pairs", source->in.name,
                     target->in.name);
    tell_unknown(c, 0, source->in.name);
    tell_unknown(c, 1, target->in.name);
    if (c->ids_len > 0)
        c->ids = xrealloc(c->ids, array_bytes(c->ids_len, sizeof *c->ids));
    c->ids_cap = c->ids_len;
    return 0;
}

static int read_corpus(struct corpus *c, const char *source, const char *target,
                       const struct vocab *source_vocab,
                       const struct vocab *target_vocab,
                       const struct filter *filter)
{
    struct reader s = { .vocab = source_vocab }, t = { .vocab = target_vocab };
    int ret = -1;

    *c = (struct corpus){ 0 };
    if (lines_open(&s.in, source) < 0 || lines_open(&t.in, target) < 0)
        goto out;
    if (read_pairs(c, &s, &t, filter) < 0)
        goto out;
    ret = finish(c, &s, &t, filter);
out:
    lines_release(&s.in);
    lines_release(&t.in);
    if (ret < 0)
        corpus_release(c);
    return ret;
}

int corpus_read(struct corpus *c, const char *source, const char *target,
                const struct vocab *source_vocab,
                const struct vocab *target_vocab, int max_length)
{
    assert(max_length >= 0);
    struct filter filter = { false, (size_t)max_length };
    return read_corpus(c, source, target, source_vocab, target_vocab, &filter);
}

int corpus_read_all(struct corpus *c, const char *source, const char *target,
                    const struct vocab *source_vocab,
                    const struct vocab *target_vocab, int max_length)
{
    assert(max_length > 0);
    struct filter filter = { true, (size_t)max_length };
    return read_corpus(c, source, target, source_vocab, target_vocab, &filter);
}

const int32_t *corpus_source(const struct corpus *c, size_t i, int *len)
{
    assert(i < c->pairs);
    *len = c->pair[i].source;
    return c->ids + c->pair[i].start;
}

const int32_t *corpus_target(const struct corpus *c, size_t i, int *len)
{
    assert(i < c->pairs);
    *len = c->pair[i].target;
    return c->ids + c->pair[i].start + c->pair[i].source;
}

struct corpus corpus_slice(const struct corpus *c, size_t from, size_t pairs)
{
    assert(from <= c->pairs && pairs <= c->pairs - from);
    return (struct corpus){
        .pairs = pairs,
        .ids = c->ids,
        .ids_len = c->ids_len,
        .pair = c->pair + from,
    };
}

/* Every EOS is in the ids, so that they alone tell where sentences end. */
uint64_t corpus_hash(const struct corpus *c)
{
    uint64_t hash = c->pairs;
    for (size_t i = 0; i < c->ids_len; i++) {
        hash = (hash ^ (uint32_t)c->ids[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

void corpus_release(struct corpus *c)
{
    free(c->ids);
    free(c->pair);
    *c = (struct corpus){ 0 };
}
