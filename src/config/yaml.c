/* The walk over a YAML document, event by event, so that every complaint has
 * its line and column. Known to libyaml are syntax and places only: what a
 * scalar means is decided by its key.
 *
 * Lines and columns are our own, from the index of the character: libyaml
 * takes U+0085, U+2028 and U+2029 for ends of lines, editors do not. */
#include "config/config_internal.h"

#include <assert.h>
#include <string.h>
#include <yaml.h>

#include "base/report.h"
#include "base/text.h"
#include "config/scalar.h"

struct reader {
    yaml_parser_t parser;
    yaml_event_t event;        /* the one being looked at */
    struct config_place place; /* where it starts */
    struct config *cfg;
    struct cursor cursor;
    int key_line[KEY_COUNT]; /* where it was set; 0: not yet */
    int section_line[SECTION_COUNT];
};

/* --- events -------------------------------------------------------------- */

static int complain_about_syntax(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return failure("%s: out of memory", r->place.file);
    if (p->error == YAML_READER_ERROR)
        cursor_to_byte(&r->cursor, p->problem_offset);
    else
        cursor_to_index(&r->cursor, p->problem_mark.index);
    return error("%s:%d:%d: %s%s%s", r->place.file, r->cursor.line,
                 r->cursor.column, p->context ? p->context : "",
                 p->context ? ": " : "", p->problem ? p->problem : "not YAML");
}

/* Refuses what may stand before a value, and what makes documents tricky. */
static int check_properties(struct reader *r)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    const yaml_event_t *e = &r->event;
    if (e->type == YAML_ALIAS_EVENT)
        return config_complain(
            &r->place, NULL, "aliases (*) are not supported: write the value");
    if (e->type == YAML_SCALAR_EVENT) {
        anchor = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
    } else if (e->type == YAML_MAPPING_START_EVENT) {
        anchor = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
    } else if (e->type == YAML_SEQUENCE_START_EVENT) {
        anchor = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
    }
    if (anchor)
        return config_complain(&r->place, NULL,
                               "anchors (&) are not supported: take it out");
    if (tag)
        return config_complain(&r->place, NULL,
                               "tags (!) are not supported: take it out");
    return 0;
}

/* Makes the following event r->event. */
static int next(struct reader *r)
{
    yaml_event_delete(&r->event);
    if (!yaml_parser_parse(&r->parser, &r->event))
        return complain_about_syntax(r);
    cursor_to_index(&r->cursor, r->event.start_mark.index);
    r->place.line = r->cursor.line;
    r->place.column = r->cursor.column;
    return check_properties(r);
}

static bool is(const struct reader *r, yaml_event_type_t type)
{
    return r->event.type == type;
}

static struct scalar scalar_here(const struct reader *r)
{
    assert(is(r, YAML_SCALAR_EVENT));
    return (struct scalar){
        .s = (const char *)r->event.data.scalar.value,
        .len = r->event.data.scalar.length,
        .quoted = r->event.data.scalar.style != YAML_PLAIN_SCALAR_STYLE,
    };
}

/* Whether nothing stands where a value could. */
static bool is_nothing(const struct reader *r)
{
    if (!is(r, YAML_SCALAR_EVENT))
        return false;
    struct scalar scalar = scalar_here(r);
    return scalar.len == 0 && !scalar.quoted;
}

/* --- the document -------------------------------------------------------- */

static int complain_about_key(struct reader *r, const struct section *section)
{
    struct text message = { 0 };
    const char *name = scalar_here(r).s;
    text_adds(&message, section ? "unknown key " : "unknown section ");
    scalar_add_excerpt(&message, name);
    if (section) {
        text_addf(&message, " in section '%s'", section->name);
        key_hint(&message, section->name, name);
    } else {
        section_hint(&message, name);
    }
    config_complain(&r->place, NULL, "%s", message.s);
    text_release(&message);
    return -1;
}

/* Notes that a name stands here; an error when it stood somewhere before. */
static int note_line(struct reader *r, int *line, const char *what,
                     const char *name)
{
    if (*line)
        return config_complain(&r->place, NULL,
                               "duplicate %s '%s', first in line %d", what,
                               name, *line);
    *line = r->place.line;
    return 0;
}

static int read_key(struct reader *r, const struct section *section)
{
    const struct key *key = key_in(section, scalar_here(r).s);
    if (!key)
        return complain_about_key(r, section);
    if (note_line(r, &r->key_line[key - config_keys], "key", key->dotted) < 0 ||
        next(r) < 0)
        return -1;
    if (!is(r, YAML_SCALAR_EVENT))
        return config_complain(&r->place, key, "needs one value, not a %s",
                               is(r, YAML_SEQUENCE_START_EVENT)
                                   ? "list"
                                   : "list of keys");
    struct scalar value = scalar_here(r);
    return config_assign(r->cfg, key, &value, &r->place);
}

static int read_mapping(struct reader *r, const struct section *section);

static int read_section(struct reader *r)
{
    const struct section *section = section_find(scalar_here(r).s);
    if (!section)
        return complain_about_key(r, NULL);
    int *line = &r->section_line[section - config_sections];
    if (note_line(r, line, "section", section->name) < 0 || next(r) < 0)
        return -1;
    if (is_nothing(r))
        return 0;
    if (!is(r, YAML_MAPPING_START_EVENT))
        return config_complain(&r->place, NULL,
                               "'%s' is a section: it holds keys with values, "
                               "not a value",
                               section->name);
    return read_mapping(r, section);
}

/* Reads to the end of the mapping that starts here: the keys of the section,
 * or the sections when it is NULL. */
static int read_mapping(struct reader *r, const struct section *section)
{
    while (next(r) == 0) {
        if (is(r, YAML_MAPPING_END_EVENT))
            return 0;
        if (!is(r, YAML_SCALAR_EVENT))
            return config_complain(&r->place, NULL,
                                   "the name of a %s is needed here",
                                   section ? "key" : "section");
        struct scalar name = scalar_here(r);
        if (strlen(name.s) < name.len)
            return config_complain(&r->place, NULL, "NUL in the name");
        if ((section ? read_key(r, section) : read_section(r)) < 0)
            return -1;
    }
    return -1;
}

static int read_document(struct reader *r)
{
    if (next(r) < 0)
        return -1;
    if (!is_nothing(r)) {
        if (!is(r, YAML_MAPPING_START_EVENT))
            return config_complain(
                &r->place, NULL,
                "a configuration is sections with keys, such as "
                "'training: {epochs: 20}'");
        if (read_mapping(r, NULL) < 0)
            return -1;
    }
    return next(r);
}

/* Whether libyaml takes what stands before the byte for the end of a line. */
static bool begins_line(const char *text, size_t byte)
{
    static const char *const ends[] = { "\n", "\r", "\xC2\x85", "\xE2\x80\xA8",
                                        "\xE2\x80\xA9" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t len = strlen(ends[i]);
        if (byte >= len && memcmp(text + byte - len, ends[i], len) == 0)
            return true;
    }
    return byte == 0;
}

/* Refuses %TAG before libyaml sees it, whose time grows with the square of the
 * number of these lines. */
static int check_directives(struct reader *r)
{
    static const char tag[] = "%TAG";
    const char *text = r->cursor.text, *end = text + r->cursor.len;
    const char *found = memmem(text, r->cursor.len, tag, 4);
    while (found && !begins_line(text, (size_t)(found - text)))
        found = memmem(found + 1, (size_t)(end - found - 1), tag, 4);
    if (!found)
        return 0;
    cursor_to_byte(&r->cursor, (size_t)(found - text));
    return error("%s:%d:%d: tags (%%TAG) are not supported: take it out",
                 r->place.file, r->cursor.line, r->cursor.column);
}

static int read_stream(struct reader *r)
{
    if (check_directives(r) < 0)
        return -1;
    if (next(r) < 0 || next(r) < 0)
        return -1;
    if (is(r, YAML_STREAM_END_EVENT))
        return 0;
    if (read_document(r) < 0 || next(r) < 0)
        return -1;
    if (!is(r, YAML_STREAM_END_EVENT))
        return config_complain(
            &r->place, NULL, "a second document starts here, one is the limit");
    return 0;
}

int yaml_read(struct config *cfg, const char *file, const char *text,
              size_t len)
{
    struct reader r = {
        .cfg = cfg,
        .place = { .source = PLACE_FILE, .file = file },
        .cursor = { .text = text, .len = len },
    };
    if (!yaml_parser_initialize(&r.parser))
        return failure("%s: out of memory", file);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, len);
    int ret = read_stream(&r);
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    return ret;
}
