/* Nodes one below the other, all of the same width, as one matrix would have
 * their rows: the steps of a recurrence. */
#ifndef ATTN_GRAPH_STACK_H
#define ATTN_GRAPH_STACK_H

#include "graph/graph.h"

struct stack {
    struct node *const *parts; // [count], kept
    int count;
};

int stack_height(const struct stack *x);

/* Any part that wants a gradient makes the whole want one: such a part, or the
 * first. */
struct node *stack_wanting(const struct stack *x);

/* to[rows,cols] = x, and where wanted dx += from[rows,cols]. */
void stack_values(const struct stack *x, float *to);
void stack_add_gradients(const struct stack *x, const float *from);

#endif
