#include "tensor/npz_seal.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"

enum {
    DIGITS = 8,
    COMMENT = sizeof SEAL_BLANK - 1,
    RECORD = 22, /* the zip's last record, before its comment */
    TAIL = RECORD + COMMENT,
    PIECE = 1 << 17,
};

/* The checksum of the first `bytes` bytes. */
static int checksum(FILE *in, int64_t bytes, char digits[DIGITS + 1])
{
    unsigned long crc = crc32_z(0, NULL, 0);
    unsigned char *piece = xmalloc(PIECE);
    int ret = fseeko(in, 0, SEEK_SET);

    while (ret == 0 && bytes > 0) {
        size_t want = bytes < PIECE ? (size_t)bytes : PIECE;
        if (fread(piece, 1, want, in) != want)
            ret = -1;
        crc = crc32_z(crc, piece, want);
        bytes -= (int64_t)want;
    }
    snprintf(digits, DIGITS + 1, "%08lx", crc);
    free(piece);
    return ret;
}

static int64_t file_length(FILE *file)
{
    return fseeko(file, 0, SEEK_END) < 0 ? -1 : (int64_t)ftello(file);
}

int seal_close(FILE *out, FILE *in)
{
    char digits[DIGITS + 1];
    int64_t at = file_length(in) - DIGITS;

    if (at < 0 || checksum(in, at, digits) < 0)
        return -1;
    if (fseeko(out, at, SEEK_SET) < 0)
        return -1;
    return fwrite(digits, 1, DIGITS, out) == DIGITS ? 0 : -1;
}

/* Are these the last bytes of a sealed file? */
static bool is_seal(const unsigned char tail[TAIL])
{
    return memcmp(tail, "PK\5\6", 4) == 0 && tail[RECORD - 2] == COMMENT &&
           tail[RECORD - 1] == 0 &&
           memcmp(tail + RECORD, SEAL_BLANK, COMMENT - DIGITS) == 0;
}

enum seal seal_check(FILE *in)
{
    unsigned char tail[TAIL];
    char digits[DIGITS + 1];
    int64_t length = file_length(in);

    if (length < 0)
        return SEAL_ERROR;
    if (length < TAIL)
        return SEAL_NONE;
    if (fseeko(in, length - TAIL, SEEK_SET) < 0 ||
        fread(tail, 1, TAIL, in) != TAIL)
        return SEAL_ERROR;
    if (!is_seal(tail))
        return SEAL_NONE;
    if (checksum(in, length - DIGITS, digits) < 0)
        return SEAL_ERROR;
    return memcmp(tail + TAIL - DIGITS, digits, DIGITS) == 0 ? SEAL_GOOD
                                                             : SEAL_WRONG;
}
