/* The one reader of lines: files, .gz files, stdin.
 *
 *     struct lines in = {0};
 *     char *line;
 *     size_t len;
 *     int got;
 *     if (lines_open(&in, path) < 0)
 *         ...
 *     while ((got = lines_next(&in, &line, &len)) > 0)
 *         ...                                got < 0: an error was reported
 *     lines_release(&in);
 *
 * A line ends at byte 0x0A only, and one 0x0D right before it is dropped. A
 * last line without 0x0A is a line; a final 0x0A starts no further line. The
 * bytes EF BB BF at the very start are dropped. Nothing else is changed: a
 * line may hold NUL and ill-formed UTF-8; lines_check() is for those who
 * refuse them.
 *
 * gzip is known by its first bytes (1F 8B 08), not by the name; several
 * members may follow each other. A stream that is cut short, broken, or
 * followed by something else is an error. (The name counts only for an input
 * too short to tell: an empty file called .gz is one that was cut short.)
 *
 * Of a line longer than LINES_LIMIT bytes the beginning is returned (cut
 * between two characters), with a warning and with in.cut set; the rest of the
 * line is passed over. Memory: twice the longest line, LINES_LIMIT at most,
 * and 192 KiB.
 *
 * Reading takes what is there and does not wait for more than a line, so that
 * a dialogue over a pipe works. One thread at a time. */
#ifndef ATTN_BASE_LINES_H
#define ATTN_BASE_LINES_H

#include <stdbool.h>
#include <stddef.h>

#define LINES_LIMIT ((size_t)64 << 20)

struct lines_gzip;

struct lines {
    char *name;    /* for messages: the path, or "stdin" */
    size_t number; /* of the line returned last, from 1 */
    size_t offset; /* of its first byte in the text (inflated) */
    bool cut;      /* it was longer than LINES_LIMIT */

    /* private */
    int file; /* descriptor + 1, 0: none (not open, or from memory) */
    bool started, skipping, ended, failed;
    size_t limit; /* LINES_LIMIT; a test may set less */
    char *buffer;
    size_t start, scanned, fill, cap; /* in buffer: next line, …, end of data */
    size_t passed;                    /* bytes of the text before buffer[0] */
    struct lines_gzip *gzip;
};

/* "-" is stdin. Returns 0, or -1 after reporting why it cannot be read (a
 * folder cannot). On failure the struct can be released or opened again. */
int lines_open(struct lines *in, const char *path);

/* Reads from memory, by the same rules (but gzip): `name` is for messages, the
 * text is copied. */
void lines_open_text(struct lines *in, const char *name, const char *text,
                     size_t len);

/* Returns 1 with the next line (without its end; line[len] is '\0'; valid and
 * writable until the next call of this or lines_ready()), 0 at the end of the input, or -1 after
 * reporting an error. After 0 or -1 further calls return the same. */
int lines_next(struct lines *in, char **line, size_t *len);

/* Whether lines_next() would return without reading: the bytes already read
 * hold a whole line, or the end or an error has been met. */
bool lines_pending(struct lines *in);

/* Takes in what the input gives within wait_ms milliseconds (0: right now),
 * until a line is pending: whether one is. (Within a gzip stream it may wait
 * until something can be inflated.) Ends the life of the line returned last. */
bool lines_ready(struct lines *in, int wait_ms);

/* Refuses NUL and ill-formed UTF-8 in the line returned last: 0, or -1 after
 * reporting file, line and byte offset. */
int lines_check(const struct lines *in, const char *line, size_t len);

/* 0 when the input can be read more than once (a regular file); -1 after
 * reporting that it cannot (stdin, a pipe) or is not there. */
int lines_rereadable(const char *path);

void lines_release(struct lines *in);

#endif
