/* s'_t = cell1(E y_{t-1}, s_{t-1}); c_t from s'_t; s_t = cell2(c_t, s'_t);
 * readout_deep()
 * Nematus, Sennrich et al. 2017, sec. 3 (a GRU there)
 *
 * cell1 is decoder.0, cell2 decoder.0.second, which has the same state; without
 * a context (kind none) there is no cell2. */
#include "config/config.h"
#include "model/decoder.h"
#include "model/names.h"
#include "model/readout.h"

static int declare(struct decoder *d, struct params *p,
                   const struct config *cfg)
{
    int M = attention_width(&d->attention);
    readout_deep_declare(d, p, cfg);
    if (M > 0)
        cell_declare(&d->second, cell_named(cfg, "decoder.cell"), p,
                     "decoder.0.second",
                     &(struct cell_shape){
                         .input = M,
                         .hidden = d->hidden,
                         .layer_norm = cfg->decoder.layer_norm });
    return 0;
}

static void step(const struct decoder *d, struct graph *g,
                 const struct decoder_memory *memory, const struct ragged *over,
                 const struct decoder_inputs *inputs,
                 const struct decoder_state *before, struct decoder_step *out)
{
    struct node *middle[CELL_STATES] = { NULL, NULL };
    cell_step(g, &d->cell[0], inputs->gates, NULL, before->part, middle);
    struct node *context = decoder_attend(d, g, memory, over, middle[0], before,
                                          out);
    if (context)
        cell_step(g, &d->second, cell_inputs(g, &d->second, context), NULL,
                  middle, out->after.part);
    else
        for (int s = 0; s < CELL_STATES; s++)
            out->after.part[s] = middle[s];
    out->feature[0] = decoder_stack(d, g, out->after.part[0], before,
                                    &out->after);
    out->feature[1] = context;
}

const struct style style_conditional = { "conditional", declare, step,
                                         readout_deep };
