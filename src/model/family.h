/* Families of models, chosen by `model.type`: a table of plug-ins. */
#ifndef ATTN_MODEL_FAMILY_H
#define ATTN_MODEL_FAMILY_H

#include "model/model.h"

struct model_family {
    const char *name;

    /* Declares all parameters; -1 after reporting what does not fit. */
    int (*declare)(struct model *m, const struct config *cfg);

    /* See model.h. */
    struct loss (*loss)(const struct model *m, struct graph *g,
                        const struct batch *batch, float scale,
                        double *pair_nll, struct model_trace *trace);
    void (*encode)(const struct model *m, struct graph *g,
                   const struct side *source, struct decoder_memory *memory);
    void (*begin)(const struct model *m, struct graph *g,
                  const struct decoder_memory *memory,
                  const struct ragged *over, struct decoder_state *state);
    void (*step)(const struct model *m, struct graph *g,
                 const struct decoder_memory *memory, const struct ragged *over,
                 const int *ids, int n, const struct decoder_state *before,
                 struct model_step *step);
};

extern const struct model_family *const model_families[];

#endif
