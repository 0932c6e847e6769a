/* What tests of files and messages share: a folder of their own, files in it,
 * and what goes to stderr. The folder is removed when the test ends. */
#ifndef ATTN_UNIT_SCRATCH_H
#define ATTN_UNIT_SCRATCH_H

#include <stddef.h>

/* A string literal as pointer and length, NUL bytes included. */
#define BYTES(literal) (literal), sizeof(literal) - 1

/* The path of a file in the folder; valid until the test ends. */
const char *scratch_path(const char *name);

/* Writes a file and returns its path. */
const char *scratch_file(const char *name, const char *bytes, size_t len);
const char *scratch_text(const char *name, const char *text);

/* The bytes as one gzip member: their number, in *out, to be freed. */
size_t scratch_deflate(const char *bytes, size_t len, char **out);
const char *scratch_gzip(const char *name, const char *bytes, size_t len);

/* The content of a file, ended by '\0', valid until the test ends; NULL when
 * it cannot be read. len may be NULL. */
const char *scratch_read(const char *path, size_t *len);

/* How many files the folder holds. */
int scratch_count(void);

/* Between the two calls stderr goes to a file; the second returns what was
 * written, valid until the next. */
void capture_start(void);
const char *capture_stop(void);

/* Fails the test unless `text` holds the word. */
#define assert_holds(text, word) \
    scratch_assert_holds((text), (word), __FILE__, __LINE__)
void scratch_assert_holds(const char *text, const char *word, const char *file,
                          int line);

#endif
