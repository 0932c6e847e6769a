/* Reading a configuration: what must hold of the bytes before libyaml's turn. */
#include "config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/report.h"
#include "base/text.h"
#include "config/config_internal.h"

static void cursor_step(struct cursor *c)
{
    if (c->text[c->byte] == '\n') {
        c->line++;
        c->column = 1;
    } else {
        c->column++;
    }
    c->index++;
    do
        c->byte++;
    while (c->byte < c->len &&
           ((unsigned char)c->text[c->byte] & 0xC0) == 0x80);
}

static void cursor_restart(struct cursor *c)
{
    c->byte = c->index = 0;
    c->line = c->column = 1;
}

void cursor_to_index(struct cursor *c, size_t index)
{
    if (c->line == 0 || c->index > index)
        cursor_restart(c);
    while (c->byte < c->len && c->index < index)
        cursor_step(c);
}

void cursor_to_byte(struct cursor *c, size_t byte)
{
    if (c->line == 0 || c->byte > byte)
        cursor_restart(c);
    while (c->byte < c->len && c->byte < byte)
        cursor_step(c);
}

/* Ill-formed UTF-8 and NUL are errors, not text. */
static int check_bytes(const char *name, const char *text, size_t len)
{
    struct cursor cursor = { .text = text, .len = len };
    size_t good = utf8_valid_prefix(text, len);
    if (good == len)
        return 0;
    cursor_to_byte(&cursor, good);
    unsigned char byte = (unsigned char)text[good];
    return error("%s:%d:%d: %s (byte 0x%02x)", name, cursor.line, cursor.column,
                 byte ? "not UTF-8" : "NUL is not text", byte);
}

int config_parse(struct config *cfg, const char *name, const char *text,
                 size_t len)
{
    static const char mark[] = "\xEF\xBB\xBF";
    if (len > CONFIG_FILE_LIMIT)
        return error("%s: longer than %d bytes: is this a configuration?", name,
                     CONFIG_FILE_LIMIT);
    if (len >= 3 && memcmp(text, mark, 3) == 0) {
        text += 3;
        len -= 3;
    }
    if (check_bytes(name, text, len) < 0)
        return -1;
    return yaml_read(cfg, config_file(cfg, name), text, len);
}

int config_load(struct config *cfg, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(path, "r");
    if (!in)
        return error("cannot read '%s': %s", path, strerror(errno));

    int ret = -1;
    size_t limit = CONFIG_FILE_LIMIT + 1; /* one more shows that it is longer */
    char *text = xmalloc(limit);
    size_t len = fread(text, 1, limit, in);
    if (ferror(in))
        error("cannot read '%s': %s", path, strerror(errno));
    else
        ret = config_parse(cfg, is_stdin ? "stdin" : path, text, len);
    free(text);
    if (!is_stdin)
        fclose(in);
    return ret;
}
