#include "metrics/links.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/report.h"
#include "base/text.h"

/* --- the set --- */

void links_add(struct links *l, struct link link)
{
    assert(link.source >= 0 && link.target >= 0);
    assert(link.source < LINKS_WORDS && link.target < LINKS_WORDS);
    ARRAY_GROW(l->link, l->count + 1, l->cap);
    l->link[l->count++] = link;
}

int links_compare(const struct link *a, const struct link *b)
{
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    return (a->source > b->source) - (a->source < b->source);
}

/* The sure one first. */
static int by_place(const void *x, const void *y)
{
    const struct link *a = x, *b = y;
    int order = links_compare(a, b);
    return order != 0 ? order : a->possible - b->possible;
}

void links_sort(struct links *l)
{
    size_t kept = 0;

    if (l->count > 0)
        qsort(l->link, l->count, sizeof *l->link, by_place);
    for (size_t i = 0; i < l->count; i++)
        if (kept == 0 || links_compare(&l->link[kept - 1], &l->link[i]) != 0)
            l->link[kept++] = l->link[i];
    l->count = kept;
}

void links_print(const struct links *l, FILE *out)
{
    for (size_t i = 0; i < l->count; i++)
        fprintf(out, "%s%d%c%d", i > 0 ? " " : "", l->link[i].source,
                l->link[i].possible ? '?' : '-', l->link[i].target);
    fputc('\n', out);
}

void links_reset(struct links *l)
{
    l->count = 0;
}

void links_release(struct links *l)
{
    free(l->link);
    *l = (struct links){ 0 };
}

/* --- reading --- */

/* Moves *s behind a number below LINKS_WORDS; -1 if there is none. */
static int scan_number(const char **s, const char *end)
{
    int n = -1;

    for (; *s < end && **s >= '0' && **s <= '9'; ++*s) {
        n = (n < 0 ? 0 : n) * 10 + (**s - '0');
        if (n >= LINKS_WORDS)
            return -1;
    }
    return n;
}

/* A link with the numbers of the file. */
static bool scan(const char *s, size_t len, struct link *link)
{
    const char *end = s + len;

    link->source = scan_number(&s, end);
    if (link->source < 0 || s == end)
        return false;
    char mark = *s++;
    link->possible = mark == '?' || mark == 'p';
    link->target = scan_number(&s, end);
    return link->target >= 0 && s == end && (mark == '-' || link->possible);
}

/* Turns the numbers of the file into ours. 0, or -1 after reporting. */
static int take(struct links *l, struct links_reader *r, struct link link)
{
    bool zero = link.source == 0 || link.target == 0;

    r->any = true;
    r->zero = r->zero || zero;
    if (zero && r->base == 1)
        return error("%s:%zu: link %d-%d: words should be numbered from 1 here "
                     "(%s 1)",
                     r->in->name, r->in->number, link.source, link.target,
                     r->option);
    link.source -= r->base;
    link.target -= r->base;
    if (r->reversed)
        link = (struct link){ link.target, link.source, link.possible };
    links_add(l, link);
    return 0;
}

int links_parse(struct links *l, struct links_reader *r, const char *line,
                size_t len)
{
    const char *cursor = line, *end = line + len, *token;
    size_t token_len;
    struct link link;

    links_reset(l);
    for (;;) {
        token = next_token(&cursor, end, &token_len);
        if (token == NULL)
            break;
        if (!scan(token, token_len, &link))
            return error("%s:%zu: '%.*s' is not a link: i-j, or i?j for one "
                         "that is only possible",
                         r->in->name, r->in->number,
                         token_len < 40 ? (int)token_len : 40, token);
        if (take(l, r, link) < 0)
            return -1;
    }
    links_sort(l);
    return 0;
}

/* --- checks --- */

/* Reads on to the end: whether a number of the file is 0. */
static bool find_zero(struct links_reader *r)
{
    const char *cursor, *token;
    char *line;
    size_t len, token_len;
    struct link link;

    while (!r->zero && lines_next(r->in, &line, &len) > 0) {
        cursor = line;
        for (;;) {
            token = next_token(&cursor, line + len, &token_len);
            if (token == NULL)
                break;
            if (scan(token, token_len, &link))
                r->zero = r->zero || link.source == 0 || link.target == 0;
        }
    }
    return r->zero;
}

/* Word n of a side with so many words is not there. A file that is numbered
 * from 1 gives itself away by the word right behind the last, and by having
 * no 0 at all. */
static int out_of_range(struct links_reader *r, const struct link *link,
                        const char *side, int n, int words)
{
    size_t line = r->in->number;
    int first = r->reversed ? link->target : link->source;
    int second = r->reversed ? link->source : link->target;
    bool from_1 = r->base == 0 && n == words && !find_zero(r);

    error("%s:%zu: link %d%c%d: the %s sentence has %d word%s, numbered from "
          "%d%s%s%s",
          r->in->name, line, first + r->base, link->possible ? '?' : '-',
          second + r->base, side, words, words == 1 ? "" : "s", r->base,
          from_1 ? "; no link of the file has a 0, so it seems to be numbered "
                   "from 1: give "
                 : "",
          from_1 ? r->option : "", from_1 ? " 1" : "");
    return -1;
}

int links_check(const struct links *l, struct links_reader *r, int sources,
                int targets)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct link *link = &l->link[i];
        if (sources >= 0 && link->source >= sources)
            return out_of_range(r, link, "source", link->source, sources);
        if (targets >= 0 && link->target >= targets)
            return out_of_range(r, link, "target", link->target, targets);
    }
    return 0;
}

void links_hint(const struct links_reader *r)
{
    if (r->base == 0 && r->any && !r->zero)
        warn("%s: no link has a 0; if the words are numbered from 1 there, "
             "give %s 1",
             r->in->name, r->option);
}
