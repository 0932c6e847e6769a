#include "base/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/report.h"

void progress_init(struct progress *p, enum progress_elsewhere elsewhere)
{
    const char *term = getenv("TERM");
    *p = (struct progress){ .elsewhere = elsewhere };
    p->terminal = isatty(STDERR_FILENO) && term != NULL &&
                  strcmp(term, "dumb") != 0;
}

void progress_show(struct progress *p, const char *format, ...)
{
    const double pause = 1.0 / 6;
    double now = clock_seconds();
    if (p->terminal && p->shown > 0 && now - p->shown < pause)
        return;
    if (!p->terminal && p->elsewhere == PROGRESS_NOTHING)
        return;
    p->shown = now;

    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (!p->terminal)
        note("%s", line);
    else if (report_level() >= NORMAL)
        report_transient(line);
}

void progress_end(struct progress *p)
{
    if (p->terminal && p->shown > 0)
        report_transient(NULL);
    p->shown = 0;
}
