/* Alignments on paper: which source tokens the decoder looked at when it wrote
 * each target token, printed in one of several formats.
 *
 *     const struct alignment_format *f = alignment_format("csv");
 *     if (f == NULL)
 *         return -1;                                  it has been reported
 *     struct alignment_writer w = { .format = f, .out = out };
 *     alignment_writer_begin(&w);
 *     for each sentence, in order, also the empty ones
 *         alignment_writer_print(&w, &alignment);
 *     alignment_writer_end(&w);
 *
 * Between begin and end any number of sentences make a whole file, also none.
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
 *   svg       One picture with a heat map for each sentence, one below the
 *             other, on white. Pointing at a cell tells its weight; one that
 *             would be white is not drawn. A picture says its size first, so
 *             it is kept in memory until the end.
 *   html      One page, which needs no other file, with the words of each
 *             sentence and its heat map. Pointing at a target word shades the
 *             source words by their weights. It is well-formed XML, too.
 *
 * In svg and html U+FFFD stands for ill-formed bytes and for characters that
 * XML cannot hold; words too long for a label are cut there, but not in what
 * pointing at a cell tells.
 *
 * csv and matrix are CSV of RFC 4180 but for line ends, which are LF: fields
 * with commas, quotes or line ends are quoted. Weights have nine significant
 * digits, enough to get the same float back, and a decimal point whatever the
 * locale.
 *
 * A further format is a further alignment_NAME.c and a line in alignment.c.
 * Errors of the stream are the caller's to ask for. Any number of threads may
 * have writers of their own. */
#ifndef ATTN_SEARCH_ALIGNMENT_H
#define ATTN_SEARCH_ALIGNMENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

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

/* Where alignments are being written. */
struct alignment_writer {
    const struct alignment_format *format;
    FILE *out;     /* borrowed */
    bool numbered; /* the alignments have the numbers of hypotheses */

    /* private */
    struct text kept; /* svg: what is drawn so far, and its extent */
    int width, height;
};

void alignment_writer_begin(struct alignment_writer *w);
void alignment_writer_print(struct alignment_writer *w,
                            const struct alignment *a);
void alignment_writer_end(struct alignment_writer *w); /* releases w */

struct alignment_format {
    const char *name, *help;
    void (*begin)(struct alignment_writer *w); /* NULL: nothing is ahead */
    void (*print)(struct alignment_writer *w, const struct alignment *a);
    void (*end)(struct alignment_writer *w); /* NULL: nothing is behind */
};

/* The format of that name; NULL after reporting that there is none. */
const struct alignment_format *alignment_format(const char *name);

/* All formats, for help texts; NULL behind the last. */
extern const struct alignment_format *const alignment_formats[];

#endif
