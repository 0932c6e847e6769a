/* Heat maps in SVG, for pictures and for pages.
 *
 *     struct heat_map m;
 *     heat_map_init(&m, &alignment);
 *     drawing_open(&t, m.width, m.height);
 *     heat_map_draw(&m, &t, 0, 0);
 *     drawing_close(&t);
 *     heat_map_release(&m);
 *
 * A map looks like this, the source words being turned by 45 degrees. Its rows
 * are <g class="row">, a target word and its cells.
 *
 *            das Haus brennt
 *       the   █    ·    ·
 *     house   ·    █    ▒
 *
 * Everything is in whole pixels. */
#ifndef ATTN_SEARCH_ALIGNMENT_DRAWING_H
#define ATTN_SEARCH_ALIGNMENT_DRAWING_H

#include <stdbool.h>

#include "base/text.h"

struct alignment;
struct label;

struct heat_map {
    const struct alignment *alignment; /* borrowed */
    struct label *source, *target;     // [sources], [targets]
    int left, top;                     /* where the cells begin */
    int width, height;                 /* the whole */
};

/* Measures. A map without words on a side is 0 by 0, and nothing is drawn. */
void heat_map_init(struct heat_map *m, const struct alignment *a);
void heat_map_draw(const struct heat_map *m, struct text *t, int x, int y);
void heat_map_release(struct heat_map *m);

/* The scale of the weights, from 0 to 1. */
enum { LEGEND_WIDTH = 208, LEGEND_HEIGHT = 16 };
void legend_draw(struct text *t, int x, int y);

/* An <svg> with a white ground, and its end. */
void drawing_open(struct text *t, int width, int height);
void drawing_close(struct text *t);

/* The colour of a weight as 0xRRGGBB: white for 0, what is below, and NaN. */
unsigned weight_colour(float weight);

#endif
