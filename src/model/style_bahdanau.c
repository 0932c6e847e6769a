/* c_t from s_{t-1}; s_t = cell([E y_{t-1}; c_t], s_{t-1}); readout_deep()
 * Bahdanau et al. 2015, app. A.2
 *
 * decoder.0.C [M,gH] reads the context. With stacked layers s is the output of
 * the top one. */
#include "config/config.h"
#include "model/decoder.h"
#include "model/readout.h"

static int declare(struct decoder *d, struct params *p,
                   const struct config *cfg)
{
    readout_deep_declare(d, p, cfg);
    return attention_width(&d->attention);
}

static void step(const struct decoder *d, struct graph *g,
                 const struct decoder_memory *memory, const struct ragged *over,
                 const struct decoder_inputs *inputs,
                 const struct decoder_state *before, struct decoder_step *out)
{
    struct node *query = decoder_top(d, before);
    struct node *context = decoder_attend(d, g, memory, over, query, before,
                                          out);
    out->feature[0] = decoder_recur(d, g, inputs->gates, context, before,
                                    &out->after);
    out->feature[1] = context;
}

const struct style style_bahdanau = { "bahdanau", declare, step, readout_deep };
