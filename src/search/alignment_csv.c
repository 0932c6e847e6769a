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

/* What stands in a number but digits, letters and signs is the locale's
 * decimal point, which may have several bytes. */
void csv_weight(FILE *out, float weight)
{
    static const char plain[] = "0123456789+-abcdefghijklmnopqrstuvwxyz";
    char number[64];

    snprintf(number, sizeof number, "%.9g", (double)weight);
    size_t whole = strspn(number, plain);
    size_t point = strcspn(number + whole, plain);
    fwrite(number, 1, whole, out);
    if (point > 0)
        fputc('.', out);
    fputs(number + whole + point, out);
}

static void header(FILE *out, bool numbered)
{
    fprintf(out, "sentence%s,target_pos,target,source_pos,source,weight\n",
            numbered ? ",hypothesis" : "");
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

static void print(FILE *out, const struct alignment *a)
{
    for (int t = 0; t < a->targets; t++)
        for (int s = 0; s < a->sources; s++)
            print_row(out, a, t, s);
}

const struct alignment_format alignment_csv = {
    .name = "csv",
    .help = "a row for each pair of tokens",
    .header = header,
    .print = print,
};
