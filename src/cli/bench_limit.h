/* The limit that a machine sets: its own matrix products. */
#ifndef ATTN_CLI_BENCH_LIMIT_H
#define ATTN_CLI_BENCH_LIMIT_H

#include "cli/probe.h"

/* `threads` threads multiply x[m,k] w[k,n] at the same time, each its own
 * operands by itself, again and again for so long. */
struct limit_question {
    int threads, m, n, k;
    double seconds;
};

struct limit_answer {
    double gflops; /* of all of them together */
};

extern const struct probe_kind limit_probe; /* setup: NULL */

#endif
