/* Parameters made ready for products (tensor/packed.h).
 *
 * For search: each matrix that linear() multiplies with. For training: those of
 * recurrences, for bf16 all, with their transposes for the way back. */
#ifndef ATTN_NN_PREPARED_H
#define ATTN_NN_PREPARED_H

#include "nn/params.h"
#include "tensor/packed.h"

/* Zeroes: nothing is prepared, nor is anything to be. */
struct prepared {
    int count;
    struct packed **straight;  // [count] of the parameters, NULL: none
    struct packed **turned;    // [count] the same; NULL: not for training
    enum precision *precision; // [count] of products with what is not prepared
};

void prepared_init(struct prepared *r, const struct params *p,
                   enum precision precision, bool training);
void prepared_release(struct prepared *r);

/* Takes the values of parameter number i; again after they change. Several
 * threads may do this, each with other parameters. */
void prepared_fill(struct prepared *r, const struct params *p, int i);

size_t prepared_bytes(const struct prepared *r);

#endif
