/* The rows of config/keys.def as tables, look-up in them, and what to suggest
 * for a key that is not there. For src/config only. Nothing is ever freed. */
#ifndef ATTN_CONFIG_KEY_H
#define ATTN_CONFIG_KEY_H

#include <stddef.h>

struct text;

enum {
#define SECTION(section, help)
#define KEY(section, key, type, value, min, max, help) KEY_##section##_##key,
#define END(section)
#include "config/keys.def"
#undef SECTION
#undef KEY
#undef END
    KEY_COUNT
};

enum {
#define SECTION(section, help) SECTION_##section,
#define KEY(section, key, type, value, min, max, help)
#define END(section)
#include "config/keys.def"
#undef SECTION
#undef KEY
#undef END
    SECTION_COUNT
};

enum key_type { KEY_INT, KEY_FLOAT, KEY_BOOL, KEY_STRING, KEY_NAME };

struct section {
    const char *name, *help;
};

struct key {
    const struct section *section;
    const char *name, *dotted;
    enum key_type type;
    size_t offset;    /* of the field in struct config */
    double number;    /* default of INT, FLOAT, BOOL */
    const char *text; /* default of STRING, NAME */
    double min, max;  /* of INT, FLOAT */
    const char *help;
};

extern const struct section config_sections[SECTION_COUNT];
extern const struct key config_keys[KEY_COUNT]; /* section by section */

/* These return NULL when there is no such section or key. */
const struct section *section_find(const char *name);
const struct key *key_find(const char *dotted);
const struct key *key_in(const struct section *section, const char *name);

/* Appends a value of an INT, FLOAT or BOOL key as the readers take it. */
void key_add_number(struct text *out, const struct key *key, double value);

/* Append "; did you mean 'training.dropout'?", or nothing, for a section or a
 * key that does not exist. `section` need not exist either. */
void section_hint(struct text *out, const char *name);
void key_hint(struct text *out, const char *section, const char *name);

#endif
