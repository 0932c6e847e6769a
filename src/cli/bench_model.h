/* The models that attn-bench trains and translates with. */
#ifndef ATTN_CLI_BENCH_MODEL_H
#define ATTN_CLI_BENCH_MODEL_H

#include "tensor/precision.h"

struct bench_size;
struct config;
struct model;
struct vocab;

/* The configuration of a model of this size, and of its training, whatever the
 * defaults are. 0, or -1 after reporting. */
int bench_model_configure(struct config *cfg, const struct bench_size *size);

/* For further keys. */
int bench_model_set(struct config *cfg, const char *key, int value);

/* Writes a model file in this precision. 0, or -1 after reporting. */
int bench_model_write(const char *path, const struct config *cfg,
                      const struct model *model, const struct vocab *source,
                      const struct vocab *target, enum precision precision);

#endif
