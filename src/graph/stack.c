#include "graph/stack.h"

#include <assert.h>

#include "tensor/vec.h"

int stack_height(const struct stack *x)
{
    int rows = 0;
    for (int i = 0; i < x->count; i++)
        rows += x->parts[i]->rows;
    return rows;
}

struct node *stack_wanting(const struct stack *x)
{
    assert(x->count > 0);
    for (int i = 0; i < x->count; i++)
        if (x->parts[i]->grad)
            return x->parts[i];
    return x->parts[0];
}

void stack_values(const struct stack *x, float *to)
{
    for (int i = 0; i < x->count; i++) {
        const struct node *part = x->parts[i];
        assert(part->cols == x->parts[0]->cols);
        vec_copy(to, part->value, node_size(part));
        to += node_size(part);
    }
}

void stack_add_gradients(const struct stack *x, const float *from)
{
    for (int i = 0; i < x->count; i++) {
        const struct node *part = x->parts[i];
        if (part->grad)
            vec_add(part->grad, from, node_size(part));
        from += node_size(part);
    }
}
