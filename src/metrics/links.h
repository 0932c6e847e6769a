/* Word alignments as people write them (Pharaoh's format): a line for each
 * pair of sentences, with links i-j between word i of the source and word j of
 * the target. In gold alignments i?j (or ipj) is a link that is only possible.
 *
 *     struct links_reader r = { .in = &lines, .option = "--base" };
 *     struct links l = { 0 };
 *     for each line
 *         if (links_parse(&l, &r, line, len) < 0 ||
 *             links_check(&l, &r, source_words, target_words) < 0)
 *             ...                                      it has been reported
 *     links_hint(&r);
 *     links_release(&l);
 *
 * Words are numbered from 0 here, in files from 0 or 1. The links of a
 * sentence are a set, sorted by target and then source word. */
#ifndef ATTN_METRICS_LINKS_H
#define ATTN_METRICS_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define LINKS_WORDS (1 << 25) /* numbers of words are below this */

struct lines;

struct link {
    int source, target;
    bool possible; /* and not sure */
};

/* A zeroed struct is the empty set. */
struct links {
    struct link *link; // [count]
    size_t count, cap;
};

/* How a file of links is to be read, and what has been seen in it. */
struct links_reader {
    struct lines *in;   /* whose lines these are; borrowed */
    int base;           /* number of the first word in the file, 0 or 1 */
    const char *option; /* the option for it, to be named in messages */
    bool reversed;      /* links are written target-source */

    /* private */
    bool any, zero; /* links, and a number 0 in them */
};

/* The links of the line returned last by r->in. Of a link that is there twice
 * one is kept, a sure one if there is one. 0, or -1 after reporting file, line
 * and what is no link. */
int links_parse(struct links *l, struct links_reader *r, const char *line,
                size_t len);

/* Whether these links, parsed last, fit sentences of so many words (-1: not
 * known). 0, or -1 after reporting; then r->in has been read further, to find
 * out whether the words of the file are numbered from 1. */
int links_check(const struct links *l, struct links_reader *r, int sources,
                int targets);

/* Called at the end of the file: warns when its words are probably numbered
 * from 1, and base is 0. */
void links_hint(const struct links_reader *r);

/* Appends a link; links_sort() then makes a set of them. */
void links_add(struct links *l, struct link link);
void links_sort(struct links *l);
int links_compare(const struct link *a, const struct link *b); /* places */

/* A line with the links, numbered from 0; the stream's errors are the
 * caller's. */
void links_print(const struct links *l, FILE *out);

void links_reset(struct links *l); /* empty; keeps the memory */
void links_release(struct links *l);

#endif
