/* What operations on ragged rows share. */
#ifndef ATTN_GRAPH_RAGGED_H
#define ATTN_GRAPH_RAGGED_H

#include "graph/ops.h"

/* A copy for the way back: the caller's need not live so long. */
static inline struct ragged *ragged_keep(struct graph *g,
                                         const struct ragged *over)
{
    struct ragged *copy = arena_alloc(&g->arena, sizeof(*copy));
    *copy = *over;
    return copy;
}

/* Where in its sentence the first column of row i is. */
static inline int ragged_first(const struct ragged *over, int i)
{
    return over->first ? over->first[i] : 0;
}

#endif
