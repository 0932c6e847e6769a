#include "cli/computing.h"

#include <string.h>

#include "base/report.h"
#include "model/model.h"
#include "model/model_file.h"

static int find(const char *name)
{
    for (int i = 0; i < PRECISIONS; i++)
        if (strcmp(name, precision_names[i]) == 0)
            return i;
    return -1;
}

int computing_prepare(struct model_file *f, const char *name)
{
    int found = name ? find(name)
                     : config_name(&f->config, "translation.precision",
                                   precision_names, PRECISIONS);
    if (found < 0)
        return name ? error("--precision: '%.100s' is none of fp32, bf16, int8",
                            name)
                    : -1;
    const char *missing = packed_missing((enum precision)found);
    if (missing)
        return error("no products in %s: %s; use --precision fp32",
                     precision_names[found], missing);
    model_prepare(f->model, (enum precision)found);
    return 0;
}
