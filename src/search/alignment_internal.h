/* What the formats of alignments share. */
#ifndef ATTN_SEARCH_ALIGNMENT_INTERNAL_H
#define ATTN_SEARCH_ALIGNMENT_INTERNAL_H

#include "search/alignment.h"

extern const struct alignment_format alignment_csv;
extern const struct alignment_format alignment_matrix;
extern const struct alignment_format alignment_pharaoh;
extern const struct alignment_format alignment_terminal;
extern const struct alignment_format alignment_svg;
extern const struct alignment_format alignment_html;

/* "sentence 7", and the hypothesis where it has a number. */
void alignment_heading(struct text *t, const struct alignment *a);

/* A weight with nine digits and a decimal point, whatever the locale. */
enum { WEIGHT_SIZE = 64 };
void weight_print(char text[WEIGHT_SIZE], float weight);

/* One field of a CSV record, quoted when it has to be. */
void csv_text(FILE *out, const char *text);
void csv_weight(FILE *out, float weight);

/* Whether there is nothing to draw. */
static inline bool is_empty(const struct alignment *a)
{
    return a->sources == 0 || a->targets == 0;
}

static inline float weight_at(const struct alignment *a, int target, int source)
{
    return a->weights[(size_t)target * (size_t)a->sources + (size_t)source];
}

#endif
