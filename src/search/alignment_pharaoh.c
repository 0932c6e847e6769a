#include "search/alignment_internal.h"

/* The source token looked at most, -1 when no weight is above 0. */
static int most_attended(const struct alignment *a, int target)
{
    int best = -1;
    float most = 0;

    for (int s = 0; s < a->sources; s++) {
        if (weight_at(a, target, s) > most) {
            most = weight_at(a, target, s);
            best = s;
        }
    }
    return best;
}

static void print(struct alignment_writer *w, const struct alignment *a)
{
    int sources = a->sources - a->source_eos;
    int targets = a->targets - a->target_eos;
    const char *blank = "";

    for (int t = 0; t < targets; t++) {
        int s = most_attended(a, t);
        if (s < 0 || s >= sources)
            continue;
        fprintf(w->out, "%s%d-%d", blank, s, t);
        blank = " ";
    }
    fputc('\n', w->out);
}

const struct alignment_format alignment_pharaoh = {
    .name = "pharaoh",
    .help = "links i-j, for each target word the source word of most weight",
    .print = print,
};
