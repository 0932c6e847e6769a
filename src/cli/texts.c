#include "cli/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/report.h"

void texts_release(struct texts *t)
{
    for (int i = 0; i < t->count; i++)
        lines_release(&t->in[i]);
    free(t->in);
    free(t->line);
    *t = (struct texts){ 0 };
}

int texts_open(struct texts *t, const char *const *paths, int n)
{
    int stdins = 0;

    t->count = n;
    ARRAY_ZERO(t->in, (size_t)n);
    ARRAY_ZERO(t->line, (size_t)n);
    for (int i = 0; i < n; i++) {
        stdins += strcmp(paths[i], "-") == 0;
        if (stdins > 1)
            return error("stdin (-) can be only one of the files");
        if (lines_open(&t->in[i], paths[i]) < 0)
            return -1;
    }
    return 0;
}

/* Reads on to the end; the number of lines, or -1. */
static long count_lines(struct lines *in)
{
    char *line;
    size_t len;
    int got = 1;

    while (got > 0)
        got = lines_next(in, &line, &len);
    return got < 0 ? -1 : (long)in->number;
}

static int different_lengths(struct texts *t, int i)
{
    long first = count_lines(&t->in[0]), other = count_lines(&t->in[i]);

    if (first < 0 || other < 0)
        return -1;
    return error("%s has %ld lines but %s has %ld: each line needs its "
                 "counterpart",
                 t->in[0].name, first, t->in[i].name, other);
}

int texts_next(struct texts *t)
{
    int first = 0;

    for (int i = 0; i < t->count; i++) {
        char *line;
        size_t len;
        int got = lines_next(&t->in[i], &line, &len);
        if (got < 0)
            return -1;
        if (i == 0)
            first = got;
        if (got != first)
            return different_lengths(t, i);
        if (got > 0)
            t->line[i] = (struct bleu_text){ line, len };
    }
    return first;
}

size_t texts_lines(const struct texts *t)
{
    return t->count > 0 ? t->in[0].number : 0;
}
