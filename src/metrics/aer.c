#include "metrics/aer.h"

#include "metrics/links.h"

static void count_gold(struct aer *a, const struct links *gold)
{
    for (size_t i = 0; i < gold->count; i++)
        a->sure += !gold->link[i].possible;
    a->possible += (long)gold->count;
}

/* Both are sorted: one walk through the two. */
static void count_common(struct aer *a, const struct links *gold,
                         const struct links *links)
{
    size_t g = 0, l = 0;

    while (g < gold->count && l < links->count) {
        int order = links_compare(&gold->link[g], &links->link[l]);
        if (order == 0) {
            a->links_possible++;
            a->links_sure += !gold->link[g].possible;
        }
        g += order <= 0;
        l += order >= 0;
    }
}

void aer_add(struct aer *a, const struct links *gold, const struct links *links)
{
    a->links += (long)links->count;
    count_gold(a, gold);
    count_common(a, gold, links);
}

static double share(long part, long whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

struct aer_score aer_score(const struct aer *a)
{
    long all = a->links + a->sure;
    long right = a->links_sure + a->links_possible;

    return (struct aer_score){
        .rate = share(all - right, all),
        .precision = share(a->links_possible, a->links),
        .recall = share(a->links_sure, a->sure),
    };
}
