/* One alignment out of two: of a model that went from source to target, and of
 * one that went the other way.
 *
 *   intersect             links that both have
 *   union                 links that one has
 *   grow-diag             the intersection, grown into the union
 *   grow-diag-final-and   the same, and then what is left of the union where
 *                         neither word has a link yet
 *
 * Growing is as in Koehn et al. 2005: again and again, for each link so far in
 * the order of its target and then source words, those of its eight
 * neighbours are added, in a fixed order, that are in the union and have a
 * word without a link; until nothing is added. Results depend on this order,
 * so other programs may differ in a few links. */
#ifndef ATTN_METRICS_SYMMETRIZE_H
#define ATTN_METRICS_SYMMETRIZE_H

struct links;
struct grid;

struct symmetrization {
    const char *name, *help;
    void (*choose)(struct grid *g);
};

/* All of them; NULL behind the last name. */
extern const struct symmetrization symmetrizations[];

/* The one of that name; NULL after reporting that there is none. */
const struct symmetrization *symmetrization_named(const char *name);

/* Both directions are links from source to target. `out` is overwritten. */
void symmetrize(const struct symmetrization *how, const struct links *forward,
                const struct links *backward, struct links *out);

#endif
