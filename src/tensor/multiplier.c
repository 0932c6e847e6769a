#include "tensor/multiplier.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "tensor/product.h"

struct multiplier {
    struct products *products;
    void *room;
    size_t bytes;
};

struct multiplier *multiplier_new(void)
{
    struct multiplier *m = xcalloc(1, sizeof(*m));
    m->products = products_new();
    return m;
}

void multiplier_free(struct multiplier *m)
{
    if (!m)
        return;
    products_free(m->products);
    free(m->room);
    free(m);
}

void *multiplier_room(struct multiplier *m, size_t bytes)
{
    if (bytes > m->bytes) {
        free(m->room);
        m->room = xaligned(bytes);
        m->bytes = bytes;
    }
    return m->room;
}

struct products *multiplier_products(struct multiplier *m)
{
    return m->products;
}
