/* What attn-eval can do: a function for each of its metrics. */
#ifndef ATTN_CLI_EVAL_H
#define ATTN_CLI_EVAL_H

#include <stdbool.h>

#include "metrics/bleu.h"

/* The command line. Paths and the like are borrowed. */
struct eval {
    const char *const *operands; /* what follows the metric */
    int n_operands;              /* as many as it asks for */

    bool score_only;
    int width; /* digits of the score; -1: the usual ones */

    const char *hypothesis; /* bleu: path */
    enum bleu_smooth smooth;
    double smooth_value; /* negative: the method's usual one */

    const char *source, *target; /* links: paths of the texts, or NULL */
    int base[2];                 /* numbers of the first words in the files */
    bool reversed;               /* the second file is target-source */
};

/* They print to stdout. 0, or -1 after reporting. */
int eval_bleu(const struct eval *eval);
int eval_aer(const struct eval *eval);
int eval_symmetrize(const struct eval *eval);

#endif
