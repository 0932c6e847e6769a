#include "config/scalar.h"

#include <assert.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "base/text.h"

enum { EXCERPT = 60 };

static const char digits[] = "0123456789";

/* Numbers with a point, whatever the caller's locale writes. */
static locale_t locale_enter(void)
{
    return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

static void locale_leave(locale_t before)
{
    freelocale(uselocale(before));
}

/* Moves past digits; how many there were. */
static size_t skip_digits(const char **s)
{
    size_t n = strspn(*s, digits);
    *s += n;
    return n;
}

static void skip_sign(const char **s)
{
    if (**s == '+' || **s == '-')
        (*s)++;
}

static bool is_whole(const char *s)
{
    skip_sign(&s);
    return skip_digits(&s) > 0 && *s == '\0';
}

static bool is_decimal(const char *s)
{
    skip_sign(&s);
    size_t n = skip_digits(&s);
    if (*s == '.') {
        s++;
        n += skip_digits(&s);
    }
    if (n == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s++;
        skip_sign(&s);
        if (skip_digits(&s) == 0)
            return false;
    }
    return *s == '\0';
}

/* Whether the digits before any exponent are all 0. */
static bool is_zero(const char *s)
{
    return strcspn(s, "123456789") >= strcspn(s, "eE");
}

const char *scalar_read_number(const char *s, bool whole, double *value)
{
    if (whole ? !is_whole(s) : !is_decimal(s))
        return whole ? "is not a whole number" : "is not a number";
    locale_t before = locale_enter();
    *value = strtod(s, NULL) + 0.0; /* -0 becomes 0 */
    locale_leave(before);
    if (*value == 0 && !is_zero(s))
        return "is nearer to 0 than a number can be";
    return NULL;
}

const char *scalar_read_bool(const char *s, bool *value)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {
        { "true", true },   { "True", true },   { "TRUE", true },
        { "yes", true },    { "Yes", true },    { "YES", true },
        { "on", true },     { "On", true },     { "ON", true },
        { "false", false }, { "False", false }, { "FALSE", false },
        { "no", false },    { "No", false },    { "NO", false },
        { "off", false },   { "Off", false },   { "OFF", false },
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(s, words[i].word) == 0) {
            *value = words[i].value;
            return NULL;
        }
    }
    return "is neither true nor false";
}

/* "1e-08" is written 1e-8, "1e+20" is written 1e20. */
static void add_tidy(struct text *out, const char *number)
{
    size_t mantissa = strcspn(number, "e");
    text_add(out, number, mantissa);
    if (number[mantissa] == '\0')
        return;
    const char *exponent = number + mantissa + 1;
    text_addf(out, "e%s", *exponent == '-' ? "-" : "");
    exponent++;
    exponent += strspn(exponent, "0");
    text_add(out, exponent, strlen(exponent));
}

void scalar_add_number(struct text *out, double value)
{
    char number[40];
    assert(isfinite(value));
    locale_t before = locale_enter();
    for (int precision = 9; precision <= 17; precision++) {
        snprintf(number, sizeof(number), "%.*g", precision, value);
        if (strtod(number, NULL) == value)
            break;
    }
    locale_leave(before);
    add_tidy(out, number);
}

/* Whether every reader of YAML takes the text, unquoted, for a string: words
 * and paths of letters, digits and few signs, but not null, yes or 1e3. */
static bool is_plain(const char *s)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-./";
    static const char *const reserved[] = { "null", "Null", "NULL", "y",
                                            "Y",    "n",    "N" };
    const char *const paths[] = { "../", "./", "/" };
    bool truth;
    if (s[strspn(s, safe)] != '\0' || scalar_read_bool(s, &truth) == NULL)
        return false;
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
        if (strcmp(s, reserved[i]) == 0)
            return false;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (strncmp(s, paths[i], strlen(paths[i])) == 0) {
            s += strlen(paths[i]);
            break;
        }
    }
    return (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');
}

/* The code point at s, which is well-formed UTF-8; *len its bytes. */
static uint32_t decode(const char *s, size_t *len)
{
    unsigned char lead = (unsigned char)*s;
    *len = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0);
    uint32_t code = *len == 1 ? lead : lead & (0x7Fu >> *len);
    for (size_t i = 1; i < *len; i++)
        code = code << 6 | ((unsigned char)s[i] & 0x3F);
    return code;
}

/* Whether YAML takes the character as it is within double quotes, on one line
 * and without being an invisible sign of order. */
static bool is_printable(uint32_t code)
{
    if (code < 0xA0)
        return code >= 0x20 && code < 0x7F && code != '"' && code != '\\';
    return code != 0x2028 && code != 0x2029 && code != 0xFEFF &&
           code != 0xFFFE && code != 0xFFFF;
}

static void add_escaped(struct text *out, uint32_t code)
{
    static const char letters[] = "\"\"\\\\\nn\tt\rr";
    for (const char *pair = letters; *pair; pair += 2) {
        if ((uint32_t)*pair == code) {
            text_addf(out, "\\%c", pair[1]);
            return;
        }
    }
    text_addf(out, code < 0x100 ? "\\x%02X" : "\\u%04X", (unsigned)code);
}

void scalar_add_string(struct text *out, const char *s)
{
    if (is_plain(s)) {
        text_adds(out, s);
        return;
    }
    assert(utf8_valid_prefix(s, strlen(s)) == strlen(s));
    text_adds(out, "\"");
    while (*s) {
        size_t len;
        uint32_t code = decode(s, &len);
        if (is_printable(code))
            text_add(out, s, len);
        else
            add_escaped(out, code);
        s += len;
    }
    text_adds(out, "\"");
}

void scalar_add_excerpt(struct text *out, const char *s)
{
    size_t len = strlen(s);
    size_t shown = len;
    if (len > EXCERPT)
        for (shown = EXCERPT; ((unsigned char)s[shown] & 0xC0) == 0x80;)
            shown--;
    text_adds(out, "'");
    for (size_t i = 0; i < shown; i++) {
        bool control = (unsigned char)s[i] < 0x20 || s[i] == 0x7F;
        text_add(out, control ? "?" : s + i, 1);
    }
    text_adds(out, shown < len ? "…'" : "'");
}
