/* What the formats of alignments share. */
#ifndef ATTN_SEARCH_ALIGNMENT_INTERNAL_H
#define ATTN_SEARCH_ALIGNMENT_INTERNAL_H

#include "search/alignment.h"

extern const struct alignment_format alignment_csv;
extern const struct alignment_format alignment_matrix;
extern const struct alignment_format alignment_pharaoh;
extern const struct alignment_format alignment_terminal;

/* One field of a CSV record, quoted when it has to be. */
void csv_text(FILE *out, const char *text);
void csv_weight(FILE *out, float weight);

static inline float weight_at(const struct alignment *a, int target, int source)
{
    return a->weights[(size_t)target * (size_t)a->sources + (size_t)source];
}

#endif
