#include "corpus/vocab.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/lines.h"
#include "base/report.h"
#include "base/text.h"

static const char *const controls[VOCAB_CONTROLS] = { "<unk>", "<s>", "</s>" };

static bool is_control(const char *word, size_t len)
{
    if (len == 0 || word[0] != '<')
        return false;
    for (int i = 0; i < VOCAB_CONTROLS; i++)
        if (len == strlen(controls[i]) && memcmp(word, controls[i], len) == 0)
            return true;
    return false;
}

/* ---- reading ---------------------------------------------------------- */

static int add_control(struct vocab *v, const struct lines *in,
                       const char *line, size_t len)
{
    const char *wanted = controls[v->size];
    if (len != strlen(wanted) || memcmp(line, wanted, len) != 0)
        return error("%s:%zu: not '%s': the first three lines of a vocabulary "
                     "are <unk>, <s> and </s>",
                     in->name, in->number, wanted);
    v->size++;
    return 0;
}

/* Why the line cannot be the next word, or NULL. */
static const char *word_fault(const struct vocab *v, const char *line,
                              size_t len)
{
    if (len == 0)
        return "an empty line, but each line of a vocabulary is a word";
    if (memchr(line, ' ', len) != NULL || memchr(line, '\t', len) != NULL)
        return "a blank, but each line of a vocabulary is one word";
    if (is_control(line, len) || map_find(&v->map, line, len) != NULL)
        return "this word is there already, remove one of the two";
    return NULL;
}

static int add_line(struct vocab *v, const struct lines *in, const char *line,
                    size_t len)
{
    if (v->size < VOCAB_CONTROLS)
        return add_control(v, in, line, len);
    if (v->size == VOCAB_LIMIT)
        return error("%s:%zu: too many words, the limit is %d lines", in->name,
                     in->number, VOCAB_LIMIT);
    if (len > VOCAB_WORD)
        return error("%s:%zu: a word of %zu bytes, the limit is %d", in->name,
                     in->number, len, VOCAB_WORD);
    const char *fault = word_fault(v, line, len);
    if (fault != NULL)
        return error("%s:%zu: '%.*s': %s", in->name, in->number, (int)len, line,
                     fault);
    map_put(&v->map, line, len, v->size);
    v->size++;
    return 0;
}

static int check_size(const struct vocab *v, const char *name)
{
    if (v->size < VOCAB_CONTROLS)
        return error("%s: %d lines, but a vocabulary begins with <unk>, <s> "
                     "and </s>",
                     name, v->size);
    return 0;
}

/* Reads all lines, and releases both reader and, on failure, vocabulary. */
static int read_lines(struct vocab *v, struct lines *in)
{
    char *line;
    size_t len;
    int got;

    while ((got = lines_next(in, &line, &len)) > 0) {
        got = lines_check(in, line, len);
        if (got == 0)
            got = add_line(v, in, line, len);
        if (got < 0)
            break;
    }
    if (got == 0)
        got = check_size(v, in->name);
    lines_release(in);
    if (got < 0)
        vocab_release(v);
    return got;
}

int vocab_load(struct vocab *v, const char *path)
{
    struct lines in;
    *v = (struct vocab){ 0 };
    if (lines_open(&in, path) < 0)
        return -1;
    return read_lines(v, &in);
}

int vocab_parse(struct vocab *v, const char *name, const char *text, size_t len)
{
    struct lines in;
    *v = (struct vocab){ 0 };
    lines_open_text(&in, name, text, len);
    return read_lines(v, &in);
}

/* ---- building --------------------------------------------------------- */

/* How often each word was seen; entry e of words has counts[e]. */
struct tally {
    struct map words;
    int64_t *counts;
    size_t cap;
    size_t long_words;
};

struct counted {
    int64_t count;
    uint64_t prefix; /* the first eight bytes as a number: of two words the one
                        with the smaller comes first */
    const char *word;
    size_t len;
};

static void count_word(struct tally *t, const char *word, size_t len)
{
    if (is_control(word, len))
        return;
    if (len > VOCAB_WORD) {
        t->long_words++;
        return;
    }
    const int *entry = map_find(&t->words, word, len);
    if (entry != NULL) {
        t->counts[*entry]++;
        return;
    }
    size_t e = t->words.count;
    ARRAY_GROW(t->counts, e + 1, t->cap);
    t->counts[e] = 1;
    map_put(&t->words, word, len, (int)e);
}

static void count_line(struct tally *t, const char *line, size_t len)
{
    const char *end = line + len;
    size_t word_len;
    for (;;) {
        const char *word = next_token(&line, end, &word_len);
        if (word == NULL)
            return;
        count_word(t, word, word_len);
    }
}

static int count_file(struct tally *t, const char *path)
{
    struct lines in;
    char *line;
    size_t len;
    int got;

    if (lines_open(&in, path) < 0)
        return -1;
    while ((got = lines_next(&in, &line, &len)) > 0) {
        got = lines_check(&in, line, len);
        if (got < 0)
            break;
        count_line(t, line, len);
        if (t->words.count > INT32_MAX / 2) {
            got = error("%s:%zu: more than %d different words, give less text",
                        in.name, in.number, INT32_MAX / 2);
            break;
        }
    }
    lines_release(&in);
    return got;
}

static uint64_t prefix_of(const char *word, size_t len)
{
    uint64_t prefix = 0;
    for (size_t i = 0; i < sizeof prefix; i++)
        prefix = prefix << 8 | (i < len ? (unsigned char)word[i] : 0);
    return prefix;
}

/* By falling count, then by the bytes of the words. Most words of a text are
 * seen once or twice: the prefix spares a look at them. */
static int by_count(const void *x, const void *y)
{
    const struct counted *a = x, *b = y;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    int order = memcmp(a->word, b->word, a->len < b->len ? a->len : b->len);
    if (order != 0)
        return order;
    return a->len < b->len ? -1 : a->len > b->len;
}

/* The words seen often enough, sorted, owned by the caller; *n of them. */
static struct counted *frequent_words(const struct tally *t, int min_frequency,
                                      size_t *n)
{
    struct counted *list = ARRAY_ALLOC(list, t->words.count);
    *n = 0;
    for (size_t e = 0; e < t->words.count; e++) {
        if (t->counts[e] < min_frequency)
            continue;
        struct counted *c = &list[(*n)++];
        c->count = t->counts[e];
        c->word = map_key(&t->words, e, &c->len);
        c->prefix = prefix_of(c->word, c->len);
    }
    qsort(list, *n, sizeof *list, by_count);
    return list;
}

static void fill(struct vocab *v, const struct tally *t, int max_size,
                 int min_frequency)
{
    size_t n, room = VOCAB_LIMIT - VOCAB_CONTROLS;
    struct counted *list = frequent_words(t, min_frequency, &n);
    if (max_size > 0 && (size_t)max_size < VOCAB_LIMIT)
        room = (size_t)max_size - VOCAB_CONTROLS;
    v->size = VOCAB_CONTROLS;
    for (size_t i = 0; i < n && i < room; i++)
        map_put(&v->map, list[i].word, list[i].len, v->size++);
    if (t->long_words > 0)
        note("%zu words longer than %d bytes are not in the vocabulary",
             t->long_words, VOCAB_WORD);
    free(list);
}

int vocab_build(struct vocab *v, const char *const *paths, int n, int max_size,
                int min_frequency)
{
    struct tally tally = { 0 };
    int ret = 0;

    *v = (struct vocab){ 0 };
    if (max_size != 0 && max_size < VOCAB_CONTROLS)
        return error("a vocabulary of %d entries has no room for <unk>, <s> "
                     "and </s>",
                     max_size);
    for (int i = 0; i < n && ret == 0; i++)
        ret = count_file(&tally, paths[i]);
    if (ret == 0)
        fill(v, &tally, max_size, min_frequency);
    map_release(&tally.words);
    free(tally.counts);
    return ret;
}

/* ---- writing ---------------------------------------------------------- */

void vocab_write(const struct vocab *v, FILE *out)
{
    for (int id = 0; id < v->size; id++) {
        const char *word = vocab_token(v, id);
        size_t len = strlen(word);
        fwrite(word, 1, len, out);
        if (word[len - 1] == '\r')
            putc('\r', out);
        putc('\n', out);
    }
}

int vocab_save(const struct vocab *v, const char *path)
{
    struct atomic_file file;
    FILE *out = atomic_file_open(&file, path);
    if (out == NULL)
        return -1;
    vocab_write(v, out);
    return atomic_file_commit(&file);
}

char *vocab_text(const struct vocab *v, size_t *len)
{
    struct text t = { 0 };
    for (int id = 0; id < v->size; id++) {
        const char *word = vocab_token(v, id);
        text_adds(&t, word);
        if (t.s[t.len - 1] == '\r')
            text_adds(&t, "\r");
        text_adds(&t, "\n");
    }
    *len = t.len;
    return t.s;
}

/* ---- using ------------------------------------------------------------ */

int vocab_lookup(const struct vocab *v, const char *word, size_t len)
{
    return map_get(&v->map, word, len, UNK);
}

int vocab_encode(const struct vocab *v, const char *line, size_t len, int *ids,
                 int limit)
{
    const char *end = line + len;
    size_t word_len;
    for (int n = 0;; n++) {
        const char *word = next_token(&line, end, &word_len);
        if (word == NULL)
            return n;
        if (n < limit)
            ids[n] = vocab_lookup(v, word, word_len);
    }
}

const char *vocab_token(const struct vocab *v, int id)
{
    assert(id >= 0 && id < v->size);
    if (id < VOCAB_CONTROLS)
        return controls[id];
    return map_key(&v->map, (size_t)(id - VOCAB_CONTROLS), NULL);
}

void vocab_release(struct vocab *v)
{
    map_release(&v->map);
    *v = (struct vocab){ 0 };
}
