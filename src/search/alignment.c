#include "search/alignment.h"

#include <string.h>

#include "base/report.h"
#include "base/text.h"
#include "search/alignment_internal.h"

const struct alignment_format *const alignment_formats[] = {
    &alignment_csv, &alignment_matrix, &alignment_pharaoh, &alignment_terminal,
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
