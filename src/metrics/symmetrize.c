#include "metrics/symmetrize.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/report.h"
#include "base/text.h"
#include "metrics/links.h"

/* A link of the union. */
struct point {
    struct link link;
    bool in[2]; /* forward, backward */
    bool chosen;
};

struct grid {
    struct point *point; /* sorted as links are */
    size_t count;
    bool *source, *target; /* whether the word has a link */
};

/* --- the union --- */

/* Which of two lists has the first of their next links: below 0 the first, 0
 * both. One of them has one. */
static int next_in(const struct links *a, size_t i, const struct links *b,
                   size_t j)
{
    if (i == a->count)
        return 1;
    if (j == b->count)
        return -1;
    return links_compare(&a->link[i], &b->link[j]);
}

static void merge(struct grid *g, const struct links *forward,
                  const struct links *backward)
{
    size_t f = 0, b = 0;

    ARRAY_ZERO(g->point, forward->count + backward->count);
    while (f < forward->count || b < backward->count) {
        int order = next_in(forward, f, backward, b);
        struct point *p = &g->point[g->count++];
        p->link = order <= 0 ? forward->link[f] : backward->link[b];
        p->link.possible = false;
        p->in[0] = order <= 0;
        p->in[1] = order >= 0;
        f += p->in[0];
        b += p->in[1];
    }
}

static void make_words(struct grid *g)
{
    int sources = 0, targets = 0;

    for (size_t i = 0; i < g->count; i++) {
        const struct link *l = &g->point[i].link;
        sources = l->source >= sources ? l->source + 1 : sources;
        targets = l->target >= targets ? l->target + 1 : targets;
    }
    ARRAY_ZERO(g->source, (size_t)sources);
    ARRAY_ZERO(g->target, (size_t)targets);
}

static int to_point(const void *link, const void *point)
{
    return links_compare(link, &((const struct point *)point)->link);
}

/* NULL when it is not in the union. */
static struct point *find(const struct grid *g, int source, int target)
{
    struct link key = { source, target, false };
    return bsearch(&key, g->point, g->count, sizeof *g->point, to_point);
}

/* --- choosing --- */

static void choose(struct grid *g, struct point *p)
{
    p->chosen = true;
    g->source[p->link.source] = true;
    g->target[p->link.target] = true;
}

static void choose_union(struct grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        choose(g, &g->point[i]);
}

static void choose_intersection(struct grid *g)
{
    for (size_t i = 0; i < g->count; i++)
        if (g->point[i].in[0] && g->point[i].in[1])
            choose(g, &g->point[i]);
}

/* Adds the neighbours of a link; whether there were any. */
static bool grow_around(struct grid *g, const struct point *p)
{
    static const int step[][2] = {
        /* target, source; as in the paper */
        { -1, 0 },  { 0, -1 }, { 1, 0 },  { 0, 1 },
        { -1, -1 }, { -1, 1 }, { 1, -1 }, { 1, 1 },
    };
    bool grown = false;

    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        struct point *q = find(g, p->link.source + step[i][1],
                               p->link.target + step[i][0]);
        if (q == NULL || q->chosen ||
            (g->source[q->link.source] && g->target[q->link.target]))
            continue;
        choose(g, q);
        grown = true;
    }
    return grown;
}

static void grow_diag(struct grid *g)
{
    bool grown = true;

    choose_intersection(g);
    while (grown) {
        grown = false;
        for (size_t i = 0; i < g->count; i++)
            if (g->point[i].chosen && grow_around(g, &g->point[i]))
                grown = true;
    }
}

/* Links of a direction between words that both have none. */
static void final_and(struct grid *g, int direction)
{
    for (size_t i = 0; i < g->count; i++) {
        struct point *p = &g->point[i];
        if (p->in[direction] && !g->source[p->link.source] &&
            !g->target[p->link.target])
            choose(g, p);
    }
}

static void grow_diag_final_and(struct grid *g)
{
    grow_diag(g);
    final_and(g, 0);
    final_and(g, 1);
}

const struct symmetrization symmetrizations[] = {
    { "intersect", "links that both have", choose_intersection },
    { "union", "links that one has", choose_union },
    { "grow-diag", "the intersection, grown into the union", grow_diag },
    { "grow-diag-final-and", "and links between words that have none",
      grow_diag_final_and },
    { NULL, NULL, NULL },
};

enum { METHODS = sizeof symmetrizations / sizeof *symmetrizations - 1 };

/* --- */

static int unknown(const char *name)
{
    const char *names[METHODS];
    struct text known = { 0 };

    for (int i = 0; i < METHODS; i++) {
        names[i] = symmetrizations[i].name;
        text_addf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    const char *near = nearest(name, names, METHODS);
    error("'%.100s' is none of %s%s%s%s", name, known.s,
          near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
          near != NULL ? "'?" : "");
    text_release(&known);
    return -1;
}

const struct symmetrization *symmetrization_named(const char *name)
{
    for (int i = 0; i < METHODS; i++)
        if (strcmp(name, symmetrizations[i].name) == 0)
            return &symmetrizations[i];
    unknown(name);
    return NULL;
}

void symmetrize(const struct symmetrization *how, const struct links *forward,
                const struct links *backward, struct links *out)
{
    struct grid g = { 0 };

    merge(&g, forward, backward);
    make_words(&g);
    how->choose(&g);
    links_reset(out);
    for (size_t i = 0; i < g.count; i++)
        if (g.point[i].chosen)
            links_add(out, g.point[i].link);
    free(g.point);
    free(g.source);
    free(g.target);
}
