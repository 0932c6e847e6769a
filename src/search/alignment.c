#include "search/alignment.h"

#include <string.h>

#include "base/report.h"
#include "base/text.h"
#include "search/alignment_internal.h"

const struct alignment_format *const alignment_formats[] = {
    &alignment_csv,
    &alignment_matrix,
    &alignment_pharaoh,
    &alignment_terminal,
    &alignment_svg,
    &alignment_html,
    NULL,
};

enum { FORMATS = sizeof alignment_formats / sizeof *alignment_formats - 1 };

static int unknown(const char *name)
{
    const char *names[FORMATS], *near;
    struct text known = { 0 };

    for (int i = 0; i < FORMATS; i++) {
        names[i] = alignment_formats[i]->name;
        text_addf(&known, "%s%s", i > 0 ? ", " : "", names[i]);
    }
    near = nearest(name, names, FORMATS);
    if (near != NULL)
        error("'%s' is not an alignment format, did you mean '%s'?", name,
              near);
    else
        error("'%s' is not an alignment format; there are: %s", name, known.s);
    text_release(&known);
    return -1;
}

const struct alignment_format *alignment_format(const char *name)
{
    for (int i = 0; i < FORMATS; i++)
        if (strcmp(name, alignment_formats[i]->name) == 0)
            return alignment_formats[i];
    unknown(name);
    return NULL;
}

/* What stands in a number but digits, letters and signs is the locale's
 * decimal point, which may have several bytes. */
void weight_print(char text[WEIGHT_SIZE], float weight)
{
    static const char plain[] = "0123456789+-abcdefghijklmnopqrstuvwxyz";

    snprintf(text, WEIGHT_SIZE, "%.9g", (double)weight);
    char *point = text + strspn(text, plain);
    size_t len = strcspn(point, plain);
    if (len > 0) {
        *point = '.';
        memmove(point + 1, point + len, strlen(point + len) + 1);
    }
}

void alignment_heading(struct text *t, const struct alignment *a)
{
    text_addf(t, "sentence %ld", a->sentence);
    if (a->hypothesis >= 0)
        text_addf(t, ", hypothesis %d", a->hypothesis);
}

void alignment_writer_begin(struct alignment_writer *w)
{
    if (w->format->begin != NULL)
        w->format->begin(w);
}

void alignment_writer_print(struct alignment_writer *w,
                            const struct alignment *a)
{
    w->format->print(w, a);
}

void alignment_writer_end(struct alignment_writer *w)
{
    if (w->format->end != NULL)
        w->format->end(w);
    text_release(&w->kept);
}
