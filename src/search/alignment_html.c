#include "search/alignment_drawing.h"
#include "search/alignment_internal.h"
#include "search/alignment_label.h"

/* The page is XML as well: no raw < or & in style and script. */
static const char head[] =
    "<!DOCTYPE html>\n"
    "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
    "<title>Attention</title>\n"
    "<style>\n"
    ":root { color-scheme: light }\n"
    "body { margin: 0 auto; padding: 0 24px 48px; max-width: 60em; color: "
    "#222;\n"
    "  background: #fff; font: 16px/1.5 Helvetica, Arial, 'Noto Sans', "
    "'DejaVu Sans', sans-serif }\n"
    "header { position: sticky; top: 0; z-index: 1; padding: 12px 0;\n"
    "  background: #fff; border-bottom: 1px solid #ddd }\n"
    "header svg { display: block }\n"
    "section { margin: 32px 0 48px }\n"
    "h2 { margin: 0; font-size: 13px; font-weight: normal; color: #666 }\n"
    "p { margin: 4px 0 }\n"
    ".source { margin-bottom: 20px }\n"
    "span { display: inline-block; position: relative; padding: 0 3px;\n"
    "  border-radius: 3px; unicode-bidi: plaintext;\n"
    "  max-width: 100%; overflow-wrap: anywhere }\n"
    ".map { overflow-x: auto }\n"
    ".target span, .row { cursor: pointer }\n"
    ".target .on { outline: 2px solid #222 }\n"
    ".row.on text { text-decoration: underline }\n"
    ".source .dark { color: #fff }\n"
    ".source [data-percent]::after { content: attr(data-percent); position: "
    "absolute;\n"
    "  left: 50%; top: 100%; transform: translateX(-50%); font-size: 11px;\n"
    "  line-height: 16px; white-space: nowrap; color: #222 }\n"
    "</style>\n"
    "</head>\n"
    "<body>\n";

/* Pointing at a target word, or at its row, shades the source words. */
static const char script[] =
    "<script>\n"
    "'use strict';\n"
    "for (const section of document.querySelectorAll('section')) {\n"
    "  const source = section.querySelectorAll('.source span');\n"
    "  const rows = section.querySelectorAll('.row');\n"
    "  const shade = (word, percent) => {\n"
    "    word.style.background = percent > 0 ?\n"
    "      `color-mix(in oklab, #%06x ${percent}%%, #fff)` : '';\n"
    "    word.classList.toggle('dark', percent > 50);\n"
    "    if (percent > 0)\n"
    "      word.dataset.percent = percent + '%%';\n"
    "    else\n"
    "      delete word.dataset.percent;\n"
    "  };\n"
    "  section.querySelectorAll('.target span').forEach((word, t) => {\n"
    "    const percents = word.dataset.weights.split(' ');\n"
    "    const ways = rows[t] ? [word, rows[t]] : [word];\n"
    "    const show = on => () => {\n"
    "      ways.forEach(way => way.classList.toggle('on', on));\n"
    "      source.forEach((s, i) => shade(s, on ? +percents[i] : 0));\n"
    "    };\n"
    "    for (const way of ways) {\n"
    "      way.addEventListener('mouseenter', show(true));\n"
    "      way.addEventListener('mouseleave', show(false));\n"
    "    }\n"
    "    word.addEventListener('focus', show(true));\n"
    "    word.addEventListener('blur', show(false));\n"
    "  });\n"
    "}\n"
    "</script>\n"
    "</body>\n"
    "</html>\n";

static void flush(struct alignment_writer *w, struct text *t)
{
    fwrite(t->s, 1, t->len, w->out);
    text_release(t);
}

static void begin(struct alignment_writer *w)
{
    struct text t = { 0 };

    text_adds(&t, head);
    text_adds(&t, "<header>\n");
    drawing_open(&t, LEGEND_WIDTH + 2, LEGEND_HEIGHT + 2);
    legend_draw(&t, 1, 1);
    drawing_close(&t);
    text_adds(&t, "</header>\n");
    flush(w, &t);
}

static int percent(float weight)
{
    if (!(weight > 0))
        return 0;
    return weight < 1 ? (int)(weight * 100 + 0.5f) : 100;
}

static void add_sources(struct text *t, const struct alignment *a)
{
    text_adds(t, "<p class=\"source\" dir=\"auto\">\n");
    for (int s = 0; s < a->sources; s++) {
        text_adds(t, "<span>");
        xml_add(t, a->source[s]);
        text_adds(t, "</span>\n");
    }
    text_adds(t, "</p>\n");
}

static void add_targets(struct text *t, const struct alignment *a)
{
    text_adds(t, "<p class=\"target\" dir=\"auto\">\n");
    for (int i = 0; i < a->targets; i++) {
        text_adds(t, "<span tabindex=\"0\" data-weights=\"");
        for (int s = 0; s < a->sources; s++)
            text_addf(t, "%s%d", s > 0 ? " " : "", percent(weight_at(a, i, s)));
        text_adds(t, "\">");
        xml_add(t, a->target[i]);
        text_adds(t, "</span>\n");
    }
    text_adds(t, "</p>\n");
}

static void add_map(struct text *t, const struct alignment *a)
{
    struct heat_map m;

    heat_map_init(&m, a);
    if (m.width > 0) {
        text_adds(t, "<div class=\"map\">\n");
        drawing_open(t, m.width, m.height);
        heat_map_draw(&m, t, 0, 0);
        drawing_close(t);
        text_adds(t, "</div>\n");
    }
    heat_map_release(&m);
}

static void print(struct alignment_writer *w, const struct alignment *a)
{
    struct text t = { 0 };

    text_adds(&t, "<section>\n<h2>");
    alignment_heading(&t, a);
    text_adds(&t, is_empty(a) ? " (empty)</h2>\n" : "</h2>\n");
    add_sources(&t, a);
    add_targets(&t, a);
    add_map(&t, a);
    text_adds(&t, "</section>\n");
    flush(w, &t);
}

static void end(struct alignment_writer *w)
{
    struct text t = { 0 };

    text_addf(&t, script, weight_colour(1));
    flush(w, &t);
}

const struct alignment_format alignment_html = {
    .name = "html",
    .help = "a page of sentences and heat maps",
    .begin = begin,
    .print = print,
    .end = end,
};
