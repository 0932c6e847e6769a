/* How the step size goes: a table, `training.schedule`.
 *
 *     constant    rate
 *     plateau     rate times `decay` for every `patience` + 1 validations in a
 *                 row without improvement
 *     inverse     rate sqrt(max(warmup, 1) / max(update, warmup, 1))
 *
 * Each times update / warmup during the first `warmup` updates. */
#ifndef ATTN_TRAIN_SCHEDULE_H
#define ATTN_TRAIN_SCHEDULE_H

#include <stdbool.h>

struct config;
struct position;

struct schedule {
    const char *name;
    double (*factor)(const struct config *cfg, const struct position *p);
    bool falls; /* on a plateau */
};

extern const struct schedule schedules[]; /* name NULL after the last */

/* The schedule of the configuration, or NULL after reporting. */
const struct schedule *schedule_named(const struct config *cfg);

/* Step size of the update that comes after this position. */
double schedule_rate(const struct schedule *s, const struct config *cfg,
                     const struct position *p);

#endif
