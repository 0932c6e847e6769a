#include "corpus/corpus.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/report.h"
#include "base/rng.h"
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

    int32_t *ids; /* of the line */
    size_t cap;
    size_t words, kept, unknown; /* in the line; in ids; of these UNK */
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

/* Turns the line into ids, max_length of them at most, if that is not 0. A word
 * and a blank are two bytes. */
static void encode(struct reader *r, size_t max_length)
{
    size_t most = r->len / 2 + 1;
    if (max_length > 0 && max_length < most)
        most = max_length;
    ARRAY_GROW(r->ids, most, r->cap);
    r->words = (size_t)vocab_encode(r->vocab, r->line, r->len, r->ids,
                                    (int)most);
    r->kept = r->words < most ? r->words : most;
    r->unknown = 0;
    for (size_t i = 0; i < r->kept; i++)
        r->unknown += r->ids[i] == UNK;
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
                     const struct reader *target, size_t max_length)
{
    size_t *reason = NULL;
    if (source->words == 0 && target->words == 0)
        reason = &c->empty;
    else if (source->words == 0 || target->words == 0)
        reason = &c->half_empty;
    else if (source->in.cut || target->in.cut ||
             (max_length > 0 &&
              (source->words > max_length || target->words > max_length)))
        reason = &c->too_long;
    if (reason == NULL)
        return false;
    ++*reason;
    return true;
}

/* Whether the pair stays. */
static bool stays(struct corpus *c, const struct reader *source,
                  const struct reader *target, const struct filter *filter)
{
    if (!filter->all)
        return !left_out(c, source, target, filter->max_length);
    if (source->words > filter->max_length)
        warn_cut(source, filter->max_length);
    if (target->words > filter->max_length)
        warn_cut(target, filter->max_length);
    return true;
}

static void add_side(struct corpus *c, enum corpus_side side,
                     const struct reader *r)
{
    sentences_add(&c->sentences, r->ids, r->kept);
    c->tokens[side] += r->kept;
    c->unknown[side] += r->unknown;
}

static void add_pair(struct corpus *c, struct reader *source,
                     struct reader *target, const struct filter *filter)
{
    encode(source, filter->max_length);
    encode(target, filter->max_length);
    if (!stays(c, source, target, filter))
        return;
    add_side(c, CORPUS_SOURCE, source);
    add_side(c, CORPUS_TARGET, target);
    c->pairs++;
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
    return 0;
}

static void reader_release(struct reader *r)
{
    lines_release(&r->in);
    free(r->ids);
}

/* The id that none of the two vocabularies goes beyond. */
static int largest_id(const struct vocab *v, const struct vocab *w)
{
    return (v->size > w->size ? v->size : w->size) - 1;
}

static int read_corpus(struct corpus *c, const char *source, const char *target,
                       const struct vocab *source_vocab,
                       const struct vocab *target_vocab,
                       const struct filter *filter)
{
    struct reader s = { .vocab = source_vocab }, t = { .vocab = target_vocab };
    int ret = -1;

    *c = (struct corpus){ 0 };
    sentences_init(&c->sentences, largest_id(source_vocab, target_vocab));
    if (lines_open(&s.in, source) < 0 || lines_open(&t.in, target) < 0)
        goto out;
    if (read_pairs(c, &s, &t, filter) < 0)
        goto out;
    sentences_end(&c->sentences);
    ret = finish(c, &s, &t, filter);
out:
    reader_release(&s);
    reader_release(&t);
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

/* The number of a side of pair i among the sentences. */
static size_t sentence(const struct corpus *c, enum corpus_side side, size_t i)
{
    assert(i < c->pairs);
    return 2 * (c->first + i) + side;
}

int corpus_length(const struct corpus *c, enum corpus_side side, size_t i)
{
    return sentences_length(&c->sentences, sentence(c, side, i)) + 1;
}

void corpus_ids(const struct corpus *c, enum corpus_side side, size_t i,
                int32_t *ids)
{
    sentences_get(&c->sentences, sentence(c, side, i), ids);
    ids[corpus_length(c, side, i) - 1] = EOS;
}

struct corpus corpus_slice(const struct corpus *c, size_t from, size_t pairs)
{
    assert(from <= c->pairs && pairs <= c->pairs - from);
    return (struct corpus){
        .pairs = pairs,
        .first = c->first + from,
        .sentences = c->sentences,
    };
}

struct corpus corpus_shuffled(const struct corpus *c, uint64_t seed)
{
    struct corpus out = { .pairs = c->pairs };
    uint32_t *order = ARRAY_ALLOC(order, c->pairs);
    int32_t *ids = NULL;
    size_t cap = 0;
    memcpy(out.tokens, c->tokens, sizeof(out.tokens));
    memcpy(out.unknown, c->unknown, sizeof(out.unknown));
    sentences_init(&out.sentences, c->sentences.wide ? INT32_MAX : 0);
    for (size_t i = 0; i < c->pairs; i++)
        order[i] = (uint32_t)i;
    rng_shuffle(order, c->pairs, seed, RNG_ORDER, 0);
    for (size_t i = 0; i < 2 * c->pairs; i++) {
        size_t from = sentence(c, (enum corpus_side)(i % 2), order[i / 2]);
        size_t len = (size_t)sentences_length(&c->sentences, from);
        ARRAY_GROW(ids, len, cap);
        sentences_get(&c->sentences, from, ids);
        sentences_add(&out.sentences, ids, len);
    }
    sentences_end(&out.sentences);
    free(order);
    free(ids);
    return out;
}

static uint64_t hash_ids(uint64_t hash, const int32_t *ids, int len)
{
    for (int i = 0; i < len; i++) {
        hash = (hash ^ (uint32_t)ids[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Every EOS is in it, so that the ids alone tell where sentences end. Part of
 * checkpoints: it stays what it is. */
uint64_t corpus_hash(const struct corpus *c)
{
    uint64_t hash = c->pairs;
    int32_t *ids = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < 2 * c->pairs; i++) {
        enum corpus_side side = i % 2 == 0 ? CORPUS_SOURCE : CORPUS_TARGET;
        int len = corpus_length(c, side, i / 2);
        ARRAY_GROW(ids, (size_t)len, cap);
        corpus_ids(c, side, i / 2, ids);
        hash = hash_ids(hash, ids, len);
    }
    free(ids);
    return hash;
}

size_t corpus_bytes(const struct corpus *c)
{
    return c->sentences.bytes;
}

void corpus_release(struct corpus *c)
{
    sentences_release(&c->sentences);
    *c = (struct corpus){ 0 };
}
