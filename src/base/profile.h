/* Where the time goes, by operation.
 *
 *     profile_enter(p, "linear", PROFILE_FORWARD);    what follows is its time,
 *     profile_work(p, 2.0 * m * n * k);               and so many operations,
 *     profile_enter(p, "gru_gates", PROFILE_FORWARD); up to here
 *     profile_leave(p);
 *
 * A profile belongs to one thread; those of all threads are added up for the
 * report. Every function takes NULL and does nothing then: that is how the
 * clock stays out of ordinary runs. */
#ifndef ATTN_BASE_PROFILE_H
#define ATTN_BASE_PROFILE_H

#include <stdio.h>

enum profile_way { PROFILE_FORWARD, PROFILE_BACKWARD, PROFILE_WAYS };

struct profile;

struct profile *profile_new(void);
void profile_free(struct profile *p);

/* The names are compared as texts and borrowed: literals. */
void profile_enter(struct profile *p, const char *name, enum profile_way way);
void profile_leave(struct profile *p);

/* Floating-point operations of products in what was entered last. */
void profile_work(struct profile *p, double operations);

/* Adds the times of another profile. */
void profile_add(struct profile *to, const struct profile *from);

/* A table, the dearest operation first. `seconds` is what the threads had in
 * all: what no operation took was spent waiting or outside of operations. */
void profile_print(const struct profile *p, double seconds, FILE *out);

#endif
