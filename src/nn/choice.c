#include "nn/choice.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/config.h"

void choice_init(struct choice *c)
{
    memset(c, 0, sizeof(*c));
}

static void put(struct choice *c, const char *name)
{
    assert(c->count < CHOICES);
    c->names[c->count] = name;
    c->entry[c->count] = c->entries;
    c->count++;
}

void choice_add(struct choice *c, const char *name, const char *aliases)
{
    put(c, name);
    const char *cursor = aliases, *word;
    const char *end = aliases ? aliases + strlen(aliases) : NULL;
    size_t len;
    while (aliases && (word = next_token(&cursor, end, &len)) != NULL) {
        assert((size_t)c->used + len + 1 <= CHOICE_BYTES);
        char *copy = c->alias + c->used;
        memcpy(copy, word, len);
        copy[len] = '\0';
        c->used += (int)len + 1;
        put(c, copy);
    }
    c->entries++;
}

int choice_of(const struct choice *c, const struct config *cfg, const char *key)
{
    int found = config_name(cfg, key, c->names, c->count);
    return found < 0 ? -1 : c->entry[found];
}

static const char *join(const char *(*row)(int i))
{
    static __thread char buffer[CHOICE_BYTES];
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; row(i); i++) {
        int n = snprintf(buffer + used, sizeof(buffer) - used, "%s%s",
                         i > 0 ? ", " : "", row(i));
        used += n > 0 && used + (size_t)n < sizeof(buffer) ? (size_t)n : 0;
    }
    return buffer;
}

const char *choice_text(const struct choice_table *tables, const char *key)
{
    for (; tables->key; tables++)
        if (strcmp(tables->key, key) == 0)
            return tables->fixed ? tables->fixed : join(tables->row);
    return NULL;
}
