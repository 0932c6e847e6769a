#include "config/key.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "config/config.h"
#include "config/scalar.h"

enum { LONGEST_WORD = 64 }; /* longer ones are not typing errors */

#define SECTION(section, help) { #section, help },
#define KEY(section, key, type, value, min, max, help)
#define END(section)

const struct section config_sections[SECTION_COUNT] = {
#include "config/keys.def"
};

#undef SECTION
#undef KEY

#define DEFAULT_INT(value) .number = (value)
#define DEFAULT_FLOAT(value) .number = (value)
#define DEFAULT_BOOL(value) .number = (value)
#define DEFAULT_STRING(value) .text = (value)
#define DEFAULT_NAME(value) .text = (value)

#define SECTION(section, help)
#define KEY(section_, key, type_, value, min_, max_, help_) \
    {                                                       \
        .section = &config_sections[SECTION_##section_],    \
        .name = #key,                                       \
        .dotted = #section_ "." #key,                       \
        .type = KEY_##type_,                                \
        .offset = offsetof(struct config, section_.key),    \
        DEFAULT_##type_(value),                             \
        .min = (min_),                                      \
        .max = (max_),                                      \
        .help = help_,                                      \
    },

const struct key config_keys[KEY_COUNT] = {
#include "config/keys.def"
};

#undef SECTION
#undef KEY
#undef END

const struct section *section_find(const char *name)
{
    for (int i = 0; i < SECTION_COUNT; i++)
        if (strcmp(config_sections[i].name, name) == 0)
            return &config_sections[i];
    return NULL;
}

const struct key *key_find(const char *dotted)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(config_keys[i].dotted, dotted) == 0)
            return &config_keys[i];
    return NULL;
}

const struct key *key_in(const struct section *section, const char *name)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (config_keys[i].section == section &&
            strcmp(config_keys[i].name, name) == 0)
            return &config_keys[i];
    return NULL;
}

void key_add_number(struct text *out, const struct key *key, double value)
{
    if (key->type == KEY_BOOL)
        text_adds(out, value != 0 ? "true" : "false");
    else if (key->type == KEY_INT)
        text_addf(out, "%.0f", value);
    else
        scalar_add_number(out, value);
}

static const struct section *section_near(const char *name)
{
    const char *names[SECTION_COUNT];
    for (int i = 0; i < SECTION_COUNT; i++)
        names[i] = config_sections[i].name;
    const char *near = nearest(name, names, SECTION_COUNT);
    return near ? section_find(near) : NULL;
}

/* The key of the nearest name in the section, in all of them for NULL. */
static const struct key *key_near(const struct section *section,
                                  const char *name)
{
    const char *names[KEY_COUNT];
    const struct key *keys[KEY_COUNT];
    int n = 0;
    for (int i = 0; i < KEY_COUNT; i++) {
        if (section && config_keys[i].section != section)
            continue;
        keys[n] = &config_keys[i];
        names[n++] = config_keys[i].name;
    }
    const char *near = nearest(name, names, (size_t)n);
    for (int i = 0; i < n; i++)
        if (names[i] == near)
            return keys[i];
    return NULL;
}

static void suggest(struct text *out, const char *what)
{
    text_addf(out, "; did you mean '%s'?", what);
}

/* Suggests every key of that very name; false when there is none. */
static bool suggest_namesakes(struct text *out, const char *name)
{
    int found = 0;
    for (int i = 0; i < KEY_COUNT; i++)
        if (strcmp(config_keys[i].name, name) == 0)
            text_addf(out, "%s'%s'", found++ ? " or " : "; did you mean ",
                      config_keys[i].dotted);
    if (found)
        text_adds(out, "?");
    return found > 0;
}

/* Explains how a dotted key is written in a file; false when it is none. */
static bool suggest_sections(struct text *out, const char *dotted)
{
    const struct key *key = key_find(dotted);
    if (key)
        text_addf(out, "; write '%s' below '%s:'", key->name,
                  key->section->name);
    return key != NULL;
}

void section_hint(struct text *out, const char *name)
{
    if (strlen(name) > LONGEST_WORD || suggest_sections(out, name) ||
        suggest_namesakes(out, name))
        return;
    const struct section *section = section_near(name);
    const struct key *key = section ? NULL : key_near(NULL, name);
    if (section)
        suggest(out, section->name);
    else if (key)
        suggest(out, key->dotted);
}

void key_hint(struct text *out, const char *section, const char *name)
{
    if (strlen(section) > LONGEST_WORD || strlen(name) > LONGEST_WORD ||
        suggest_sections(out, name))
        return;
    const struct section *near = section_near(section);
    const struct key *key = near ? key_in(near, name) : NULL;
    if (!key && suggest_namesakes(out, name))
        return;
    if (!key && near)
        key = key_near(near, name);
    if (!key)
        key = key_near(NULL, name);
    if (key)
        suggest(out, key->dotted);
}
