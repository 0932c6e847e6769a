#include "cli/bench_report.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"

/* --- spreads ------------------------------------------------------------ */

void series_add(struct series *s, double value)
{
    assert(s->count < BENCH_ROUNDS);
    s->value[s->count++] = value;
}

struct series series_ratio(const struct series *a, const struct series *b)
{
    struct series ratio = { 0 };
    for (int i = 0; i < a->count && i < b->count; i++)
        series_add(&ratio, a->value[i] / b->value[i]);
    return ratio;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct spread series_spread(const struct series *s)
{
    struct series sorted = *s;
    int n = s->count;
    assert(n > 0);
    qsort(sorted.value, (size_t)n, sizeof(*sorted.value), compare);
    return (struct spread){
        .median = (sorted.value[n / 2] + sorted.value[(n - 1) / 2]) / 2,
        .least = sorted.value[0],
        .most = sorted.value[n - 1],
    };
}

double series_median(const struct series *s)
{
    return series_spread(s).median;
}

/* --- CSV ------------------------------------------------------------------ */

int bench_report_open(struct bench_report *r, const char *csv)
{
    bool only_csv = csv && strcmp(csv, "-") == 0;
    *r = (struct bench_report){ .table = only_csv ? NULL : stdout };
    if (csv)
        r->csv = only_csv ? stdout : atomic_file_open(&r->file, csv);
    if (csv && !r->csv)
        return -1;
    if (r->csv)
        fputs("what,case,size,embedding,hidden,precision,threads,beam,"
              "quantity,value,least,most\n",
              r->csv);
    return 0;
}

int bench_report_close(struct bench_report *r, bool well)
{
    if (!r->file.file)
        return 0;
    if (well)
        return atomic_file_commit(&r->file);
    atomic_file_abort(&r->file);
    return 0;
}

static void put_number(FILE *out, int number)
{
    if (number > 0)
        fprintf(out, ",%d", number);
    else
        fputc(',', out);
}

/* RFC 4180 */
static void put_quoted(FILE *out, const char *text)
{
    fputs(",\"", out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void put_row(FILE *out, const struct bench_row *row,
                    const char *quantity)
{
    fprintf(out, "%s,%s", row->what, row->variant ? row->variant : "");
    put_number(out, row->size);
    put_number(out, row->embedding);
    put_number(out, row->hidden);
    fprintf(out, ",%s", row->precision ? row->precision : "");
    put_number(out, row->threads);
    put_number(out, row->beam);
    fprintf(out, ",%s", quantity);
}

void bench_report_text(struct bench_report *r, const struct bench_row *row,
                       const char *quantity, const char *value)
{
    if (!r->csv)
        return;
    put_row(r->csv, row, quantity);
    put_quoted(r->csv, value);
    fputs(",,\n", r->csv);
}

static void put_spread(struct bench_report *r, const struct bench_row *row,
                       const char *quantity, const struct spread *s)
{
    if (!r->csv)
        return;
    put_row(r->csv, row, quantity);
    fprintf(r->csv, ",%.6g,%.6g,%.6g\n", s->median, s->least, s->most);
    fflush(r->csv);
}

void bench_report_value(struct bench_report *r, const struct bench_row *row,
                        const char *quantity, double value)
{
    put_spread(r, row, quantity, &(struct spread){ value, value, value });
}

void bench_report_series(struct bench_report *r, const struct bench_row *row,
                         const char *quantity, const struct series *s)
{
    struct spread spread = series_spread(s);
    put_spread(r, row, quantity, &spread);
}

/* --- tables ------------------------------------------------------------- */

void bench_table_head(struct bench_report *r, const struct bench_column *column,
                      int columns)
{
    if (!r->table)
        return;
    fputc('\n', r->table);
    for (int i = 0; i < columns; i++)
        bench_table_cell(r, &column[i], "%s", column[i].title);
    bench_table_end(r);
    for (int i = 0; i < columns; i++) {
        fputc('|', r->table);
        for (int k = 0; k < column[i].width + 1; k++)
            fputc('-', r->table);
        fputc(':', r->table);
    }
    bench_table_end(r);
}

void bench_table_cell(struct bench_report *r, const struct bench_column *column,
                      const char *format, ...)
{
    char text[128];
    va_list args;
    if (!r->table)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(r->table, "| %*s ", column->width, text);
}

void bench_table_series(struct bench_report *r,
                        const struct bench_column *column, int digits,
                        const struct series *series)
{
    if (series->count == 0) {
        bench_table_cell(r, column, "%s", "");
        return;
    }
    struct spread s = series_spread(series);
    if (s.least < s.most)
        bench_table_cell(r, column, "%.*f (%.*f-%.*f)", digits, s.median,
                         digits, s.least, digits, s.most);
    else
        bench_table_cell(r, column, "%.*f", digits, s.median);
}

void bench_table_figures(struct bench_report *r, const struct bench_row *row,
                         const struct bench_column *column,
                         const struct bench_figure *figure, int figures)
{
    for (int i = 0; i < figures; i++) {
        bench_table_series(r, &column[i], figure[i].digits, figure[i].series);
        if (figure[i].series->count > 0)
            bench_report_series(r, row, figure[i].quantity, figure[i].series);
    }
    bench_table_end(r);
}

void bench_table_end(struct bench_report *r)
{
    if (!r->table)
        return;
    fputs("|\n", r->table);
    fflush(r->table);
}

void bench_report_line(struct bench_report *r, const char *format, ...)
{
    va_list args;
    if (!r->table)
        return;
    va_start(args, format);
    vfprintf(r->table, format, args);
    va_end(args);
    fputc('\n', r->table);
    fflush(r->table);
}
