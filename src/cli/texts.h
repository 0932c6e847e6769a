/* Files that are read line by line, side by side: line i of each belongs
 * together, so all need to have as many lines.
 *
 *     struct texts t = { 0 };
 *     int got = texts_open(&t, paths, n);
 *     while (got >= 0 && (got = texts_next(&t)) > 0)
 *         ... t.line[0] … t.line[n - 1] ...
 *     texts_release(&t);
 */
#ifndef ATTN_CLI_TEXTS_H
#define ATTN_CLI_TEXTS_H

#include "metrics/bleu.h"

struct lines;

struct texts {
    int count;
    struct lines *in;       // [count]
    struct bleu_text *line; // [count], valid until the next texts_next()
};

/* 0, or -1 after reporting, also when more than one of them is stdin. The
 * struct can be released either way. */
int texts_open(struct texts *t, const char *const *paths, int n);

/* The next line of each: 1, 0 at the end of all, -1 after reporting that one
 * ends before the others, or cannot be read. */
int texts_next(struct texts *t);

/* Lines of each so far. */
size_t texts_lines(const struct texts *t);

void texts_release(struct texts *t);

#endif
