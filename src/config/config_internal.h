/* What the files of src/config share: places, and setting a key from text. */
#ifndef ATTN_CONFIG_CONFIG_INTERNAL_H
#define ATTN_CONFIG_CONFIG_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "config/key.h"

/* Where a value comes from. A zeroed place is that of a default. */
struct config_place {
    enum { PLACE_DEFAULT, PLACE_OPTION, PLACE_FILE } source;
    const char *file; /* owned by the config; lines and columns from 1 */
    int line, column;
};

/* A value as it was written. */
struct scalar {
    const char *s;
    size_t len;  /* s[len] is NUL, and may not be the first */
    bool quoted; /* text for certain */
};

/* The field of a key: its type is that of the key. */
#define CONFIG_FIELD(cfg, key, type) \
    ((type *)(void *)((char *)(cfg) + (key)->offset))

/* Keeps a file's name for places, as long as the config lives. */
const char *config_file(struct config *cfg, const char *name);

/* Checks the value, sets the key and remembers the place; or reports. */
int config_assign(struct config *cfg, const struct key *key,
                  const struct scalar *value, const struct config_place *place);

/* Reports the message after the place and the key, which is NULL when the
 * message is about no key (then the place is in a file). Returns -1. */
int config_complain(const struct config_place *place, const struct key *key,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A walk over text that knows where it is. Lines end at 0x0A only. */
struct cursor {
    const char *text;
    size_t len;
    size_t byte, index; /* index counts characters */
    int line, column;   /* from 1; column counts characters */
};

/* Move to the character, or to the byte that begins one; or to the end. */
void cursor_to_index(struct cursor *c, size_t index);
void cursor_to_byte(struct cursor *c, size_t byte);

/* Reads well-formed UTF-8 without a byte order mark into the config; `file` is
 * from config_file. The only function that knows libyaml. */
int yaml_read(struct config *cfg, const char *file, const char *text,
              size_t len);

#endif
