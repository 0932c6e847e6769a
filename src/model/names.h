/* NAME keys whose tables belong to this layer or to nn. */
#ifndef ATTN_MODEL_NAMES_H
#define ATTN_MODEL_NAMES_H

struct config;
struct cell;

/* The cell that the key names, or NULL after reporting. */
const struct cell *cell_named(const struct config *cfg, const char *key);

/* The names that a NAME key may have, ", " between them; NULL: not known.
 * For help and the example configuration; has the type config_choices_fn. The
 * text belongs to a buffer of the calling thread until its next call. */
const char *model_choices(const char *key);

#endif
