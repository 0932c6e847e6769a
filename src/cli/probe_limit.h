/* The limits that a machine sets: its own matrix products, and its memory. */
#ifndef ATTN_CLI_PROBE_LIMIT_H
#define ATTN_CLI_PROBE_LIMIT_H

#include <stddef.h>

#include "cli/probe.h"
#include "tensor/precision.h"

/* `threads` threads do the same at the same time, each with operands of its
 * own, again and again for so long:
 *     m > 0    the product x[m,k] w[k,n]
 *     m = 0    y += a x, vectors of so many bytes together */
struct limit_question {
    int threads, m, n, k;
    enum precision precision; /* of the product; fp32: the library's sgemm */
    size_t bytes;
    double seconds;
};

struct limit_answer {
    /* Of all threads: GFLOP/s of products; GB/s, two reads and a write. */
    double rate;
};

extern const struct probe_kind limit_probe; /* setup: NULL */

/* 0, or -1 after reporting. */
int limit_ask(struct probe *p, const struct limit_question *question,
              double *rate);

#endif
