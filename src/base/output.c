#include "base/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/report.h"

int output_finish(void)
{
    errno = 0;
    bool lost = ferror(stdout) != 0;
    lost |= fflush(stdout) != 0;
    lost |= fclose(stdout) != 0;
    if (!lost)
        return 0;
    return failure("stdout: not everything was written: %s",
                   errno != 0 ? strerror(errno) : "an earlier write failed");
}
