#include "train/schedule.h"

#include <math.h>
#include <stddef.h>

#include "config/config.h"
#include "nn/choice.h"
#include "train/position.h"

static double constant(const struct config *cfg, const struct position *p)
{
    (void)cfg;
    (void)p;
    return 1;
}

static double plateau(const struct config *cfg, const struct position *p)
{
    (void)cfg;
    return p->factor;
}

static double inverse(const struct config *cfg, const struct position *p)
{
    double warmup = fmax(cfg->training.warmup, 1);
    return sqrt(warmup / fmax((double)p->update + 1, warmup));
}

const struct schedule schedules[] = {
    { "constant", constant, false },
    { "plateau", plateau, true },
    { "inverse", inverse, false },
    { NULL, NULL, false },
};

const struct schedule *schedule_named(const struct config *cfg)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; schedules[i].name; i++)
        choice_add(&choice, schedules[i].name, NULL);
    int found = choice_of(&choice, cfg, "training.schedule");
    return found < 0 ? NULL : &schedules[found];
}

double schedule_rate(const struct schedule *s, const struct config *cfg,
                     const struct position *p)
{
    double rate = cfg->training.learning_rate * s->factor(cfg, p);
    double next = (double)p->update + 1;
    if (next < cfg->training.warmup)
        rate *= next / cfg->training.warmup;
    return rate;
}
