/* The bytes of one member of a zip file, inflated as they are read.
 *
 * libzip hands out the compressed bytes, which are inflated and checked here,
 * straight to where they belong and in pieces that stay in the cache; libzip's
 * own way copies them twice, 8 kB at a time. Members of one file may be read
 * by several threads: a lock is held while libzip is asked. */
#ifndef ATTN_TENSOR_NPZ_STREAM_H
#define ATTN_TENSOR_NPZ_STREAM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zip.h>

/* What the directory of the zip says of a member. */
struct npz_entry {
    zip_uint64_t index;
    uint32_t crc; /* of the inflated bytes */
    bool deflated;
};

struct npz_stream;

/* The functions below give NULL when all went well, or what is wrong, for a
 * message: text that lasts until the next call.
 *
 * Opens a stream, which npz_stream_close() frees also after an error. */
const char *npz_stream_open(struct npz_stream **stream, zip_t *zip,
                            pthread_mutex_t *lock,
                            const struct npz_entry *entry);

/* Reads just that many bytes. */
const char *npz_stream_read(struct npz_stream *s, void *out, size_t bytes);

/* Makes sure that there are no more bytes, and of their checksum. */
const char *npz_stream_end(struct npz_stream *s);

void npz_stream_close(struct npz_stream *s);

#endif
