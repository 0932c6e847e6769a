#include "model/packing.h"

#include "base/arena.h"

static int length(const struct side *s, int b)
{
    return s->start[b + 1] - s->start[b];
}

/* Ranks by falling length; equal lengths keep their order (counting sort). */
static int *rank(struct arena *arena, const struct side *s, int longest)
{
    int *order = arena_array(arena, (size_t)s->sentences, sizeof(*order));
    int *place = arena_array(arena, (size_t)longest + 2, sizeof(*place));
    for (int l = 0; l <= longest + 1; l++)
        place[l] = 0;
    for (int b = 0; b < s->sentences; b++)
        place[longest - length(s, b) + 1]++;
    for (int l = 0; l <= longest; l++)
        place[l + 1] += place[l];
    for (int b = 0; b < s->sentences; b++)
        order[place[longest - length(s, b)]++] = b;
    return order;
}

static int *int_array(struct arena *arena, int n)
{
    return arena_array(arena, (size_t)n, sizeof(int));
}

void packing_make(struct packing *p, struct arena *arena, const struct side *s)
{
    int longest = 0, N = s->tokens;
    for (int b = 0; b < s->sentences; b++)
        longest = length(s, b) > longest ? length(s, b) : longest;
    int *order = rank(arena, s, longest);
    int *alive = int_array(arena, longest), *first = int_array(arena, longest);
    int *forward = int_array(arena, N), *backward = int_array(arena, N);
    int *row = int_array(arena, N), *back_row = int_array(arena, N);
    int n = s->sentences, at = 0;
    for (int t = 0; t < longest; t++) {
        while (length(s, order[n - 1]) <= t)
            n--;
        alive[t] = n;
        first[t] = at;
        for (int r = 0; r < n; r++, at++) {
            int b = order[r];
            forward[at] = s->start[b] + t;
            backward[at] = s->start[b + 1] - 1 - t;
            row[forward[at]] = at;
            back_row[backward[at]] = at;
        }
    }
    *p = (struct packing){ s->sentences, longest, N,        order, alive,
                           first,        forward, backward, row,   back_row };
}
