/* The names that NAME keys may have, for help and the example configuration. */
#ifndef ATTN_TRAIN_CHOICES_H
#define ATTN_TRAIN_CHOICES_H

/* Has the type config_choices_fn; knows all keys of all layers. The text is
 * valid until the thread's next call. */
const char *train_choices(const char *key);

#endif
