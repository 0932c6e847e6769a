#include "search/alignment_internal.h"

static void print_sources(FILE *out, const struct alignment *a)
{
    if (a->sources == 0)
        fputs("\"\"", out); /* else it would be a blank line */
    for (int s = 0; s < a->sources; s++) {
        fputc(',', out);
        csv_text(out, a->source[s]);
    }
    fputc('\n', out);
}

static void print_target(FILE *out, const struct alignment *a, int t)
{
    csv_text(out, a->target[t]);
    for (int s = 0; s < a->sources; s++) {
        fputc(',', out);
        csv_weight(out, weight_at(a, t, s));
    }
    fputc('\n', out);
}

static void print(struct alignment_writer *w, const struct alignment *a)
{
    FILE *out = w->out;
    bool first = a->sentence == 0 && a->hypothesis <= 0;

    if (!first)
        fputc('\n', out);
    print_sources(out, a);
    for (int t = 0; t < a->targets; t++)
        print_target(out, a, t);
}

const struct alignment_format alignment_matrix = {
    .name = "matrix",
    .help = "a table for each sentence, source across, target down",
    .print = print,
};
