#include "model/model.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "config/config.h"
#include "model/family.h"
#include "nn/choice.h"

extern const struct model_family family_seq2seq;

const struct model_family *const model_families[] = { &family_seq2seq, NULL };

static const struct model_family *family_named(const struct config *cfg)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; model_families[i]; i++)
        choice_add(&choice, model_families[i]->name, NULL);
    int found = choice_of(&choice, cfg, "model.type");
    return found < 0 ? NULL : model_families[found];
}

struct model *model_declare(const struct config *cfg, int source_size,
                            int target_size)
{
    const struct model_family *family = family_named(cfg);
    if (!family)
        return NULL;
    struct model *m = xcalloc(1, sizeof(*m));
    m->family = family;
    m->source_size = source_size;
    m->target_size = target_size;
    if (family->declare(m, cfg) < 0) {
        model_free(m);
        return NULL;
    }
    return m;
}

struct model *model_new(const struct config *cfg, int source_size,
                        int target_size)
{
    struct model *m = model_declare(cfg, source_size, target_size);
    if (m)
        params_allocate(&m->params);
    return m;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    model_unprepare(m);
    model_stop_training(m);
    params_release(&m->params);
    free(m);
}

void model_prepare(struct model *m, enum precision precision)
{
    model_unprepare(m);
    prepared_init(&m->search, &m->params, precision, false);
    for (int i = 0; i < m->search.count; i++)
        prepared_fill(&m->search, &m->params, i);
    output_prepare(&m->decoder.output, &m->params, precision);
}

bool model_prepare_gather(struct model *m)
{
    return output_prepare_gather(&m->decoder.output, &m->params);
}

void model_unprepare(struct model *m)
{
    prepared_release(&m->search);
    output_unprepare(&m->decoder.output);
}

void model_train_in(struct model *m, enum precision precision)
{
    prepared_init(&m->training, &m->params, precision, true);
}

void model_stop_training(struct model *m)
{
    prepared_release(&m->training);
}

void model_prepare_training(struct model *m, int parameter)
{
    prepared_fill(&m->training, &m->params, parameter);
}

void model_bind(const struct model *m, struct gradients *grads, struct graph *g)
{
    g->training = grads != NULL;
    params_bind(&m->params, grads, grads ? &m->training : &m->search, g);
}

struct loss model_loss(const struct model *m, struct graph *g,
                       const struct batch *batch, float scale, double *pair_nll,
                       struct model_trace *trace)
{
    return m->family->loss(m, g, batch, scale, pair_nll, trace);
}

void model_encode(const struct model *m, struct graph *g,
                  const struct side *source, struct decoder_memory *memory)
{
    m->family->encode(m, g, source, memory);
}

struct columns *model_gather(const struct model *m, struct graph *g,
                             const int *ids, int n)
{
    return output_gather(&m->decoder.output, g, ids, n);
}

void model_begin(const struct model *m, struct graph *g,
                 const struct decoder_memory *memory, const struct ragged *over,
                 struct decoder_state *state)
{
    m->family->begin(m, g, memory, over, state);
}

void model_step(const struct model *m, struct graph *g,
                const struct decoder_memory *memory, const struct ragged *over,
                const int *ids, int n, const struct decoder_state *before,
                struct model_step *step)
{
    m->family->step(m, g, memory, over, ids, n, before, step);
}
