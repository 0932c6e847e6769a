#include "search/alignment_drawing.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "search/alignment_internal.h"
#include "search/alignment_label.h"

enum {
    CELL = 24,
    GAP = 6,       /* between a word and its cells */
    LONGEST = 200, /* pixels of a word that is drawn whole */
    BASELINE = 5,  /* of a word, below its middle */
    STEPS = 11,    /* of the legend */
    STEP = 12,     /* its width */
    WHITE = 0xffffff,
};

/* --- colours ------------------------------------------------------------ */

/* sRGB of linear light, IEC 61966-2-1, as a byte. */
static unsigned srgb(double light)
{
    double v = light <= 0.0031308 ? 12.92 * light
                                  : 1.055 * pow(light, 1 / 2.4) - 0.055;
    return (unsigned)(255 * fmin(fmax(v, 0), 1) + 0.5);
}

/* OKLab (Ottosson 2020): LMS = (M₂ Lab)³, linear sRGB = M₁ LMS. */
static unsigned oklab(double L, double a, double b)
{
    double l = pow(L + 0.3963377774 * a + 0.2158037573 * b, 3);
    double m = pow(L - 0.1055613458 * a - 0.0638541728 * b, 3);
    double s = pow(L - 0.0894841775 * a - 1.2914855480 * b, 3);
    unsigned red = srgb(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    unsigned green = srgb(-1.2684380046 * l + 2.6097574011 * m -
                          0.3413193965 * s);
    unsigned blue = srgb(-0.0041960863 * l - 0.7034186147 * m +
                         1.7076147010 * s);
    return red << 16 | green << 8 | blue;
}

/* A straight line from white to a dark blue in OKLab, whose distances are those
 * that are seen: equal steps of weight look equal, and the hue stays. */
unsigned weight_colour(float weight)
{
    const double L = 0.35, a = -0.023, b = -0.163;
    double w = weight > 0 ? fmin((double)weight, 1) : 0;

    return oklab(1 + w * (L - 1), w * a, w * b);
}

/* --- pieces ------------------------------------------------------------- */

/* A word, at the place that the attributes tell. */
static void add_label(struct text *t, const struct label *l, const char *place)
{
    text_addf(t, "<text %s%s>%s</text>", place,
              l->right_to_left ? " unicode-bidi=\"plaintext\"" : "", l->xml.s);
}

static void add_cell(struct text *t, const struct alignment *a, int target,
                     int source)
{
    float weight = weight_at(a, target, source);
    unsigned colour = weight_colour(weight);
    char number[WEIGHT_SIZE];

    if (colour == WHITE)
        return;
    weight_print(number, weight);
    text_addf(t, "<path d=\"M%d 0h%dv%dh-%d\" fill=\"#%06x\"><title>",
              source * CELL, CELL, CELL, CELL, colour);
    xml_add_isolated(t, a->target[target]);
    text_adds(t, " ← ");
    xml_add_isolated(t, a->source[source]);
    text_addf(t, ": %s</title></path>\n", number);
}

static void add_row(const struct heat_map *m, struct text *t, int target)
{
    char place[64];

    text_addf(t, "<g class=\"row\" transform=\"translate(0 %d)\">",
              target * CELL);
    snprintf(place, sizeof place, "x=\"-%d\" y=\"%d\"", GAP,
             CELL / 2 + BASELINE);
    add_label(t, &m->target[target], place);
    text_adds(t, "\n");
    for (int s = 0; s < m->alignment->sources; s++)
        add_cell(t, m->alignment, target, s);
    text_adds(t, "</g>\n");
}

/* The turned words, each from the middle of its column's head. */
static void add_sources(const struct heat_map *m, struct text *t)
{
    char place[64];

    text_adds(t, "<g>\n");
    for (int s = 0; s < m->alignment->sources; s++) {
        snprintf(place, sizeof place,
                 "transform=\"translate(%d -%d)rotate(-45)\"",
                 s * CELL + CELL / 2 + BASELINE - 1, GAP);
        add_label(t, &m->source[s], place);
        text_adds(t, "\n");
    }
    text_adds(t, "</g>\n");
}

static void add_rows(const struct heat_map *m, struct text *t)
{
    text_adds(t, "<g text-anchor=\"end\">\n");
    for (int i = 0; i < m->alignment->targets; i++)
        add_row(m, t, i);
    text_adds(t, "</g>\n");
}

static void add_grid(const struct heat_map *m, struct text *t)
{
    int columns = m->alignment->sources, rows = m->alignment->targets;

    text_adds(t, "<path fill=\"none\" stroke=\"#ddd\" pointer-events=\"none\" "
                 "d=\"");
    for (int i = 0; i <= rows; i++)
        text_addf(t, "M0 %dh%d", i * CELL, columns * CELL);
    for (int i = 0; i <= columns; i++)
        text_addf(t, "M%d 0v%d", i * CELL, rows * CELL);
    text_adds(t, "\"/>\n");
}

/* --- the map ------------------------------------------------------------ */

static struct label *labels(const char *const *words, int n)
{
    struct label *l = ARRAY_ALLOC(l, (size_t)n);

    for (int i = 0; i < n; i++)
        label_init(&l[i], words[i], LONGEST);
    return l;
}

/* Across and down, n pixels in a direction of 45 degrees. */
static int turned(int n)
{
    return (int)ceil(n * sqrt(0.5));
}

/* What sticks out: target words to the left; source words to the top, and the
 * last ones to the right. A letter is FONT_SIZE high at the most. */
static void measure(struct heat_map *m)
{
    const struct alignment *a = m->alignment;
    int longest = 0, high = 0, right = a->sources * CELL + 1;

    for (int i = 0; i < a->targets; i++)
        longest = m->target[i].width > longest ? m->target[i].width : longest;
    for (int s = 0; s < a->sources; s++) {
        int reach = turned(m->source[s].width + BASELINE);
        int end = s * CELL + CELL / 2 + BASELINE + reach;
        high = reach > high ? reach : high;
        right = end > right ? end : right;
    }
    m->left = longest + GAP;
    m->top = high + turned(FONT_SIZE) + GAP;
    m->width = m->left + right;
    m->height = m->top + a->targets * CELL + 1;
}

void heat_map_init(struct heat_map *m, const struct alignment *a)
{
    *m = (struct heat_map){ .alignment = a };
    if (is_empty(a))
        return;
    m->source = labels(a->source, a->sources);
    m->target = labels(a->target, a->targets);
    measure(m);
}

void heat_map_draw(const struct heat_map *m, struct text *t, int x, int y)
{
    if (is_empty(m->alignment))
        return;
    text_addf(t,
              "<g transform=\"translate(%d %d)\" "
              "shape-rendering=\"crispEdges\">\n",
              x + m->left, y + m->top);
    add_sources(m, t);
    add_rows(m, t);
    add_grid(m, t);
    text_adds(t, "</g>\n");
}

void heat_map_release(struct heat_map *m)
{
    for (int i = 0; m->source != NULL && i < m->alignment->sources; i++)
        label_release(&m->source[i]);
    for (int i = 0; m->target != NULL && i < m->alignment->targets; i++)
        label_release(&m->target[i]);
    free(m->source);
    free(m->target);
    *m = (struct heat_map){ 0 };
}

/* --- what stands around it ---------------------------------------------- */

void legend_draw(struct text *t, int x, int y)
{
    const int from = 60, to = from + STEPS * STEP, base = 12;

    text_addf(t, "<g transform=\"translate(%d %d)\">\n", x, y);
    text_addf(t,
              "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">weight 0</text>\n",
              from - GAP, base);
    for (int i = 0; i < STEPS; i++)
        text_addf(t, "<path d=\"M%d 0h%dv16h-%dz\" fill=\"#%06x\"/>\n",
                  from + i * STEP, STEP, STEP,
                  weight_colour((float)i / (STEPS - 1)));
    text_addf(t,
              "<path d=\"M%d 0h%dv%dh-%dz\" fill=\"none\" stroke=\"#ddd\"/>\n",
              from, STEPS * STEP, LEGEND_HEIGHT, STEPS * STEP);
    text_addf(t, "<text x=\"%d\" y=\"%d\">1</text>\n</g>\n", to + GAP, base);
}

void drawing_open(struct text *t, int width, int height)
{
    text_addf(t,
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
              "height=\"%d\" viewBox=\"0 0 %d %d\" font-size=\"%d\" "
              "font-family=\"Helvetica, Arial, 'Noto Sans', 'DejaVu Sans', "
              "sans-serif\" fill=\"#222\">\n"
              "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
              width, height, width, height, FONT_SIZE);
}

void drawing_close(struct text *t)
{
    text_adds(t, "</svg>\n");
}
