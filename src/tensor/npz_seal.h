/* The seal of a model file: its zip comment, which holds the CRC-32 of all
 * bytes before the checksum's own eight digits.
 *
 * zip leaves much unprotected: headers, names, time stamps, padding bits. With
 * the seal no bit of the file can flip, and none be lost or added, unseen. */
#ifndef ATTN_TENSOR_NPZ_SEAL_H
#define ATTN_TENSOR_NPZ_SEAL_H

#include <stdio.h>

/* The comment to end the zip file with before it is sealed. (Its length is no
 * power of two: no single flipped bit makes it the empty comment.) */
#define SEAL_BLANK "attn crc32 00000000"

enum seal {
    SEAL_GOOD,
    SEAL_NONE,  /* the file does not end in a seal */
    SEAL_WRONG, /* it does, but of other bytes */
    SEAL_ERROR, /* the file cannot be read: errno */
};

/* Writes the checksum into the blank seal at the end of the file which `out`
 * writes to and `in` reads. Returns 0, or -1 with errno. */
int seal_close(FILE *out, FILE *in);

/* Reads the whole file and compares. Leaves it at an undefined place. */
enum seal seal_check(FILE *in);

#endif
