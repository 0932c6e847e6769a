#include "tensor/npz_stream.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"

enum {
    INPUT = 1 << 16,  /* compressed bytes asked for at a time */
    OUTPUT = 1 << 17, /* bytes inflated before their checksum is taken */
};

struct npz_stream {
    zip_file_t *file;
    pthread_mutex_t *lock;
    const struct npz_entry *entry;
    z_stream z; /* its input also without deflate */
    bool initialised, ended;
    unsigned long crc;
    unsigned char *input; // [INPUT]
};

const char *npz_stream_open(struct npz_stream **stream, zip_t *zip,
                            pthread_mutex_t *lock,
                            const struct npz_entry *entry)
{
    struct npz_stream *s = ARRAY_ZERO(s, 1);

    *stream = s;
    s->lock = lock;
    s->entry = entry;
    s->crc = crc32_z(0, NULL, 0);
    pthread_mutex_lock(lock);
    s->file = zip_fopen_index(zip, entry->index, ZIP_FL_COMPRESSED);
    pthread_mutex_unlock(lock);
    if (s->file == NULL)
        return zip_strerror(zip);
    s->input = xmalloc(INPUT);
    if (entry->deflated && inflateInit2(&s->z, -MAX_WBITS) != Z_OK)
        return "it cannot be inflated"; /* minus: without zlib's own header */
    s->initialised = entry->deflated;
    return NULL;
}

/* Has more input when there is more; avail_in stays 0 at the end. */
static const char *refill(struct npz_stream *s)
{
    if (s->z.avail_in > 0)
        return NULL;
    pthread_mutex_lock(s->lock);
    zip_int64_t n = zip_fread(s->file, s->input, INPUT);
    pthread_mutex_unlock(s->lock);
    if (n < 0)
        return zip_file_strerror(s->file);
    s->z.next_in = s->input;
    s->z.avail_in = (uInt)n;
    return NULL;
}

static void copy(struct npz_stream *s)
{
    uInt n = s->z.avail_in < s->z.avail_out ? s->z.avail_in : s->z.avail_out;

    memcpy(s->z.next_out, s->z.next_in, n);
    s->z.next_in += n;
    s->z.avail_in -= n;
    s->z.next_out += n;
    s->z.avail_out -= n;
}

/* Fills what room there is, or stops before at the end. */
static const char *fill(struct npz_stream *s)
{
    const char *wrong = NULL;

    while (s->z.avail_out > 0 && !s->ended) {
        if ((wrong = refill(s)) != NULL)
            return wrong;
        bool more = s->z.avail_in > 0;
        if (!s->entry->deflated) {
            s->ended = !more;
            copy(s);
            continue;
        }
        int got = inflate(&s->z, Z_NO_FLUSH);
        s->ended = got == Z_STREAM_END;
        if (got == Z_BUF_ERROR && !more)
            return "its compressed bytes are not complete";
        if (got != Z_OK && got != Z_STREAM_END)
            return s->z.msg != NULL ? s->z.msg : "it cannot be inflated";
    }
    return NULL;
}

const char *npz_stream_read(struct npz_stream *s, void *out, size_t bytes)
{
    unsigned char *to = out;

    while (bytes > 0) {
        uInt n = bytes < OUTPUT ? (uInt)bytes : OUTPUT;
        s->z.next_out = to;
        s->z.avail_out = n;
        const char *wrong = fill(s);
        if (wrong != NULL)
            return wrong;
        if (s->z.avail_out > 0)
            return "it is shorter than it says";
        s->crc = crc32_z(s->crc, to, n);
        to += n;
        bytes -= n;
    }
    return NULL;
}

const char *npz_stream_end(struct npz_stream *s)
{
    unsigned char more;

    s->z.next_out = &more;
    s->z.avail_out = 1;
    const char *wrong = fill(s);
    if (wrong == NULL)
        wrong = refill(s);
    if (wrong != NULL)
        return wrong;
    if (s->z.avail_out == 0 || s->z.avail_in > 0)
        return "it is longer than it says";
    return s->crc == s->entry->crc ? NULL : "its checksum does not match";
}

void npz_stream_close(struct npz_stream *s)
{
    if (s->file != NULL) {
        pthread_mutex_lock(s->lock);
        zip_fclose(s->file);
        pthread_mutex_unlock(s->lock);
    }
    if (s->initialised)
        inflateEnd(&s->z);
    free(s->input);
    free(s);
}
