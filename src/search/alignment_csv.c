#include "search/alignment_internal.h"

#include <string.h>

void csv_text(FILE *out, const char *text)
{
    if (text[strcspn(text, ",\"\r\n")] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *s = text; *s != '\0'; s++) {
        if (*s == '"')
            fputc('"', out);
        fputc(*s, out);
    }
    fputc('"', out);
}

void csv_weight(FILE *out, float weight)
{
    char number[WEIGHT_SIZE];

    weight_print(number, weight);
    fputs(number, out);
}

static void begin(struct alignment_writer *w)
{
    fprintf(w->out, "sentence%s,target_pos,target,source_pos,source,weight\n",
            w->numbered ? ",hypothesis" : "");
}

static void print_row(FILE *out, const struct alignment *a, int t, int s)
{
    fprintf(out, "%ld,", a->sentence);
    if (a->hypothesis >= 0)
        fprintf(out, "%d,", a->hypothesis);
    fprintf(out, "%d,", t);
    csv_text(out, a->target[t]);
    fprintf(out, ",%d,", s);
    csv_text(out, a->source[s]);
    fputc(',', out);
    csv_weight(out, weight_at(a, t, s));
    fputc('\n', out);
}

static void print(struct alignment_writer *w, const struct alignment *a)
{
    for (int t = 0; t < a->targets; t++)
        for (int s = 0; s < a->sources; s++)
            print_row(w->out, a, t, s);
}

const struct alignment_format alignment_csv = {
    .name = "csv",
    .help = "a row for each pair of tokens",
    .begin = begin,
    .print = print,
};
