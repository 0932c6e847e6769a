#include "train/position.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "base/text.h"

/* The fields: type, name. */
#define FIELDS               \
    FIELD(WORD, update)      \
    FIELD(INT, epoch)        \
    FIELD(WORD, batch)       \
    FIELD(WORD, corpus)      \
    FIELD(WORD, vocabulary)  \
    FIELD(INT, validations)  \
    FIELD(WORD, validated)   \
    FIELD(INT, stalled)      \
    FIELD(INT, since_decay)  \
    FIELD(REAL, factor)      \
    FIELD(REAL, best)        \
    FIELD(INT, has_best)     \
    FIELD(WORD, best_update) \
    FIELD(REAL, perplexity)  \
    FIELD(REAL, bleu)        \
    FIELD(REAL, seconds)     \
    FIELD(REAL, nll)         \
    FIELD(REAL, norm)        \
    FIELD(WORD, sentences)   \
    FIELD(WORD, tokens)      \
    FIELD(WORD, updates)

enum type { INT, WORD, REAL };

static const struct field {
    const char *name;
    enum type type;
    size_t offset;
} fields[] = {
#define FIELD(type, name) { #name, type, offsetof(struct position, name) },
    FIELDS
#undef FIELD
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

char *position_text(const struct position *p, size_t *len)
{
    struct text text = { 0 };
    for (int i = 0; i < FIELD_COUNT; i++) {
        const char *at = (const char *)p + fields[i].offset;
        switch (fields[i].type) {
        case INT:
            text_addf(&text, "%s: %d\n", fields[i].name,
                      *(const int *)(const void *)at);
            break;
        case WORD:
            text_addf(&text, "%s: %" PRIu64 "\n", fields[i].name,
                      *(const uint64_t *)(const void *)at);
            break;
        case REAL:
            text_addf(&text, "%s: %.17g\n", fields[i].name,
                      *(const double *)(const void *)at);
            break;
        }
    }
    *len = text.len;
    return text.s;
}

/* One number that fills its line. */
static bool parse_value(const struct field *f, struct position *p,
                        const char *s)
{
    char *at = (char *)p + f->offset, *end = NULL;
    switch (f->type) {
    case INT:
        *(int *)(void *)at = (int)strtol(s, &end, 10);
        break;
    case WORD:
        *(uint64_t *)(void *)at = strtoull(s, &end, 10);
        break;
    case REAL:
        *(double *)(void *)at = strtod(s, &end);
        break;
    }
    return end != s && *end == '\n';
}

int position_parse(struct position *p, const char *name, const char *text,
                   size_t len)
{
    memset(p, 0, sizeof(*p));
    const char *s = text;
    for (int i = 0; i < FIELD_COUNT; i++) {
        size_t n = strlen(fields[i].name);
        const char *end = memchr(s, '\n', len - (size_t)(s - text));
        if (!end || strncmp(s, fields[i].name, n) != 0 || s[n] != ':' ||
            s[n + 1] != ' ' || !parse_value(&fields[i], p, s + n + 2))
            return error("%s:%d: expected '%s: NUMBER'", name, i + 1,
                         fields[i].name);
        s = end + 1;
    }
    return 0;
}
