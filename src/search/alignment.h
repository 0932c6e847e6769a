/* Alignments on paper: which source tokens the decoder looked at when it wrote
 * each target token, printed in one of several formats.
 *
 *     const struct alignment_format *f = alignment_format("csv");
 *     if (f == NULL)
 *         return -1;                                  it has been reported
 *     if (f->header != NULL)
 *         f->header(out, numbered);
 *     for each sentence, in order, also the empty ones
 *         f->print(out, &alignment);
 *
 * Formats:
 *
 *   csv       A row for each pair of a target and a source token, behind a
 *             header row: sentence,target_pos,target,source_pos,source,weight.
 *             Positions count from 0. With n-best there is a column
 *             'hypothesis' behind 'sentence'. An empty line has no rows, but
 *             its number.
 *   matrix    A block for each sentence: an empty cell and the source tokens
 *             across; then a row for each target token: the token, and the
 *             weights. A blank line stands between blocks. The block of an
 *             empty line is one empty quoted cell: "".
 *   pharaoh   A line for each sentence with a link i-j from each target word j
 *             to the source word i that has the greatest weight (of equal ones
 *             the first). There is none for </s>, for a word whose greatest
 *             weight is that of the source's </s>, and for a word without
 *             weights above 0.
 *   terminal  A heat map for people, in UTF-8: shades, or colours when
 *             alignment.colour is set. Too many source tokens for the 80
 *             columns are cut into several maps, one below the other.
 *
 * csv and matrix are CSV of RFC 4180 but for line ends, which are LF: fields
 * with commas, quotes or line ends are quoted. Weights have nine significant
 * digits, enough to get the same float back, and a decimal point whatever the
 * locale.
 *
 * A further format is a further alignment_NAME.c and a line in alignment.c.
 * Errors of the stream are the caller's to ask for. Nothing is kept between
 * calls; any number of threads may print to streams of their own. */
#ifndef ATTN_SEARCH_ALIGNMENT_H
#define ATTN_SEARCH_ALIGNMENT_H

#include <stdbool.h>
#include <stdio.h>

/* All pointers are borrowed. Tokens are UTF-8; </s> is the last of them where
 * it is to be printed. A sentence without tokens on a side has 0 of them. */
struct alignment {
    long sentence;  /* from 0 */
    int hypothesis; /* from 0, of an n-best list; -1: not numbered */
    int sources, targets;
    bool source_eos, target_eos; /* the last one is </s>, no word */
    const char *const *source, *const *target;
    const float *weights; // [targets, sources]
    bool colour;          /* terminal: 256 colours */
};

struct alignment_format {
    const char *name, *help;
    void (*header)(FILE *out, bool numbered); /* NULL: none */
    void (*print)(FILE *out, const struct alignment *a);
};

/* The format of that name; NULL after reporting that there is none. */
const struct alignment_format *alignment_format(const char *name);

/* All formats, for help texts; NULL behind the last. */
extern const struct alignment_format *const alignment_formats[];

#endif
