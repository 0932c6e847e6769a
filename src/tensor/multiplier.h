/* What a thread needs to multiply: room for what is rounded or laid out on the
 * way, and the products that the library has compiled for it. */
#ifndef ATTN_TENSOR_MULTIPLIER_H
#define ATTN_TENSOR_MULTIPLIER_H

#include <stddef.h>

struct multiplier;
struct products;

struct multiplier *multiplier_new(void);
void multiplier_free(struct multiplier *m);

/* Room for so many bytes, aligned for vectors, until it is asked for again. */
void *multiplier_room(struct multiplier *m, size_t bytes);

struct products *multiplier_products(struct multiplier *m);

#endif
