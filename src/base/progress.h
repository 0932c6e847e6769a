/* How far a long job has come: one line on the terminal, refreshed at most six
 * times a second. When stderr is not a terminal, nothing is shown, or each
 * call is a line of its own, as the caller chooses. Silent when QUIET.
 *
 *     struct progress p;
 *     progress_init(&p, PROGRESS_NOTHING);
 *     progress_show(&p, "%d of %d sentences", done, all);
 *     progress_end(&p);                       the line is erased
 */
#ifndef ATTN_BASE_PROGRESS_H
#define ATTN_BASE_PROGRESS_H

#include <stdbool.h>

enum progress_elsewhere { PROGRESS_NOTHING, PROGRESS_LINES };

struct progress {
    enum progress_elsewhere elsewhere;
    bool terminal;
    double shown; /* time of the last refresh, 0: none yet */
};

void progress_init(struct progress *p, enum progress_elsewhere elsewhere);
void progress_show(struct progress *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void progress_end(struct progress *p);

#endif
