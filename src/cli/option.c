#include "cli/option.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"

int option_int(const char *option, const char *text, int min, int max, int *to)
{
    bool digits = *text != '\0' && strspn(text, "0123456789") == strlen(text);
    errno = 0;
    long n = digits ? strtol(text, NULL, 10) : -1;
    if (!digits || errno != 0 || n < min || n > max)
        return error("%s: '%.100s' is not a whole number from %d to %d", option,
                     text, min, max);
    *to = (int)n;
    return 0;
}

int option_real(const char *option, const char *text, double min, double max,
                double *to)
{
    char *end;
    bool plain = *text != '\0' &&
                 strspn(text, "0123456789.eE+-") == strlen(text);
    double x = strtod(text, &end);
    if (!plain || *end != '\0' || !isfinite(x) || x < min || x > max)
        return error("%s: '%.100s' is not a number from %g to %g", option, text,
                     min, max);
    *to = x;
    return 0;
}

int option_bool(const char *option, const char *text, int *to)
{
    static const char *const words[] = { "no",   "yes", "false",
                                         "true", "off", "on" };
    for (int i = 0; i < 6; i++)
        if (strcmp(text, words[i]) == 0) {
            *to = i % 2;
            return 0;
        }
    return error("%s: '%.100s' is neither yes nor no", option, text);
}

int option_hint(const char *program)
{
    fprintf(stderr, "Try '%s --help'.\n", program);
    return -1;
}

void option_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
}
