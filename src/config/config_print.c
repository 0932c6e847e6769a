/* Configurations as text for people and for the reader. */
#include "config/config.h"

#include <string.h>

#include "base/text.h"
#include "config/config_internal.h"
#include "config/scalar.h"

enum { HELP_WIDTH = 79, HELP_COLUMN = 32 };

static void print(struct text *text, FILE *out)
{
    if (text->len)
        fwrite(text->s, 1, text->len, out);
    text_release(text);
}

/* Whether the key is the first of its section. */
static bool begins_section(const struct key *key)
{
    return key == config_keys || key->section != key[-1].section;
}

/* --- as YAML ------------------------------------------------------------- */

static void add_value(struct text *out, const struct config *cfg,
                      const struct key *key)
{
    if (key->type == KEY_STRING || key->type == KEY_NAME)
        scalar_add_string(out, *CONFIG_FIELD(cfg, key, char *const));
    else
        config_get(cfg, key->dotted, out);
}

/* A comment that ends neither early nor late, whatever the file's name. */
static void add_source(struct text *out, const struct key *key,
                       const struct config_place *place)
{
    if (place->source == PLACE_DEFAULT) {
        text_adds(out, "  # default");
    } else if (place->source == PLACE_OPTION) {
        text_addf(out, "  # --%s", key->dotted);
    } else {
        struct text name = { 0 };
        utf8_repair(&name, place->file, strlen(place->file));
        text_adds(out, "  # ");
        scalar_add_string(out, name.s ? name.s : "");
        text_addf(out, ":%d:%d", place->line, place->column);
        text_release(&name);
    }
}

static void add_all(struct text *out, const struct config *cfg, bool sources)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &config_keys[i];
        if (begins_section(key))
            text_addf(out, "%s:\n", key->section->name);
        text_addf(out, "  %s: ", key->name);
        add_value(out, cfg, key);
        if (sources)
            add_source(out, key, &cfg->places[i]);
        text_adds(out, "\n");
    }
}

void config_dump(const struct config *cfg, FILE *out, bool sources)
{
    struct text text = { 0 };
    add_all(&text, cfg, sources);
    print(&text, out);
}

char *config_text(const struct config *cfg, size_t *len)
{
    struct text text = { 0 };
    add_all(&text, cfg, false);
    *len = text.len;
    return text.s;
}

/* --- for people ---------------------------------------------------------- */

/* Appends what keys.def says: "step size at the start (0 to 100)". The choices
 * and the default `value` may be NULL. */
static void add_meaning(struct text *out, const struct key *key,
                        const char *choices, const char *value)
{
    struct text facts = { 0 };
    if (key->type == KEY_INT || key->type == KEY_FLOAT) {
        key_add_number(&facts, key, key->min);
        text_adds(&facts, " to ");
        key_add_number(&facts, key, key->max);
    } else if (choices) {
        text_adds(&facts, choices);
    }
    if (value && *value)
        text_addf(&facts, "%sdefault %s", facts.len ? "; " : "", value);
    text_adds(out, key->help);
    if (facts.len)
        text_addf(out, " (%s)", facts.s);
    text_release(&facts);
}

static const char *choices_of(const struct key *key, config_choices_fn *choices)
{
    return key->type == KEY_NAME && choices ? choices(key->dotted) : NULL;
}

void config_example(FILE *out, config_choices_fn *choices)
{
    struct config cfg;
    struct text text = { 0 };
    config_init(&cfg);
    text_adds(&text,
              "# Every key, with its default. What a file leaves out keeps its "
              "default;\n"
              "# on the command line a key is --section.key VALUE.\n");
    for (int i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &config_keys[i];
        if (begins_section(key))
            text_addf(&text, "\n# %s\n%s:\n", key->section->help,
                      key->section->name);
        text_adds(&text, "  # ");
        add_meaning(&text, key, choices_of(key, choices), NULL);
        text_addf(&text, "\n  %s: ", key->name);
        add_value(&text, &cfg, key);
        text_adds(&text, "\n");
    }
    print(&text, out);
    config_release(&cfg);
}

/* Appends the words in a column, `at` being where the line stands already. */
static void add_wrapped(struct text *out, size_t at, const char *words)
{
    const char *end = words + strlen(words);
    size_t len;
    bool first = true;
    for (const char *word = next_token(&words, end, &len); word;
         word = next_token(&words, end, &len)) {
        bool fits = at + len + 1 <= HELP_WIDTH;
        if (first ? at + 2 > HELP_COLUMN : !fits) {
            text_adds(out, "\n");
            at = 0;
            first = true;
        }
        int space = first ? HELP_COLUMN - (int)at : 1;
        text_addf(out, "%*s%.*s", space, "", (int)len, word);
        at += (size_t)space + len;
        first = false;
    }
    text_adds(out, "\n");
}

static const char *type_name(enum key_type type)
{
    static const char *const names[] = {
        [KEY_INT] = "INT",       [KEY_FLOAT] = "FLOAT", [KEY_BOOL] = "BOOL",
        [KEY_STRING] = "STRING", [KEY_NAME] = "NAME",
    };
    return names[type];
}

void config_help(FILE *out, config_choices_fn *choices)
{
    struct config cfg;
    struct text text = { 0 }, meaning = { 0 }, value = { 0 };
    config_init(&cfg);
    for (int i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &config_keys[i];
        if (begins_section(key))
            text_addf(&text, "%s%s: %s\n", i ? "\n" : "", key->section->name,
                      key->section->help);
        size_t start = text.len;
        text_addf(&text, "  --%s %s", key->dotted, type_name(key->type));
        config_get(&cfg, key->dotted, &value);
        add_meaning(&meaning, key, choices_of(key, choices), value.s);
        add_wrapped(&text, text.len - start, meaning.s);
        text_reset(&meaning);
        text_reset(&value);
    }
    print(&text, out);
    text_release(&meaning);
    text_release(&value);
    config_release(&cfg);
}
