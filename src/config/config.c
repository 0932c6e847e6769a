#include "config/config.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/report.h"
#include "base/text.h"
#include "config/config_internal.h"
#include "config/scalar.h"

/* --- life ---------------------------------------------------------------- */

static bool is_text(const struct key *key)
{
    return key->type == KEY_STRING || key->type == KEY_NAME;
}

static double get_number(const struct config *cfg, const struct key *key)
{
    switch (key->type) {
    case KEY_INT:
        return *CONFIG_FIELD(cfg, key, const int);
    case KEY_FLOAT:
        return *CONFIG_FIELD(cfg, key, const double);
    default:
        assert(key->type == KEY_BOOL);
        return *CONFIG_FIELD(cfg, key, const bool);
    }
}

static void set_number(struct config *cfg, const struct key *key, double value)
{
    switch (key->type) {
    case KEY_INT:
        *CONFIG_FIELD(cfg, key, int) = (int)value;
        break;
    case KEY_FLOAT:
        *CONFIG_FIELD(cfg, key, double) = value;
        break;
    default:
        assert(key->type == KEY_BOOL);
        *CONFIG_FIELD(cfg, key, bool) = value != 0;
    }
}

static const char *get_text(const struct config *cfg, const struct key *key)
{
    assert(is_text(key));
    return *CONFIG_FIELD(cfg, key, const char *const);
}

static void set_text(struct config *cfg, const struct key *key,
                     const char *value)
{
    char **field = CONFIG_FIELD(cfg, key, char *);
    char *copy = xstrdup(value);
    free(*field);
    *field = copy;
}

void config_init(struct config *cfg)
{
    memset(cfg, 0, sizeof(*cfg));
    ARRAY_ZERO(cfg->places, KEY_COUNT);
    for (int i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &config_keys[i];
        if (is_text(key))
            set_text(cfg, key, key->text);
        else
            set_number(cfg, key, key->number);
    }
}

void config_release(struct config *cfg)
{
    for (int i = 0; i < KEY_COUNT; i++)
        if (is_text(&config_keys[i]))
            free(*CONFIG_FIELD(cfg, &config_keys[i], char *));
    for (size_t i = 0; i < cfg->n_files; i++)
        free(cfg->files[i]);
    free(cfg->files);
    free(cfg->places);
    memset(cfg, 0, sizeof(*cfg));
}

const char *config_file(struct config *cfg, const char *name)
{
    ARRAY_GROW(cfg->files, cfg->n_files + 1, cfg->files_cap);
    return cfg->files[cfg->n_files++] = xstrdup(name);
}

/* --- complaints ---------------------------------------------------------- */

static const struct key *must_find(const char *dotted)
{
    const struct key *key = key_find(dotted);
    assert(key);
    return key;
}

static const struct config_place *place_of(const struct config *cfg,
                                           const struct key *key)
{
    return &cfg->places[key - config_keys];
}

static int complain(const struct config_place *place, const struct key *key,
                    const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));

static int complain(const struct config_place *place, const struct key *key,
                    const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    assert(len >= 0);

    char *what = xmalloc((size_t)len + 1);
    vsnprintf(what, (size_t)len + 1, format, arguments);
    if (place->source == PLACE_DEFAULT)
        error("%s (default): %s", key->dotted, what);
    else if (place->source == PLACE_OPTION)
        error("--%s: %s", key->dotted, what);
    else
        error("%s:%d:%d: %s%s%s", place->file, place->line, place->column,
              key ? key->dotted : "", key ? ": " : "", what);
    free(what);
    return -1;
}

int config_complain(const struct config_place *place, const struct key *key,
                    const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    complain(place, key, format, arguments);
    va_end(arguments);
    return -1;
}

int config_error(const struct config *cfg, const char *dotted,
                 const char *format, ...)
{
    const struct key *key = must_find(dotted);
    va_list arguments;
    va_start(arguments, format);
    complain(place_of(cfg, key), key, format, arguments);
    va_end(arguments);
    return -1;
}

static int complain_about_value(const struct config_place *place,
                                const struct key *key, const char *value,
                                const char *problem)
{
    struct text excerpt = { 0 };
    scalar_add_excerpt(&excerpt, value);
    config_complain(place, key, "%s %s", excerpt.s, problem);
    text_release(&excerpt);
    return -1;
}

/* --- setting ------------------------------------------------------------- */

static int complain_about_range(const struct config_place *place,
                                const struct key *key, const char *value)
{
    struct text problem = { 0 };
    text_adds(&problem, "is out of range, ");
    key_add_number(&problem, key, key->min);
    text_adds(&problem, " to ");
    key_add_number(&problem, key, key->max);
    complain_about_value(place, key, value, problem.s);
    text_release(&problem);
    return -1;
}

static int assign_number(struct config *cfg, const struct key *key,
                         const char *value, const struct config_place *place)
{
    double number = 0;
    bool truth = false;
    const char *problem = key->type == KEY_BOOL
                              ? scalar_read_bool(value, &truth)
                              : scalar_read_number(value, key->type == KEY_INT,
                                                   &number);
    if (problem)
        return complain_about_value(place, key, value, problem);
    if (key->type == KEY_BOOL)
        number = truth;
    else if (number < key->min || number > key->max)
        return complain_about_range(place, key, value);
    set_number(cfg, key, number);
    return 0;
}

int config_assign(struct config *cfg, const struct key *key,
                  const struct scalar *value, const struct config_place *place)
{
    if (value->len > CONFIG_VALUE_LIMIT)
        return config_complain(place, key, "%zu bytes, limit is %d", value->len,
                               CONFIG_VALUE_LIMIT);
    if (utf8_valid_prefix(value->s, value->len) < value->len)
        return config_complain(place, key,
                               "the value holds NUL or ill-formed UTF-8");
    if (is_text(key))
        set_text(cfg, key, value->s);
    else if (value->quoted)
        return complain_about_value(place, key, value->s,
                                    key->type == KEY_BOOL
                                        ? "is text in quotes, not true or false"
                                        : "is text in quotes, not a number");
    else if (assign_number(cfg, key, value->s, place) < 0)
        return -1;
    cfg->places[key - config_keys] = *place;
    return 0;
}

static int complain_about_option(const char *dotted)
{
    char *section = xstrdup(dotted);
    char *dot = strchr(section, '.');
    struct text message = { 0 };
    if (dot) {
        *dot = '\0';
        key_hint(&message, section, dot + 1);
    } else {
        section_hint(&message, dotted);
    }
    error("--%s: unknown key%s", dotted, message.s ? message.s : "");
    text_release(&message);
    free(section);
    return -1;
}

int config_set(struct config *cfg, const char *dotted, const char *value)
{
    static const struct config_place place = { .source = PLACE_OPTION };
    const struct key *key = key_find(dotted);
    if (!key)
        return complain_about_option(dotted);
    if (!value)
        return config_complain(&place, key, "needs a value");
    struct scalar scalar = { .s = value, .len = strlen(value) };
    return config_assign(cfg, key, &scalar, &place);
}

/* --- asking -------------------------------------------------------------- */

bool config_is_key(const char *dotted)
{
    return key_find(dotted) != NULL;
}

static int complain_about_name(const struct config *cfg, const struct key *key,
                               const char *const *names, int n)
{
    const char *value = get_text(cfg, key);
    struct text problem = { 0 };
    text_adds(&problem, "is not one of ");
    for (int i = 0; i < n; i++)
        text_addf(&problem, "%s%s", i ? ", " : "", names[i]);
    const char *near = nearest(value, names, (size_t)n);
    if (near)
        text_addf(&problem, "; did you mean '%s'?", near);
    complain_about_value(place_of(cfg, key), key, value, problem.s);
    text_release(&problem);
    return -1;
}

int config_name(const struct config *cfg, const char *dotted,
                const char *const *names, int n)
{
    const struct key *key = must_find(dotted);
    for (int i = 0; i < n; i++)
        if (strcmp(get_text(cfg, key), names[i]) == 0)
            return i;
    return complain_about_name(cfg, key, names, n);
}

void config_get(const struct config *cfg, const char *dotted, struct text *out)
{
    const struct key *key = must_find(dotted);
    if (is_text(key))
        text_adds(out, get_text(cfg, key));
    else
        key_add_number(out, key, get_number(cfg, key));
}

static bool is_ignored(const struct key *key, const char *const *ignored)
{
    for (; ignored && *ignored; ignored++) {
        assert(key_find(*ignored) || section_find(*ignored));
        if (strcmp(*ignored, key->dotted) == 0 ||
            strcmp(*ignored, key->section->name) == 0)
            return true;
    }
    return false;
}

static bool is_equal(const struct key *key, const struct config *a,
                     const struct config *b)
{
    if (is_text(key))
        return strcmp(get_text(a, key), get_text(b, key)) == 0;
    return get_number(a, key) == get_number(b, key);
}

const char *config_difference(const struct config *a, const struct config *b,
                              const char *const *ignored)
{
    for (int i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &config_keys[i];
        if (!is_ignored(key, ignored) && !is_equal(key, a, b))
            return key->dotted;
    }
    return NULL;
}
