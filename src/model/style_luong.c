/* s_t = cell([E y_{t-1}; h~_{t-1}], s_{t-1})   (h~ with input feeding only);
 * c_t from s_t; readout h~_t = f([c_t; s_t] W_c + b), f of decoder.readout
 * Luong et al. 2015, eqs. 5 and sec. 3.3 (there without b)
 *
 * readout.W_s [H,R], readout.W_c [M,R], readout.b [1,R]: W_c of the paper in
 * two pieces; R is decoder.readout_size, or else H. decoder.0.C [R,gH] reads
 * h~ of the step before. */
#include "config/config.h"
#include "model/decoder.h"
#include "model/readout.h"

static int declare(struct decoder *d, struct params *p,
                   const struct config *cfg)
{
    int M = attention_width(&d->attention);
    d->readout_width = cfg->decoder.readout_size > 0 ? cfg->decoder.readout_size
                                                     : d->hidden;
    d->readout_state = readout_param(d, p, "W_s", d->hidden);
    d->readout_context = M > 0 ? readout_param(d, p, "W_c", M) : -1;
    d->readout_bias = readout_param(d, p, "b", 1);
    d->readout_word = -1;
    return d->input_feeding ? d->readout_width : 0;
}

static struct node *combine(const struct decoder *d, struct graph *g,
                            const struct stack *state,
                            const struct stack *context)
{
    struct node *t = linear(g, stack_rows(g, state), param(g, d->readout_state),
                            param(g, d->readout_bias));
    if (context->count)
        t = linear_stack_into(g, t, context, param(g, d->readout_context));
    return readout_activate(d, g, t);
}

static void step(const struct decoder *d, struct graph *g,
                 const struct decoder_memory *memory, const struct ragged *over,
                 const struct decoder_inputs *inputs,
                 const struct decoder_state *before, struct decoder_step *out)
{
    struct node *state = decoder_recur(d, g, inputs->gates,
                                       before->part[DECODER_FEED], before,
                                       &out->after);
    struct node *context = decoder_attend(d, g, memory, over, state, before,
                                          out);
    if (!d->input_feeding) {
        out->feature[0] = state;
        out->feature[1] = context;
        return;
    }
    out->feature[0] = combine(d, g, &(struct stack){ &state, 1 },
                              &(struct stack){ &context, context != NULL });
    out->after.part[DECODER_FEED] = out->feature[0];
}

static struct node *readout(const struct decoder *d, struct graph *g,
                            const struct decoder_inputs *inputs,
                            const struct stack *feature)
{
    (void)inputs;
    return d->input_feeding ? stack_rows(g, &feature[0])
                            : combine(d, g, &feature[0], &feature[1]);
}

const struct style style_luong = { "luong", declare, step, readout };
