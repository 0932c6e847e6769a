#include "train/validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/text.h"
#include "base/workers.h"
#include "config/config.h"
#include "metrics/bleu.h"
#include "model/model.h"
#include "nn/choice.h"
#include "search/scorer.h"
#include "search/translator.h"

enum { VALIDATION_BATCH = 64 };

static double perplexity_value(const struct validation_result *r)
{
    return r->perplexity;
}

static double bleu_value(const struct validation_result *r)
{
    return r->bleu;
}

const struct validation_metric validation_metrics[] = {
    { "perplexity", false, perplexity_value, false },
    { "bleu", true, bleu_value, true },
    { NULL, false, NULL, false },
};

const struct validation_metric *validation_metric_named(
    const struct config *cfg)
{
    struct choice choice;
    choice_init(&choice);
    for (int i = 0; validation_metrics[i].name; i++)
        choice_add(&choice, validation_metrics[i].name, NULL);
    int found = choice_of(&choice, cfg, "validation.metric");
    return found < 0 ? NULL : &validation_metrics[found];
}

/* The lines that the corpus has kept: those with words on both sides. */
static int read_references(struct validation *v)
{
    struct lines source = { 0 }, target = { 0 };
    char *s, *t;
    size_t s_len, t_len, n = 0;
    int got = -1;
    ARRAY_ZERO(v->reference, v->corpus.pairs);
    if (lines_open(&source, v->cfg->data.valid_source) < 0 ||
        lines_open(&target, v->cfg->data.valid_target) < 0)
        goto out;
    while ((got = lines_next(&source, &s, &s_len)) > 0 &&
           (got = lines_next(&target, &t, &t_len)) > 0)
        if (!text_is_blank(s, s_len) && !text_is_blank(t, t_len) &&
            n < v->corpus.pairs)
            v->reference[n++] = xasprintf("%.*s", (int)t_len, t);
out:
    lines_release(&source);
    lines_release(&target);
    return got < 0 ? -1 : 0;
}

int validation_init(struct validation *v, const struct config *cfg,
                    const struct model *model, const struct vocab *source,
                    const struct vocab *target, struct workers *workers)
{
    *v = (struct validation){ .cfg = cfg,
                              .model = model,
                              .source = source,
                              .target = target,
                              .workers = workers };
    if (!cfg->data.valid_source[0] && !cfg->data.valid_target[0])
        return 0;
    if (!cfg->data.valid_source[0] || !cfg->data.valid_target[0])
        return config_error(cfg,
                            cfg->data.valid_source[0] ? "data.valid_target"
                                                      : "data.valid_source",
                            "a validation text has two sides, but this one "
                            "is not set");
    if (lines_rereadable(cfg->data.valid_source) < 0 ||
        lines_rereadable(cfg->data.valid_target) < 0 ||
        corpus_read(&v->corpus, cfg->data.valid_source, cfg->data.valid_target,
                    source, target, 0) < 0 ||
        read_references(v) < 0)
        return -1;
    ARRAY_ZERO(v->nll, v->corpus.pairs);
    return 0;
}

void validation_release(struct validation *v)
{
    for (size_t i = 0; v->reference && i < v->corpus.pairs; i++)
        free(v->reference[i]);
    free(v->reference);
    free(v->nll);
    corpus_release(&v->corpus);
    memset(v, 0, sizeof(*v));
}

static double perplexity(struct validation *v)
{
    double sum = 0;
    struct scorer *scorer = scorer_new(v->model, v->workers);
    scorer_corpus(scorer, &v->corpus, VALIDATION_BATCH, v->nll);
    scorer_free(scorer);
    for (size_t i = 0; i < v->corpus.pairs; i++)
        sum += v->nll[i];
    return exp(sum / (double)(v->corpus.tokens[1] + v->corpus.pairs));
}

struct bleu_sum {
    struct validation *v;
    struct bleu bleu;
    struct text line;
};

static void add_hypothesis(void *arg, size_t pair, const struct hypothesis *h)
{
    struct bleu_sum *sum = arg;
    const char *reference = sum->v->reference[pair];
    text_reset(&sum->line);
    for (int i = 0; i < h->len; i++) {
        text_adds(&sum->line, i > 0 ? " " : "");
        text_adds(&sum->line, vocab_token(sum->v->target, h->ids[i]));
    }
    bleu_add(&sum->bleu,
             (struct bleu_text){ sum->line.s ? sum->line.s : "",
                                 sum->line.len },
             (struct bleu_text){ reference, strlen(reference) });
}

static double bleu(struct validation *v)
{
    const struct config *cfg = v->cfg;
    struct translator_config config = {
        .beam = { .size = cfg->validation.beam_size,
                  .normalize = (float)cfg->translation.normalize,
                  .length_factor = (float)cfg->translation.max_length_factor,
                  .allow_unk = cfg->translation.allow_unk },
        .mini_batch = cfg->translation.mini_batch,
        .max_length = cfg->translation.max_length,
    };
    struct bleu_sum sum = { .v = v };
    struct translator *t = translator_new(v->model, v->source, v->target,
                                          v->workers, &config);
    translator_corpus(t, &v->corpus, add_hypothesis, &sum);
    translator_free(t);
    text_release(&sum.line);
    return bleu_score(&sum.bleu, BLEU_SMOOTH_EXP, 0).score;
}

void validation_run(struct validation *v, struct validation_result *r)
{
    const struct validation_metric *metric = validation_metric_named(v->cfg);
    r->perplexity = perplexity(v);
    r->bleu = v->cfg->validation.bleu || metric->needs_bleu ? bleu(v) : -1;
}
