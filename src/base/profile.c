#include "base/profile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"

enum { ROWS = 128 };

struct row {
    const char *name;
    double seconds[PROFILE_WAYS], operations;
    long calls;
};

struct profile {
    struct row row[ROWS];
    int count;
    double since; /* when the present row was entered */
    double *at;   /* where its time goes, or NULL */
    struct row *present;
};

struct profile *profile_new(void)
{
    return xcalloc(1, sizeof(struct profile));
}

void profile_free(struct profile *p)
{
    free(p);
}

static struct row *find(struct profile *p, const char *name)
{
    for (int i = 0; i < p->count; i++)
        if (p->row[i].name == name || strcmp(p->row[i].name, name) == 0)
            return &p->row[i];
    assert(p->count < ROWS);
    p->row[p->count].name = name;
    return &p->row[p->count++];
}

void profile_enter(struct profile *p, const char *name, enum profile_way way)
{
    if (!p)
        return;
    double now = clock_seconds();
    if (p->at)
        *p->at += now - p->since;
    p->since = now;
    p->present = find(p, name);
    p->present->calls += way == PROFILE_FORWARD;
    p->at = &p->present->seconds[way];
}

void profile_leave(struct profile *p)
{
    if (!p || !p->at)
        return;
    *p->at += clock_seconds() - p->since;
    p->at = NULL;
    p->present = NULL;
}

void profile_work(struct profile *p, double operations)
{
    if (p && p->present)
        p->present->operations += operations;
}

void profile_add(struct profile *to, const struct profile *from)
{
    for (int i = 0; i < from->count; i++) {
        const struct row *row = &from->row[i];
        struct row *sum = find(to, row->name);
        for (int way = 0; way < PROFILE_WAYS; way++)
            sum->seconds[way] += row->seconds[way];
        sum->operations += row->operations;
        sum->calls += row->calls;
    }
}

static double total(const struct row *row)
{
    return row->seconds[PROFILE_FORWARD] + row->seconds[PROFILE_BACKWARD];
}

static int compare(const void *a, const void *b)
{
    double x = total(a), y = total(b);
    return x < y ? 1 : x > y ? -1 : 0;
}

static void print_row(const struct row *row, double seconds, FILE *out)
{
    double all = total(row);
    fprintf(out, "%-22s %9.3f %9.3f %7.1f %9ld", row->name,
            row->seconds[PROFILE_FORWARD], row->seconds[PROFILE_BACKWARD],
            100 * all / seconds, row->calls);
    if (row->operations > 0 && all > 0)
        fprintf(out, " %9.1f", 1e-9 * row->operations / all);
    fputc('\n', out);
}

void profile_print(const struct profile *p, double seconds, FILE *out)
{
    struct profile sorted = *p;
    double left = seconds;
    qsort(sorted.row, (size_t)sorted.count, sizeof(*sorted.row), compare);
    fprintf(out, "%-22s %9s %9s %7s %9s %9s\n", "operation", "forward, s",
            "back, s", "%", "calls", "GFLOP/s");
    for (int i = 0; i < sorted.count; i++) {
        print_row(&sorted.row[i], seconds, out);
        left -= total(&sorted.row[i]);
    }
    fprintf(out, "%-22s %9.3f %9s %7.1f\n", "(waiting, the rest)", left, "",
            100 * left / seconds);
}
