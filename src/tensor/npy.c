#include "tensor/npy.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char magic[] = "\x93NUMPY\x01"; /* its NUL is the minor version */
static const size_t largest = (size_t)1 << 38;

static const struct type {
    const char *descr; /* as the header has it */
    const char *name;
    size_t size; /* bytes a number */
} types[] = {
    [NPZ_FLOAT32] = { "'<f4'", "float32", 4 },
    [NPZ_UINT16] = { "'<u2'", "uint16", 2 },
    [NPZ_INT8] = { "'|i1'", "int8", 1 },
};

enum { TYPES = sizeof types / sizeof *types };

size_t npz_type_size(enum npz_type type)
{
    return types[type].size;
}

const char *npz_type_name(enum npz_type type)
{
    return types[type].name;
}

bool npy_count(const struct npy_shape *shape, size_t *count)
{
    *count = 1;
    for (int i = 0; i < shape->ndim; i++) {
        size_t dim = (size_t)shape->dims[i];
        if (dim > 0 && *count > largest / dim)
            return false;
        *count *= dim;
    }
    return true;
}

size_t npy_format(char header[NPY_HEADER], const struct npy_shape *shape)
{
    char *text = header + NPY_START;
    size_t room = NPY_HEADER - NPY_START;
    size_t n = (size_t)snprintf(text, room,
                                "{'descr': %s, "
                                "'fortran_order': False, 'shape': (",
                                types[shape->type].descr);
    for (int i = 0; i < shape->ndim; i++) {
        const char *blank = i > 0 ? " " : "";
        const char *comma = i + 1 < shape->ndim || i == 0 ? "," : "";
        n += (size_t)snprintf(text + n, room - n, "%s%d%s", blank,
                              shape->dims[i], comma);
    }
    n += (size_t)snprintf(text + n, room - n, "), }");
    while ((NPY_START + n + 1) % 64 != 0)
        text[n++] = ' ';
    text[n++] = '\n';
    assert(n <= room);
    memcpy(header, magic, sizeof magic);
    header[8] = (char)(n & 0xFF);
    header[9] = (char)(n >> 8);
    return NPY_START + n;
}

size_t npy_length(const char start[NPY_START])
{
    const unsigned char *length = (const unsigned char *)start + 8;
    size_t n = NPY_START + length[0] + ((size_t)length[1] << 8);
    if (memcmp(start, magic, sizeof magic) != 0 || n > NPY_HEADER)
        return 0;
    return n;
}

/* The header as it is read: what is left of it. */
struct cursor {
    const char *s, *end;
};

static bool skip(struct cursor *c, const char *text)
{
    size_t n = strlen(text);
    if ((size_t)(c->end - c->s) < n || memcmp(c->s, text, n) != 0)
        return false;
    c->s += n;
    return true;
}

static bool number(struct cursor *c, int *value)
{
    int64_t v = 0;
    const char *first = c->s;
    while (c->s < c->end && *c->s >= '0' && *c->s <= '9' && v <= INT_MAX)
        v = 10 * v + (*c->s++ - '0');
    *value = (int)v;
    return c->s > first && v <= INT_MAX;
}

/* "()", "(3,)", "(3, 4)", …: Python's way to write a tuple. */
static bool tuple(struct cursor *c, struct npy_shape *shape)
{
    shape->ndim = 0;
    if (!skip(c, "("))
        return false;
    while (!skip(c, ")")) {
        if (shape->ndim == NPZ_DIMS)
            return false;
        if (shape->ndim > 1 && !skip(c, ","))
            return false;
        if (shape->ndim > 0 && !skip(c, " "))
            return false;
        if (!number(c, &shape->dims[shape->ndim++]))
            return false;
        if (shape->ndim == 1 && !skip(c, ","))
            return false;
    }
    return true;
}

static bool type(struct cursor *c, struct npy_shape *shape)
{
    for (int i = 0; i < TYPES; i++)
        if (skip(c, types[i].descr)) {
            shape->type = (enum npz_type)i;
            return true;
        }
    return false;
}

const char *npy_parse(const char *header, size_t len, struct npy_shape *shape)
{
    struct cursor c = { header + NPY_START, header + len };
    size_t count;

    assert(len >= NPY_START);
    if (!skip(&c, "{'descr': "))
        return "has no header as NumPy writes it";
    if (!type(&c, shape))
        return "is not of type float32 ('<f4'), uint16 ('<u2') or int8 "
               "('|i1')";
    if (!skip(&c, ", 'fortran_order': False, "))
        return "is not in C order";
    if (!skip(&c, "'shape': ") || !tuple(&c, shape) || !skip(&c, ", }"))
        return "has no shape as NumPy writes it";
    while (skip(&c, " "))
        ;
    if (!skip(&c, "\n") || c.s != c.end)
        return "has no header as NumPy writes it";
    if (!npy_count(shape, &count))
        return "has too many elements";
    return NULL;
}
