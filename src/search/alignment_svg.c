#include "search/alignment_drawing.h"
#include "search/alignment_internal.h"
#include "search/alignment_label.h"

enum {
    MARGIN = 16,
    LINE = 24,  /* height of a heading */
    SPACE = 32, /* between maps, and between a heading and its legend */
};

static void widen(struct alignment_writer *w, int width)
{
    w->width = width > w->width ? width : w->width;
}

/* The name of the sentence, and the legend behind it. */
static void add_heading(struct alignment_writer *w, const struct alignment *a)
{
    struct text heading = { 0 };
    struct label l;
    const int room = 10000;

    alignment_heading(&heading, a);
    if (is_empty(a))
        text_adds(&heading, " (empty)");
    label_init(&l, heading.s, room);
    text_addf(&w->kept, "<text x=\"%d\" y=\"%d\" fill=\"#666\">%s</text>\n",
              MARGIN, w->height + 12, l.xml.s);
    widen(w, l.width);
    if (!is_empty(a)) {
        legend_draw(&w->kept, MARGIN + l.width + SPACE, w->height);
        widen(w, l.width + SPACE + LEGEND_WIDTH);
    }
    w->height += LINE;
    label_release(&l);
    text_release(&heading);
}

static void begin(struct alignment_writer *w)
{
    w->height = MARGIN;
}

static void print(struct alignment_writer *w, const struct alignment *a)
{
    struct heat_map m;

    heat_map_init(&m, a);
    if (w->height > MARGIN)
        w->height += SPACE;
    add_heading(w, a);
    heat_map_draw(&m, &w->kept, MARGIN, w->height);
    w->height += m.height;
    widen(w, m.width);
    heat_map_release(&m);
}

static void end(struct alignment_writer *w)
{
    struct text head = { 0 };

    drawing_open(&head, w->width + 2 * MARGIN, w->height + MARGIN);
    drawing_close(&w->kept);
    fwrite(head.s, 1, head.len, w->out);
    fwrite(w->kept.s, 1, w->kept.len, w->out);
    text_release(&head);
}

const struct alignment_format alignment_svg = {
    .name = "svg",
    .help = "a picture of heat maps",
    .begin = begin,
    .print = print,
    .end = end,
};
