#include "search/alignment_label.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- characters --------------------------------------------------------- */

/* Steps over a character of well-formed UTF-8. */
static uint32_t next_character(const char **cursor)
{
    const unsigned char *s = (const unsigned char *)*cursor;
    int more = (s[0] >= 0xc0) + (s[0] >= 0xe0) + (s[0] >= 0xf0);
    uint32_t c = more == 0 ? s[0] : s[0] & (0x3fU >> more);

    for (int i = 1; i <= more; i++)
        c = c << 6 | (s[i] & 0x3fU);
    *cursor += 1 + more;
    return c;
}

struct range {
    uint32_t first, last;
    int width; /* hundredths of the font's size */
};

/* The width of a character that is in no range below: a wide guess. */
enum { USUAL = 72 };

/* Printable ASCII in DejaVu Sans. */
static const unsigned char ascii[] = {
    32, 41, 46, 84, 64, 96, 78, 28, 40, 40, 50, 84, 32, 37,  32, 34, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 54, 100, 69, 69, 70, 77, 64,
    58, 78, 76, 30, 30, 66, 56, 87, 75, 79, 61, 79, 70, 64,  62, 74, 69, 99, 69,
    62, 69, 40, 34, 40, 84, 50, 50, 62, 64, 55, 64, 62, 36,  64, 64, 28, 28, 58,
    28, 98, 64, 62, 64, 64, 42, 53, 40, 64, 60, 82, 60, 60,  53, 64, 34, 64, 84,
};

/* Marks, joiners and controls have no width, ideographs and their like are
 * squares (Unicode, East Asian Width W and F). */
static const struct range ranges[] = {
    { 0x300, 0x36f, 0 },       { 0x483, 0x489, 0 },
    { 0x591, 0x5bd, 0 },       { 0x610, 0x61a, 0 },
    { 0x64b, 0x65f, 0 },       { 0xe34, 0xe3a, 0 },
    { 0xe47, 0xe4e, 0 },       { 0x1100, 0x115f, 100 },
    { 0x200b, 0x200f, 0 },     { 0x2026, 0x2026, 100 },
    { 0x202a, 0x202e, 0 },     { 0x2060, 0x206f, 0 },
    { 0x20d0, 0x20ff, 0 },     { 0x2e80, 0xa4cf, 100 },
    { 0xac00, 0xd7a3, 100 },   { 0xf900, 0xfaff, 100 },
    { 0xfe00, 0xfe0f, 0 },     { 0xfe20, 0xfe2f, 0 },
    { 0xfe30, 0xfe6f, 100 },   { 0xfeff, 0xfeff, 0 },
    { 0xff01, 0xff60, 100 },   { 0xfffd, 0xfffd, 103 },
    { 0x1f000, 0x1faff, 130 }, { 0x20000, 0x3ffff, 100 },
    { 0xe0000, 0xe01ef, 0 },
};

/* Scripts that go from right to left, and characters that turn the order. */
static const struct range turning[] = {
    { 0x590, 0x8ff, 0 },     { 0x200e, 0x200f, 0 },   { 0x202a, 0x202e, 0 },
    { 0x2066, 0x2069, 0 },   { 0xfb1d, 0xfdff, 0 },   { 0xfe70, 0xfefe, 0 },
    { 0x10800, 0x10fff, 0 }, { 0x1e800, 0x1efff, 0 },
};

static const struct range *find(const struct range *in, size_t n, uint32_t c)
{
    for (size_t i = 0; i < n; i++)
        if (c >= in[i].first && c <= in[i].last)
            return &in[i];
    return NULL;
}

static int character_width(uint32_t c)
{
    const struct range *r;

    if (c >= 0x20 && c < 0x7f)
        return ascii[c - 0x20];
    r = find(ranges, sizeof ranges / sizeof *ranges, c);
    return r != NULL ? r->width : USUAL;
}

static bool turns(uint32_t c)
{
    return find(turning, sizeof turning / sizeof *turning, c) != NULL;
}

/* XML 1.0, production [2] Char; surrogates are not in UTF-8. */
static bool is_xml(uint32_t c)
{
    if (c < 0x20)
        return c == '\t' || c == '\n' || c == '\r';
    return c != 0xfffe && c != 0xffff;
}

/* --- text of XML -------------------------------------------------------- */

static const char *entity(uint32_t c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return NULL;
    }
}

/* White space but the blank would not come back the same from a parser. */
static void add_character(struct text *t, const char *s, size_t len, uint32_t c)
{
    if (!is_xml(c))
        text_adds(t, "\xef\xbf\xbd");
    else if (c < 0x20)
        text_addf(t, "&#%u;", (unsigned)c);
    else if (entity(c) != NULL)
        text_adds(t, entity(c));
    else
        text_add(t, s, len);
}

/* Adds the well-formed s as far as `room` hundredths of the font's size go. */
static void add_part(struct text *t, const char *s, long room)
{
    text_adds(t, "");
    while (*s != '\0') {
        const char *next = s;
        uint32_t c = next_character(&next);
        room -= character_width(c);
        if (room < 0)
            return;
        add_character(t, s, (size_t)(next - s), c);
        s = next;
    }
}

void xml_add(struct text *t, const char *s)
{
    struct text good = { 0 };

    utf8_repair(&good, s, strlen(s));
    add_part(t, good.s, LONG_MAX);
    text_release(&good);
}

/* --- labels ------------------------------------------------------------- */

/* Measures the well-formed s in hundredths of the font's size, and looks
 * whether something in it turns the order. */
static long measure(const char *s, bool *turned)
{
    long width = 0;

    *turned = false;
    while (*s != '\0') {
        uint32_t c = next_character(&s);
        width += character_width(c);
        *turned |= turns(c);
    }
    return width;
}

static int pixels(long hundredths)
{
    return (int)((hundredths * FONT_SIZE + 99) / 100);
}

void label_init(struct label *l, const char *word, int room)
{
    struct text good = { 0 };
    const long most = room * 100L / FONT_SIZE;

    *l = (struct label){ 0 };
    utf8_repair(&good, word, strlen(word));
    long width = measure(good.s, &l->right_to_left);
    if (width <= most) {
        add_part(&l->xml, good.s, width);
        l->width = pixels(width);
    } else {
        add_part(&l->xml, good.s, most - character_width(0x2026));
        text_adds(&l->xml, "…");
        l->width = room;
    }
    text_release(&good);
}

void label_release(struct label *l)
{
    text_release(&l->xml);
}

void xml_add_isolated(struct text *t, const char *s)
{
    struct text good = { 0 };
    bool turned;

    utf8_repair(&good, s, strlen(s));
    measure(good.s, &turned);
    if (turned)
        text_adds(t, "\xe2\x81\xa8"); /* U+2068, first strong isolate */
    xml_add(t, s);
    if (turned)
        text_adds(t, "\xe2\x81\xa9"); /* U+2069, pop directional isolate */
    text_release(&good);
}
