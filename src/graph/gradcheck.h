/* Gradients against finite differences.
 *
 * A scalar function of some leaves is computed at six points around each
 * element that is looked at; three central differences and Richardson's
 * extrapolation give its slope with an error of the sixth order in the step,
 * so that the step can be long enough for float32:
 *
 *     struct gradcheck_leaf leaves[] = { { "W", W, dW, size }, … };
 *     gradcheck(&(struct gradcheck){ .function = loss, .arg = &…,
 *                                    .leaves = leaves, .count = 2 })
 *
 * The function builds its graph anew at each call, from the leaves' values as
 * they then stand, and is one and the same: what is random in it (dropout)
 * must be fixed by a seed. Values are as they were when gradcheck() returns;
 * gradients are those of the function. For tests. */
#ifndef ATTN_GRAPH_GRADCHECK_H
#define ATTN_GRAPH_GRADCHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node;

/* The value of the function; with `backward` the gradients of the leaves are
 * added to, too. */
typedef double gradcheck_fn(void *arg, bool backward);

struct gradcheck_leaf {
    const char *name;
    float *value, *grad;
    size_t size;
};

struct gradcheck {
    gradcheck_fn *function;
    void *arg;
    const struct gradcheck_leaf *leaves;
    int count;

    /* Elements of each leaf that are looked at: the one with the largest
     * gradient, and others at random. 0: all of them. */
    size_t samples;
    uint64_t seed;

    double step;      /* 0: 1/32 */
    double tolerance; /* of 1 + |slope|; 0: 1e-4 */
};

/* 0, or -1 after reporting the worst element: leaf, index, both slopes. */
int gradcheck(const struct gradcheck *check);

/* A scalar of a whole matrix: sum_i w_i y_i in double precision with random
 * weights in +- 1, a function of the seed. In training the gradient of y is
 * set going: dy_i += w_i. */
double gradcheck_functional(struct node *y, uint64_t seed);

#endif
