/* c_t from s_{t-1}; s_t = cell([E y_{t-1}; c_t], s_{t-1});
 * readout t_t = f(s_t W_s + E y_{t-1} W_y + c_t W_c + b), f = tanh or linear
 * Bahdanau et al. 2015, app. A.2 (there with maxout)
 *
 * readout.W_s [H,R], readout.W_y [E,R], readout.W_c [M,R], readout.b [1,R];
 * R is decoder.readout_size, or else E. With stacked layers s is the output of
 * the top one. */
#include "config/config.h"
#include "model/decoder.h"
#include "model/readout.h"

static int declare(struct decoder *d, struct params *p,
                   const struct config *cfg)
{
    int M = attention_width(&d->attention);
    int E = d->embedding_width;
    d->input_feeding = false;
    d->readout_width = cfg->decoder.readout_size > 0
                           ? cfg->decoder.readout_size
                           : E;
    int R = d->readout_width;
    d->readout_state = readout_param(p, "W_s", d->hidden, R);
    d->readout_word = readout_param(p, "W_y", E, R);
    d->readout_context = M > 0 ? readout_param(p, "W_c", M, R) : -1;
    d->readout_bias = readout_param(p, "b", 1, R);
    return M;
}

static void step(const struct decoder *d, struct graph *g,
                 const struct decoder_memory *memory,
                 const struct ragged *over,
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

static struct node *readout(const struct decoder *d, struct graph *g,
                            const struct decoder_inputs *inputs,
                            struct node *const *feature)
{
    struct node *t = inputs->readout;
    t = linear_into(g, t, feature[0], param(g, d->readout_state));
    if (feature[1])
        t = linear_into(g, t, feature[1], param(g, d->readout_context));
    return dropout(g, readout_activate(d, g, t), d->dropout);
}

const struct style style_bahdanau = { "bahdanau", declare, step, readout };
