#include "base/text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void text_add(struct text *t, const char *s, size_t len)
{
    ARRAY_GROW(t->s, t->len + len + 1, t->cap);
    if (len > 0)
        memcpy(t->s + t->len, s, len);
    t->len += len;
    t->s[t->len] = '\0';
}

void text_adds(struct text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

void text_addf(struct text *t, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    assert(len >= 0);
    ARRAY_GROW(t->s, t->len + (size_t)len + 1, t->cap);
    vsnprintf(t->s + t->len, (size_t)len + 1, format, again);
    t->len += (size_t)len;
    va_end(again);
    va_end(args);
}

void text_reset(struct text *t)
{
    t->len = 0;
    if (t->s != NULL)
        t->s[0] = '\0';
}

void text_release(struct text *t)
{
    free(t->s);
    *t = (struct text){ 0 };
}

/* What may follow a lead byte (Unicode standard, table 3-7): the number of
 * further bytes and the range of the first of them; the others are 80 … BF. */
struct lead {
    int more;
    unsigned char low, high;
};

static struct lead lead_of(unsigned char c)
{
    static const struct lead none = { 0, 0, 0 };
    if (c >= 0xc2 && c <= 0xdf)
        return (struct lead){ 1, 0x80, 0xbf };
    if (c >= 0xe0 && c <= 0xef)
        return (struct lead){ 2, c == 0xe0 ? 0xa0 : 0x80,
                              c == 0xed ? 0x9f : 0xbf };
    if (c >= 0xf0 && c <= 0xf4)
        return (struct lead){ 3, c == 0xf0 ? 0x90 : 0x80,
                              c == 0xf4 ? 0x8f : 0xbf };
    return none;
}

/* The number of bytes of the well-formed character at s; 0 when it is NUL or
 * ill-formed, with the number of bytes that make the bad piece in *bad. */
static size_t character(const unsigned char *s, size_t left, size_t *bad)
{
    *bad = 1;
    if (s[0] < 0x80)
        return s[0] != 0;
    struct lead lead = lead_of(s[0]);
    if (lead.more == 0)
        return 0;
    for (size_t i = 1; i <= (size_t)lead.more; i++) {
        unsigned char low = i == 1 ? lead.low : 0x80;
        unsigned char high = i == 1 ? lead.high : 0xbf;
        if (i == left || s[i] < low || s[i] > high) {
            *bad = i;
            return 0;
        }
    }
    return (size_t)lead.more + 1;
}

/* Whether all of the eight bytes are in 01 … 7F. */
static bool all_ascii(const char *s)
{
    uint64_t x;
    memcpy(&x, s, sizeof x);
    const uint64_t high = UINT64_C(0x8080808080808080);
    return ((x | (x - high / 0x80)) & high) == 0;
}

size_t utf8_valid_prefix(const char *s, size_t len)
{
    size_t i = 0;
    while (i < len) {
        if (len - i >= 8 && all_ascii(s + i)) {
            i += 8;
            continue;
        }
        size_t bad;
        size_t n = character((const unsigned char *)s + i, len - i, &bad);
        if (n == 0)
            return i;
        i += n;
    }
    return len;
}

size_t utf8_repair(struct text *t, const char *s, size_t len)
{
    size_t replaced = 0;
    for (;;) {
        size_t good = utf8_valid_prefix(s, len);
        text_add(t, s, good);
        if (good == len)
            return replaced;
        s += good;
        len -= good;
        size_t bad;
        character((const unsigned char *)s, len, &bad);
        text_adds(t, "\xef\xbf\xbd");
        s += bad;
        len -= bad;
        replaced++;
    }
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

const char *next_token(const char **cursor, const char *end, size_t *len)
{
    const char *s = *cursor;
    while (s < end && blank(*s))
        s++;
    const char *token = s;
    while (s < end && !blank(*s))
        s++;
    *cursor = s;
    *len = (size_t)(s - token);
    return s > token ? token : NULL;
}

int split_tokens(char *s, size_t len, const char **tokens, int most)
{
    const char *cursor = s, *end = s + len;
    int n = 0;
    while (n < most) {
        size_t token_len;
        const char *token = next_token(&cursor, end, &token_len);
        if (token == NULL)
            break;
        tokens[n++] = token;
        s[(token - s) + (ptrdiff_t)token_len] = '\0';
        cursor += cursor < end; /* over the '\0' */
    }
    return n;
}

bool text_is_blank(const char *s, size_t len)
{
    size_t token_len;
    return next_token(&s, s + len, &token_len) == NULL;
}

#define EDIT_LONGEST 63

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int edit_distance(const char *a, const char *b)
{
    int n = (int)strnlen(a, EDIT_LONGEST), m = (int)strnlen(b, EDIT_LONGEST);
    int d[EDIT_LONGEST + 1][EDIT_LONGEST + 1]; /* of the first i and j bytes */

    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            d[i][j] = least(d[i - 1][j], d[i][j - 1]) + 1;
            d[i][j] = least(d[i][j], d[i - 1][j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

const char *nearest(const char *word, const char *const *words, size_t n)
{
    /* a third of the letters may be wrong, and one always */
    int limit = (int)strnlen(word, EDIT_LONGEST) / 3;
    if (limit < 1)
        limit = 1;
    const char *best = NULL;
    for (size_t i = 0; i < n; i++) {
        int distance = edit_distance(word, words[i]);
        if (distance <= limit) {
            best = words[i];
            limit = distance - 1; /* the next has to be nearer */
        }
    }
    return best;
}
