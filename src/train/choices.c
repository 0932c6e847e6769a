#include "train/choices.h"

#include <stddef.h>
#include <string.h>

#include "model/names.h"
#include "nn/choice.h"
#include "train/optimizer.h"
#include "train/schedule.h"
#include "train/validation.h"

static const char *optimizer_row(int i)
{
    return optimizers[i] ? optimizers[i]->name : NULL;
}

static const char *schedule_row(int i)
{
    return schedules[i].name;
}

static const char *metric_row(int i)
{
    return validation_metrics[i].name;
}

static const struct choice_table tables[] = {
    { "training.optimizer", optimizer_row, NULL },
    { "training.schedule", schedule_row, NULL },
    { "validation.metric", metric_row, NULL },
    { "training.precision", NULL, "fp32, bf16" },
    { "translation.precision", NULL, "fp32, bf16, int8" },
    { "training.batch_unit", NULL, "sentences, tokens" },
    { "training.normalization", NULL, "tokens, sentences" },
    { NULL, NULL, NULL },
};

const char *train_choices(const char *key)
{
    const char *names = choice_text(tables, key);
    return names ? names : model_choices(key);
}
