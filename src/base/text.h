/* Text: a growing string, UTF-8, tokens, and which word was meant.
 *
 * Text is bytes with a length; nothing here looks at the locale. */
#ifndef ATTN_BASE_TEXT_H
#define ATTN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A growing string. A zeroed struct is the empty text (s is then NULL);
 * otherwise s[len] is '\0'. */
struct text {
    char *s;
    size_t len, cap;
};

void text_add(struct text *t, const char *s, size_t len);
void text_adds(struct text *t, const char *s);
void text_addf(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_reset(struct text *t); /* empty; keeps the memory */
void text_release(struct text *t);

/* How many bytes stand before the first that is ill-formed UTF-8 (overlong
 * forms, surrogates and what lies above U+10FFFF included) or NUL; len when
 * all is well. */
size_t utf8_valid_prefix(const char *s, size_t len);

/* Adds s to t with U+FFFD in place of each ill-formed piece (the longest
 * beginning of a sequence that is cut off counts as one, as the Unicode
 * standard recommends) and of each NUL. Returns how many were replaced. */
size_t utf8_repair(struct text *t, const char *s, size_t len);

/* Steps over blanks (0x20 and 0x09, nothing else) and returns the token that
 * starts there, its length in *len, and moves *cursor behind it. NULL when no
 * token is left. Nothing is written into the text. */
const char *next_token(const char **cursor, const char *end, size_t *len);

/* Writes '\0' behind each token, for which s needs room (s[len] is written
 * when the last token ends there), and stores where the first `most` of them
 * start. Returns how many these are. */
int split_tokens(char *s, size_t len, const char **tokens, int most);

bool text_is_blank(const char *s, size_t len); /* no token in it */

/* Least number of insertions, deletions, replacements and swaps of neighbours
 * that make b of a, for bytes, upper and lower case of ASCII being the same.
 * Of very long words only the first 63 bytes count. */
int edit_distance(const char *a, const char *b);

/* The word that was probably meant, or NULL when none is near: "did you mean". */
const char *nearest(const char *word, const char *const *words, size_t n);

#endif
