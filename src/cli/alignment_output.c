#include "cli/alignment_output.h"

#include <string.h>
#include <unistd.h>

int alignment_output_open(struct alignment_output *o, const char *path,
                          const char *format)
{
    *o = (struct alignment_output){ .format = alignment_format(format) };
    if (!o->format)
        return -1;
    if (!path)
        return 0;
    if (strcmp(path, "-") == 0) {
        o->out = stdout;
        o->colour = isatty(STDOUT_FILENO);
        return 0;
    }
    o->out = atomic_file_open(&o->file, path);
    return o->out ? 0 : -1;
}

int alignment_output_close(struct alignment_output *o, int got)
{
    if (got < 0)
        atomic_file_abort(&o->file);
    else if (o->file.file)
        got = atomic_file_commit(&o->file);
    return got;
}
