/* Values of command-line options. */
#ifndef ATTN_CLI_OPTION_H
#define ATTN_CLI_OPTION_H

/* A whole number in min … max (both 0 or more), digits only; 0, or -1 after
 * reporting. `option` is its name with the dashes, for the message. */
int option_int(const char *option, const char *text, int min, int max, int *to);

/* A decimal number in min … max. */
int option_real(const char *option, const char *text, double min, double max,
                double *to);

/* yes or no (true, false, on, off). */
int option_bool(const char *option, const char *text, int *to);

/* The two lines that end every usage error. Returns -1. */
int option_hint(const char *program);

/* Ignores SIGPIPE and SIGXFSZ: writing then fails with a message. */
void option_signals(void);

#endif
