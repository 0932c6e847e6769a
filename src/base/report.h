/* Messages to people, on stderr.
 *
 *     attn-train: train.de.gz:1042: 212 tokens, limit is 100
 *
 * A message has the form "place: what, and what to do", lower case, without a
 * full stop. It is reported once, where the cause is known; callers then just
 * return. All functions may be called from any thread; a message is one write,
 * so that messages of several threads never mix within a line. */
#ifndef ATTN_BASE_REPORT_H
#define ATTN_BASE_REPORT_H

/* Exit status of the programs. */
enum {
    EXIT_DONE = 0,
    EXIT_FAILED = 1, /* failed while running: I/O, memory, numbers */
    EXIT_USAGE = 2   /* wrong usage, configuration, data or model file */
};

enum verbosity { QUIET = -1, NORMAL = 0, VERBOSE = 1 };

/* Sets the prefix of every message. The name is borrowed for ever; without a
 * call the prefix is "attn". Call it before any thread starts. */
void report_program(const char *name);

void report_verbosity(enum verbosity level);
enum verbosity report_level(void);

/* Something the user gave is wrong (usage, configuration, data, model file):
 * reports it and returns -1. */
int error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same for what went wrong while running (I/O, numbers); it differs from
 * error() only in the exit status that report_status() gives. */
int failure(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The exit status that fits what has been reported: EXIT_USAGE when the first
 * thing reported was an error(), EXIT_FAILED when it was a failure(),
 * EXIT_DONE when neither has been called. */
int report_status(void);

/* Probably unintended, but the program goes on; never silent. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Worth knowing; silent when QUIET. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Worth knowing for the curious; silent unless VERBOSE. */
void detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows `text` as the line at the bottom of the terminal that messages push
 * aside (they erase it and it comes back with the next call). NULL erases it.
 * The caller makes sure that stderr is a terminal. Used by progress.c. */
void report_transient(const char *text);

#endif
