/* Words in drawings: text of XML, and how wide it is.
 *
 * Fonts differ, so widths are those of a wide one (DejaVu Sans): with others
 * there is room to spare. They do not depend on the locale. */
#ifndef ATTN_SEARCH_ALIGNMENT_LABEL_H
#define ATTN_SEARCH_ALIGNMENT_LABEL_H

#include <stdbool.h>

#include "base/text.h"

enum { FONT_SIZE = 13 }; /* pixels */

struct label {
    struct text xml;
    int width;          /* pixels */
    bool right_to_left; /* it has characters that turn the order */
};

/* The word, cut to `room` pixels with an ellipsis. */
void label_init(struct label *l, const char *word, int room);
void label_release(struct label *l);

/* Adds s, whole, as text of XML, good between tags and quotes. U+FFFD stands
 * for ill-formed UTF-8 and for what XML 1.0 forbids. */
void xml_add(struct text *t, const char *s);

/* The same where other words stand on the line: a word that goes from right to
 * left, or turns the order, does not touch theirs. */
void xml_add_isolated(struct text *t, const char *s);

#endif
