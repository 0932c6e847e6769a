#include "model/names.h"

#include "attention/attention.h"
#include "model/bridge.h"
#include "model/decoder.h"
#include "model/family.h"
#include "model/outputs.h"
#include "model/readout.h"
#include "nn/cell.h"
#include "nn/choice.h"

const struct cell *cell_named(const struct config *cfg, const char *key)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; cells[i]; i++)
        choice_add(&choice, cells[i]->name, NULL);
    int found = choice_of(&choice, cfg, key);
    return found < 0 ? NULL : cells[found];
}

static const char *family_name(int i)
{
    return model_families[i] ? model_families[i]->name : NULL;
}

static const char *cell_name(int i)
{
    return cells[i] ? cells[i]->name : NULL;
}

static const char *self_name(int i)
{
    return selves[i] ? selves[i]->name : NULL;
}

static const char *style_name(int i)
{
    return styles[i] ? styles[i]->name : NULL;
}

static const char *output_name(int i)
{
    return outputs[i] ? outputs[i]->name : NULL;
}

static const char *score_name(int i)
{
    return scores[i] ? scores[i]->name : NULL;
}

static const char *align_name(int i)
{
    return aligns[i] ? aligns[i]->name : NULL;
}

static const char *bridge_name(int i)
{
    return bridge_kinds[i].name;
}

static const char *readout_name(int i)
{
    return readout_kinds[i].name;
}

static const struct choice_table tables[] = {
    { "model.type", family_name, NULL },
    { "model.tied_embeddings", NULL, "none, target, all" },
    { "model.output", output_name, NULL },
    { "model.bridge", bridge_name, NULL },
    { "encoder.cell", cell_name, NULL },
    { "encoder.self_attention", self_name, NULL },
    { "decoder.cell", cell_name, NULL },
    { "decoder.style", style_name, NULL },
    { "decoder.readout", readout_name, NULL },
    { "attention.score", score_name, NULL },
    { "attention.kind", align_name, NULL },
    { "attention.memory", NULL, "shared, key_value" },
    { "attention.local_mode", NULL, "paper, renormalized, prior" },
    { NULL, NULL, NULL },
};

const char *model_choices(const char *key)
{
    return choice_text(tables, key);
}
