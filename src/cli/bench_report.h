/* What attn-bench has measured: tables (Markdown) on stdout, and a CSV file.
 *
 * The CSV has a row for each quantity: what, the case of it, what grows in it,
 * the model's sizes, the precision, threads, beam (empty where they do not
 * matter), the quantity, its median, least and most. */
#ifndef ATTN_CLI_BENCH_REPORT_H
#define ATTN_CLI_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/atomic_file.h"

enum { BENCH_ROUNDS = 100 };

/* The same thing measured again and again. */
struct series {
    double value[BENCH_ROUNDS];
    int count;
};

struct spread {
    double median, least, most;
};

void series_add(struct series *s, double value);

/* a / b, round by round. */
struct series series_ratio(const struct series *a, const struct series *b);

struct spread series_spread(const struct series *s);
double series_median(const struct series *s);

struct bench_report {
    FILE *table; /* NULL: no tables */
    FILE *csv;   /* NULL: no CSV */
    struct atomic_file file;
};

/* Rows of the CSV; what is 0 stays empty. */
struct bench_row {
    const char *what, *variant;
    int size; /* source words, pairs or entries of a vocabulary */
    int embedding, hidden;
    const char *precision;
    int threads, beam;
};

/* `csv` is a path, "-" for the CSV on stdout and no tables, NULL for none. */
int bench_report_open(struct bench_report *r, const char *csv);

/* Puts the CSV in its place if all went well. 0, or -1 after reporting. */
int bench_report_close(struct bench_report *r, bool well);

void bench_report_text(struct bench_report *r, const struct bench_row *row,
                       const char *quantity, const char *value);
void bench_report_value(struct bench_report *r, const struct bench_row *row,
                        const char *quantity, double value);
void bench_report_series(struct bench_report *r, const struct bench_row *row,
                         const char *quantity, const struct series *s);

/* A line of a table; every cell has the width given to it by its column. */
struct bench_column {
    const char *title;
    int width;
};

void bench_table_head(struct bench_report *r, const struct bench_column *column,
                      int columns);
void bench_table_cell(struct bench_report *r, const struct bench_column *column,
                      const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "median (least-most)"; nothing where nothing was measured. */
void bench_table_series(struct bench_report *r,
                        const struct bench_column *column, int digits,
                        const struct series *s);
void bench_table_end(struct bench_report *r);

/* The rest of a line, its cells from this column on; each goes to the CSV,
 * too. */
struct bench_figure {
    const char *quantity;
    const struct series *series;
    int digits;
};

void bench_table_figures(struct bench_report *r, const struct bench_row *row,
                         const struct bench_column *column,
                         const struct bench_figure *figure, int figures);

/* A line of text between the tables. */
void bench_report_line(struct bench_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
