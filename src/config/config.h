/* The settings of a run: one field for each row of config/keys.def.
 *
 *     struct config cfg;
 *     config_init(&cfg);                               every key its default
 *     if (config_load(&cfg, "run.yaml") < 0)           sections of a YAML file
 *         …
 *     config_set(&cfg, "training.dropout", "0.2");     --training.dropout 0.2
 *     … cfg.training.dropout …
 *     config_release(&cfg);
 *
 * INT is an int, FLOAT a double, BOOL a bool; STRING and NAME are char *,
 * never NULL after config_init, owned by the config: fields may be read
 * freely, and changed only through config_set and the readers. The config
 * remembers where each key was set. Every key is checked for its type and
 * range when it is set; rules between keys, and the names a NAME key may have,
 * are the caller's, who reports through config_error and config_name.
 *
 * Functions that return int give 0, or -1 after reporting the error. After an
 * error the config is good for config_release only.
 *
 * Dotted keys ("training.dropout") given to functions must exist unless the
 * function says otherwise. A config may be read by several threads; changes
 * need the only one. Nothing here depends on the locale. */
#ifndef ATTN_CONFIG_CONFIG_H
#define ATTN_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    CONFIG_FILE_LIMIT = 1 << 20, /* bytes of a configuration file */
    CONFIG_VALUE_LIMIT = 4096,   /* bytes of one value */
};

struct config_place;
struct text;

#define CONFIG_FIELD_INT int
#define CONFIG_FIELD_FLOAT double
#define CONFIG_FIELD_BOOL bool
#define CONFIG_FIELD_STRING char *
#define CONFIG_FIELD_NAME char *

#define SECTION(section, help) struct {
#define KEY(section, key, type, value, min, max, help) CONFIG_FIELD_##type key;
#define END(section) \
    }                \
    section;

struct config {
#include "config/keys.def"
    /* private */
    struct config_place *places; /* of each key */
    char **files;                /* names the places point at */
    size_t n_files, files_cap;
};

#undef SECTION
#undef KEY
#undef END

void config_init(struct config *cfg);
void config_release(struct config *cfg);

/* Read a YAML file ("-" is stdin), or YAML text that messages call `name`.
 * The document is one mapping of sections, each a mapping of keys to scalars;
 * anything else is an error with line and column, both from 1, columns in
 * characters. Keys which are not there keep their values; an empty document
 * is fine. At most CONFIG_FILE_LIMIT bytes. */
int config_load(struct config *cfg, const char *path);
int config_parse(struct config *cfg, const char *name, const char *text,
                 size_t len);

/* Sets a key as the command line does with --section.key VALUE; messages say
 * '--section.key'. The key need not exist, the value may be NULL: both are
 * reported as the user's errors. */
int config_set(struct config *cfg, const char *dotted, const char *value);

/* Whether such a key exists. */
bool config_is_key(const char *dotted);

/* Reports what is wrong with the value of a key, after the place where it was
 * set, and returns -1:
 *     run.yaml:3:12: training.dropout: …
 *     --training.dropout: …
 *     training.dropout (default): … */
int config_error(const struct config *cfg, const char *dotted,
                 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns the index of a STRING or NAME key's value among `names`, or reports
 * it with the nearest name, or all of them, and returns -1. */
int config_name(const struct config *cfg, const char *dotted,
                const char *const *names, int n);

/* Appends the value of a key as text which config_set would take. */
void config_get(const struct config *cfg, const char *dotted, struct text *out);

/* Returns the first key whose values differ, NULL when there is none; borrowed
 * for ever. `ignored` ends in NULL and holds dotted keys or whole sections to
 * leave out; it may itself be NULL. */
const char *config_difference(const struct config *a, const struct config *b,
                              const char *const *ignored);

/* Prints all keys as YAML from which the readers make the same config; with
 * `sources`, each with a comment that says where it was set. */
void config_dump(const struct config *cfg, FILE *out, bool sources);

/* The same without sources as a string, which the caller frees. */
char *config_text(const struct config *cfg, size_t *len);

/* Returns the names a NAME key may have, as text ("gru, lstm"), borrowed, or
 * NULL when it does not know them. */
typedef const char *config_choices_fn(const char *dotted);

/* Print every key with its default and its meaning: as a commented YAML file,
 * and as the table of --help. `choices` may be NULL. */
void config_example(FILE *out, config_choices_fn *choices);
void config_help(FILE *out, config_choices_fn *choices);

#endif
