#include "base/report.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ERASE "\r\033[K" /* carriage return, erase to the end of the line */

/* The one place with mutable globals: what is the process's, not a caller's. */
static struct {
    const char *program;
    enum verbosity verbosity;
    int status;     /* of the first thing reported */
    bool transient; /* a transient line is on the terminal */
    pthread_mutex_t mutex;
} report = { .program = "attn", .mutex = PTHREAD_MUTEX_INITIALIZER };

void report_program(const char *name)
{
    report.program = name;
}

void report_verbosity(enum verbosity level)
{
    __atomic_store_n(&report.verbosity, level, __ATOMIC_RELAXED);
}

enum verbosity report_level(void)
{
    return __atomic_load_n(&report.verbosity, __ATOMIC_RELAXED);
}

static void write_all(const char *s, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, s, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* nowhere to complain */
        s += n;
        len -= (size_t)n;
    }
}

/* Names and words out of files must not steer the terminal. */
static void mask_controls(char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            s[i] = '?';
    }
}

/* Writes ERASE if needed, "program: ", the text and a newline, at once. The
 * text stands in line[room .. room + len], the rest of `line` is ours. */
static void finish(char *line, size_t room, size_t len)
{
    mask_controls(line + room, len);
    line[room + len++] = '\n';

    pthread_mutex_lock(&report.mutex);
    char prefix[256];
    const char *erase = report.transient ? ERASE : "";
    int width = snprintf(prefix, sizeof prefix, "%s%.200s: ", erase,
                         report.program);
    size_t start = room - (size_t)width;
    memcpy(line + start, prefix, (size_t)width);
    write_all(line + start, (size_t)width + len);
    report.transient = false;
    pthread_mutex_unlock(&report.mutex);
}

static void message(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

static void message(const char *format, va_list args)
{
    enum { ROOM = 256 }; /* for what stands before the text */
    char small[2048];
    size_t space = sizeof small - ROOM - 1;
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(small + ROOM, space, format, args);
    if (len < 0)
        len = snprintf(small + ROOM, space, "(%s)", format);
    if ((size_t)len < space) {
        finish(small, ROOM, (size_t)len);
    } else {
        char *large = malloc(ROOM + (size_t)len + 2);
        if (large == NULL) {
            finish(small, ROOM, space - 1); /* cut short, but said */
        } else {
            vsnprintf(large + ROOM, (size_t)len + 1, format, again);
            finish(large, ROOM, (size_t)len);
            free(large);
        }
    }
    va_end(again);
}

static void set_status(int status)
{
    int none = EXIT_DONE;
    __atomic_compare_exchange_n(&report.status, &none, status, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int report_status(void)
{
    return __atomic_load_n(&report.status, __ATOMIC_RELAXED);
}

int error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(format, args);
    va_end(args);
    set_status(EXIT_USAGE);
    return -1;
}

int failure(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(format, args);
    va_end(args);
    set_status(EXIT_FAILED);
    return -1;
}

void warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message(format, args);
    va_end(args);
}

void note(const char *format, ...)
{
    va_list args;
    if (report_level() < NORMAL)
        return;
    va_start(args, format);
    message(format, args);
    va_end(args);
}

void detail(const char *format, ...)
{
    va_list args;
    if (report_level() < VERBOSE)
        return;
    va_start(args, format);
    message(format, args);
    va_end(args);
}

void report_transient(const char *text)
{
    char line[512];
    pthread_mutex_lock(&report.mutex);
    int len = snprintf(line, sizeof line, "%s%.480s",
                       report.transient ? ERASE : "", text ? text : "");
    write_all(line, (size_t)len);
    report.transient = text != NULL;
    pthread_mutex_unlock(&report.mutex);
}
