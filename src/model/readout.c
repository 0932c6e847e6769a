#include "model/readout.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/decoder.h"

int readout_param(struct params *p, const char *name, int rows, int cols)
{
    char *dotted = xasprintf("readout.%s", name);
    int id = params_declare(
        p, &(struct param){ .name = dotted, .rows = rows, .cols = cols,
                            .init = rows == 1 ? INIT_ZERO : INIT_GLOROT });
    free(dotted);
    return id;
}

struct node *readout_activate(const struct decoder *d, struct graph *g,
                              struct node *t)
{
    return d->linear_readout ? t : node_tanh(g, t);
}
