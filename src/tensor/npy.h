/* The header of NumPy's .npy format, version 1.0, for arrays in C order of the
 * types of enum npz_type: eight fixed bytes, the length of a Python dictionary,
 * the dictionary as text, filled up with blanks to a multiple of 64 bytes. The
 * numbers follow.
 *
 * Nothing here touches a file; tensor/npz.h is the only user. */
#ifndef ATTN_TENSOR_NPY_H
#define ATTN_TENSOR_NPY_H

#include <stdbool.h>
#include <stddef.h>

#include "tensor/npz.h"

enum {
    NPY_START = 10,    /* bytes up to the dictionary */
    NPY_HEADER = 1024, /* bytes of the longest header that is read */
};

struct npy_shape {
    enum npz_type type;
    int ndim;
    int dims[NPZ_DIMS];
};

/* The number of elements; false when it is above 2^38. */
bool npy_count(const struct npy_shape *shape, size_t *count);

/* Writes the header of an array of that type and shape and returns its length. */
size_t npy_format(char header[NPY_HEADER], const struct npy_shape *shape);

/* The length of the whole header, from its first NPY_START bytes; 0 when these
 * are not the start of version 1.0 or the header is longer than NPY_HEADER. */
size_t npy_length(const char start[NPY_START]);

/* Reads the header of npy_length() bytes. Returns NULL, or what is wrong with
 * it ("is not …"). */
const char *npy_parse(const char *header, size_t len, struct npy_shape *shape);

#endif
