#include "model/decoder.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "config/config.h"
#include "model/names.h"
#include "model/readout.h"
#include "nn/choice.h"

#define X(name) extern const struct style style_##name;
#include "styles.inc"
#undef X

#define X(name) &style_##name,
const struct style *const styles[] = {
#include "styles.inc"
    NULL
};
#undef X

static const struct style *style_named(const struct config *cfg)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; styles[i]; i++)
        choice_add(&choice, styles[i]->name, NULL);
    int found = choice_of(&choice, cfg, "decoder.style");
    return found < 0 ? NULL : styles[found];
}

/* Which arrays are one (Press & Wolf 2017). */
static int declare_embedding(struct decoder *d, struct params *p,
                             const struct config *cfg, const struct encoder *e,
                             int vocabulary, bool *is_tied)
{
    static const char *const names[] = { "none", "target", "all" };
    int tied = config_name(cfg, "model.tied_embeddings", names, 3);
    if (tied < 0)
        return -1;
    *is_tied = tied > 0;
    if (tied < 2) {
        d->embedding = params_declare(p, &(struct param){
                                             .name = "target.embedding",
                                             .rows = vocabulary,
                                             .cols = cfg->model.embedding,
                                             .init = INIT_EMBEDDING,
                                             .table = !*is_tied });
        return 0;
    }
    d->embedding = e->embedding;
    p->list[d->embedding].table = false;
    if (p->list[d->embedding].rows != vocabulary)
        return config_error(cfg, "model.tied_embeddings",
                            "'all' needs one vocabulary for both sides, but "
                            "they have %d and %d entries",
                            p->list[d->embedding].rows, vocabulary);
    return 0;
}

static void declare_cells(struct decoder *d, struct params *p,
                          const struct cell *cell, int second, bool norm)
{
    for (int l = 0; l < d->layers; l++) {
        char *prefix = xasprintf("decoder.%d", l);
        cell_declare(&d->cell[l], cell, p, prefix,
                     &(struct cell_shape){ .input = l == 0 ? d->embedding_width
                                                           : d->hidden,
                                           .context = l == 0 ? second : 0,
                                           .hidden = d->hidden,
                                           .layer_norm = norm,
                                           .at_once = l == 0 });
        free(prefix);
    }
}

int decoder_declare(struct decoder *d, struct params *p,
                    const struct config *cfg, const struct encoder *e,
                    int vocabulary)
{
    const struct cell *cell = cell_named(cfg, "decoder.cell");
    bool tied;
    *d = (struct decoder){
        .style = style_named(cfg),
        .readout = readout_named(cfg),
        .layers = cfg->decoder.layers,
        .hidden = cfg->decoder.hidden,
        .embedding_width = cfg->model.embedding,
        .residual = cfg->decoder.residual,
        .input_feeding = cfg->decoder.input_feeding,
        .dropout = (float)cfg->training.dropout,
        .word_dropout = (float)cfg->training.word_dropout,
    };
    if (!cell || !d->style || !d->readout ||
        (cfg->decoder.layer_norm &&
         cell_check_norm(cell, d->hidden, cfg, "decoder.layer_norm") < 0) ||
        declare_embedding(d, p, cfg, e, vocabulary, &tied) < 0 ||
        attention_declare(&d->attention, p, cfg, d->hidden, e->width) < 0 ||
        bridge_declare(&d->bridge, p, cfg, e, cell) < 0)
        return -1;
    int second = d->style->declare(d, p, cfg);
    if (second < 0)
        return -1;
    declare_cells(d, p, cell, second, cfg->decoder.layer_norm);
    return output_declare(&d->output, p, cfg,
                          &(struct output_shape){ .width = d->readout_width,
                                                  .vocabulary = vocabulary,
                                                  .embedding = d->embedding,
                                                  .tied = tied });
}

void decoder_inputs(const struct decoder *d, struct graph *g, const int *ids,
                    int n, struct decoder_inputs *inputs)
{
    struct node *y = lookup(g, param(g, d->embedding), ids, n);
    y = dropout(g, dropout_rows(g, y, d->word_dropout), d->dropout);
    inputs->gates = cell_inputs(g, &d->cell[0], y);
    inputs->readout = d->readout_word < 0
                          ? NULL
                          : linear(g, y, param(g, d->readout_word),
                                   param(g, d->readout_bias));
}

static struct attention_state attention_part(const struct decoder_state *s)
{
    struct attention_state part;
    memcpy(part.part, s->part + DECODER_ATTENTION, sizeof(part.part));
    return part;
}

static void set_attention_part(struct decoder_state *s,
                               const struct attention_state *part)
{
    memcpy(s->part + DECODER_ATTENTION, part->part, sizeof(part->part));
}

void decoder_begin(const struct decoder *d, struct graph *g,
                   const struct decoder_memory *memory,
                   const struct ragged *over, struct decoder_state *state)
{
    memset(state, 0, sizeof(*state));
    for (int l = 0; l < d->layers; l++)
        for (int s = 0; s < d->cell[l].cell->states; s++)
            state->part[l * CELL_STATES + s] =
                bridge_state(&d->bridge, g, &memory->encoded, over,
                             memory->encoded.sentences, l, s);
    if (d->input_feeding)
        state->part[DECODER_FEED] = graph_zeros(g, memory->encoded.sentences,
                                                d->readout_width);
    int top = LAYERS - 1;
    while (!memory->encoded.last[top][0])
        top--;
    struct attention_state first;
    attention_begin(&d->attention, g, &memory->attention, over,
                    memory->encoded.last[top][0], &first);
    set_attention_part(state, &first);
}

void decoder_step(const struct decoder *d, struct graph *g,
                  const struct decoder_memory *memory,
                  const struct ragged *over,
                  const struct decoder_inputs *inputs,
                  const struct decoder_state *before, struct decoder_step *step)
{
    memset(step, 0, sizeof(*step));
    d->style->step(d, g, memory, over, inputs, before, step);
}

struct node *decoder_readout(const struct decoder *d, struct graph *g,
                             const struct decoder_inputs *inputs,
                             const struct stack *feature)
{
    return d->style->readout(d, g, inputs, feature);
}

struct node *decoder_recur(const struct decoder *d, struct graph *g,
                           struct node *gates, struct node *second,
                           const struct decoder_state *before,
                           struct decoder_state *after)
{
    cell_step(g, &d->cell[0], gates, second, before->part, after->part);
    return decoder_stack(d, g, after->part[0], before, after);
}

struct node *decoder_stack(const struct decoder *d, struct graph *g,
                           struct node *below,
                           const struct decoder_state *before,
                           struct decoder_state *after)
{
    for (int l = 1; l < d->layers; l++) {
        struct node *const *from = before->part + l * CELL_STATES;
        struct node **to = after->part + l * CELL_STATES;
        struct node *a = cell_inputs(g, &d->cell[l],
                                     dropout(g, below, d->dropout));
        cell_step(g, &d->cell[l], a, NULL, from, to);
        below = d->residual ? add(g, to[0], below) : to[0];
    }
    return below;
}

struct node *decoder_attend(const struct decoder *d, struct graph *g,
                            const struct decoder_memory *memory,
                            const struct ragged *over, struct node *query,
                            const struct decoder_state *before,
                            struct decoder_step *step)
{
    struct attention_state was = attention_part(before);
    struct attention_step attention;
    struct node *context = attention_step(&d->attention, g, &memory->attention,
                                          over, query, &was, &attention);
    step->weights = attention.weights;
    set_attention_part(&step->after, &attention.after);
    return context;
}

struct node *decoder_top(const struct decoder *d,
                         const struct decoder_state *state)
{
    return state->part[(d->layers - 1) * CELL_STATES];
}
