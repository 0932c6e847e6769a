/* Single values as text: reading them, and printing them so that they read
 * back as the same value. Independent of the locale. For src/config only. */
#ifndef ATTN_CONFIG_SCALAR_H
#define ATTN_CONFIG_SCALAR_H

#include <stdbool.h>
#include <stddef.h>

struct text;

/* Read a decimal number, `whole` or with fraction and exponent, or one of
 * true/false, yes/no, on/off. Return NULL, or what is wrong with the text, to
 * be put behind it: "is not a whole number". A number too large for a double
 * gives infinity, for the caller's check of the range. */
const char *scalar_read_number(const char *s, bool whole, double *value);
const char *scalar_read_bool(const char *s, bool *value);

/* Append a finite number in the fewest digits (9 or more) that read back as
 * the same double. */
void scalar_add_number(struct text *out, double value);

/* Append well-formed UTF-8 as a YAML scalar on one line, quoted where it must
 * be. */
void scalar_add_string(struct text *out, const char *s);

/* Append 's' for a message: control characters shown as '?', long text cut. */
void scalar_add_excerpt(struct text *out, const char *s);

#endif
