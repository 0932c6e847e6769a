/* Where alignments go, for programs with --alignment FILE and
 * --alignment-format NAME. */
#ifndef ATTN_CLI_ALIGNMENT_OUTPUT_H
#define ATTN_CLI_ALIGNMENT_OUTPUT_H

#include <stdbool.h>

#include "base/atomic_file.h"
#include "search/alignment.h"

struct alignment_output {
    const struct alignment_format *format;
    FILE *out;   /* NULL when the path is */
    bool colour; /* it is a terminal */

    /* private */
    struct atomic_file file;
};

/* Finds the format and opens the file: stdout for "-", else one that appears
 * whole or not at all, nothing for NULL. 0, or -1 after reporting. */
int alignment_output_open(struct alignment_output *o, const char *path,
                          const char *format);

/* Ends the file: keeps it when `got` is 0, gives it up when that is -1.
 * Returns got, or -1 after reporting that the file could not be written. */
int alignment_output_close(struct alignment_output *o, int got);

#endif
