/* What tests share that set keys of a configuration. */
#ifndef ATTN_UNIT_SETTINGS_H
#define ATTN_UNIT_SETTINGS_H

struct config;

/* The value must be a good one. */
void set(struct config *cfg, const char *key, const char *value);
void set_number(struct config *cfg, const char *key, int value);

#endif
