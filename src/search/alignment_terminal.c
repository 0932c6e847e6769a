#include "search/alignment_internal.h"

#include <limits.h>
#include <locale.h>
#include <string.h>
#include <wchar.h>

#include "base/text.h"

/* A map looks like this, a cell being two columns wide. The source tokens come
 * down a staircase, so that they stay readable however long they are:
 *
 *     sentence 7   0 · ░░▒▒▓▓██ 1
 *           ┌ das
 *           │ ┌ Haus
 *           │ │ ┌ brennt
 *       the ██· ·
 *     house · ██░░
 *     burns · ░░▓▓
 */
enum {
    SCREEN = 80,
    CELL = 2,
    LABEL = 20, /* longest target token that is printed whole */
    MARGIN = 1, /* left of everything */
    STAIR = 12, /* room kept for the last source token */
};

/* --- tokens as they look --- */

/* The next character of s, and how many columns it takes. What would move the
 * cursor, or is not UTF-8, becomes U+FFFD. */
struct glyph {
    const char *s;
    size_t len;
    int width;
};

static size_t glyph_next(const char *s, struct glyph *g)
{
    mbstate_t state = { 0 };
    wchar_t c;
    size_t len = mbrtowc(&c, s, strlen(s), &state);
    int width = len <= MB_LEN_MAX ? wcwidth(c) : -1;

    *g = (struct glyph){ s, len, width };
    if (width < 0)
        *g = (struct glyph){ "\xef\xbf\xbd", 3, 1 };
    return len <= MB_LEN_MAX && len > 0 ? len : 1;
}

static int token_width(const char *token)
{
    struct glyph g;
    int width = 0;

    while (*token != '\0') {
        token += glyph_next(token, &g);
        width += g.width;
    }
    return width;
}

/* Adds the token, cut to that many columns; the columns it takes. */
static int add_token(struct text *t, const char *token, int room)
{
    bool cut = token_width(token) > room;
    int limit = cut ? room - 1 : room, width = 0;
    struct glyph g;

    while (*token != '\0') {
        token += glyph_next(token, &g);
        if (width + g.width > limit)
            break;
        text_add(t, g.s, g.len);
        width += g.width;
    }
    if (cut)
        text_adds(t, "…");
    return width + cut;
}

/* --- colours and shades --- */

static const char *const shades[] = { "· ", "░░", "▒▒", "▓▓", "██" };

/* From the 256 colours: night, violet, red, orange, a pale yellow. */
static const int colours[] = { 236, 53, 89, 125, 161, 203, 209, 215, 222, 229 };

enum {
    SHADES = sizeof shades / sizeof *shades,
    COLOURS = sizeof colours / sizeof *colours,
};

/* A quarter a shade; what is hardly there is a dot, to lead the eye. */
static const char *shade(float weight)
{
    if (!(weight >= 0.1f))
        return shades[0];
    return shades[weight < 1 ? 1 + (int)(weight * 4) : SHADES - 1];
}

/* The nearest of the colours; of NaN and what is below 0 the first. */
static int colour_of(float weight)
{
    const int last = COLOURS - 1;

    if (!(weight > 0))
        return colours[0];
    return colours[weight < 1 ? (int)(weight * (float)last + 0.5f) : last];
}

static void add_cell(struct text *t, float weight, bool colour)
{
    if (colour)
        text_addf(t, "\033[48;5;%dm  ", colour_of(weight));
    else
        text_adds(t, shade(weight));
}

static void add_style(struct text *t, const char *style, bool colour)
{
    if (colour)
        text_addf(t, "\033[%sm", style);
}

static void add_blanks(struct text *t, int n)
{
    text_addf(t, "%*s", n, "");
}

/* --- a map --- */

static void add_scale(struct text *t, bool colour)
{
    text_adds(t, "   0 ");
    for (int i = 0; colour && i < COLOURS; i++)
        add_cell(t, (float)i / (float)(COLOURS - 1), true);
    for (int i = 0; !colour && i < SHADES; i++)
        text_adds(t, shades[i]);
    add_style(t, "0", colour);
    text_adds(t, " 1");
}

static void add_title(struct text *t, const struct alignment *a)
{
    add_style(t, "1", a->colour);
    alignment_heading(t, a);
    add_style(t, "0", a->colour);
    if (is_empty(a))
        text_adds(t, "   (empty)");
    else
        add_scale(t, a->colour);
    text_adds(t, "\n");
}

/* Source tokens [first, first + n) above their columns, which begin at left. */
static void add_stairs(struct text *t, const struct alignment *a, int first,
                       int n, int left)
{
    for (int i = 0; i < n; i++) {
        add_blanks(t, left);
        add_style(t, "2", a->colour);
        for (int k = 0; k < i; k++)
            text_adds(t, "│ ");
        text_adds(t, "┌ ");
        add_style(t, "0", a->colour);
        add_token(t, a->source[first + i], SCREEN - left - CELL * (i + 1));
        text_adds(t, "\n");
    }
}

static void add_row(struct text *t, const struct alignment *a, int target,
                    int first, int n, int left)
{
    struct text label = { 0 };
    int width = add_token(&label, a->target[target], LABEL);

    add_blanks(t, left - 1 - width);
    text_add(t, label.s, label.len);
    text_adds(t, " ");
    for (int i = 0; i < n; i++)
        add_cell(t, weight_at(a, target, first + i), a->colour);
    add_style(t, "0", a->colour);
    text_adds(t, "\n");
    text_release(&label);
}

/* Where the columns begin: behind the longest target token. */
static int left_edge(const struct alignment *a)
{
    int longest = 0;

    for (int i = 0; i < a->targets; i++) {
        int width = token_width(a->target[i]);
        longest = width > longest ? width : longest;
    }
    return MARGIN + (longest < LABEL ? longest : LABEL) + 1;
}

static void add_maps(struct text *t, const struct alignment *a)
{
    int left = left_edge(a);
    int most = (SCREEN - left - STAIR) / CELL;

    for (int first = 0; first < a->sources; first += most) {
        int n = a->sources - first < most ? a->sources - first : most;
        add_stairs(t, a, first, n, left);
        for (int i = 0; i < a->targets; i++)
            add_row(t, a, i, first, n, left);
    }
}

/* The width of characters is asked of a UTF-8 locale of our own; where there
 * is none, each byte that is not ASCII becomes one U+FFFD. */
static void print(struct alignment_writer *w, const struct alignment *a)
{
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t old = utf8 != (locale_t)0 ? uselocale(utf8) : (locale_t)0;
    struct text t = { 0 };

    add_title(&t, a);
    add_maps(&t, a);
    text_adds(&t, "\n");
    fwrite(t.s, 1, t.len, w->out);
    text_release(&t);
    if (utf8 != (locale_t)0) {
        uselocale(old);
        freelocale(utf8);
    }
}

const struct alignment_format alignment_terminal = {
    .name = "terminal",
    .help = "a heat map for people",
    .print = print,
};
