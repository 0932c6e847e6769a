/* A probe: something measured in a process of its own.
 *
 *     struct probe *p = probe_new(&training_probe, &setup);
 *     while (…)
 *         probe_ask(p, &question, &answer);
 *     probe_free(p);
 *
 * The process makes its state once and then waits to be asked, so that several
 * probes can be measured in turn while each has threads and memory, and hence
 * a peak of memory, of its own. It inherits what the caller holds: `setup` may
 * point anywhere. Start probes before any thread. */
#ifndef ATTN_CLI_PROBE_H
#define ATTN_CLI_PROBE_H

#include <stddef.h>

#include "base/process.h" /* what a probe answers with */

struct probe;

struct probe_kind {
    size_t question, answer; /* bytes of the two structs */

    /* In the process: the state, or NULL after reporting; and a measurement,
     * 0 or -1 after reporting. The end of the process releases the state. */
    void *(*start)(const void *setup);
    int (*measure)(void *state, const void *question, void *answer);
};

/* Returns when the state stands. NULL after reporting. */
struct probe *probe_new(const struct probe_kind *kind, const void *setup);

/* 0, or -1 after reporting. */
int probe_ask(struct probe *p, const void *question, void *answer);

/* Ends the process. NULL is fine. */
void probe_free(struct probe *p);

#endif
