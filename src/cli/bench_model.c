#include "cli/bench_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/bench.h"
#include "cli/bench_report.h"
#include "cli/probe_training.h"
#include "config/config.h"
#include "model/model.h"
#include "model/model_file.h"

static const char *const settings[][2] = {
    { "model.type", "seq2seq" },         { "model.bridge", "dense" },
    { "model.tied_embeddings", "none" }, { "model.output", "full" },
    { "encoder.cell", "gru" },           { "encoder.layers", "1" },
    { "encoder.bidirectional", "true" }, { "decoder.style", "bahdanau" },
    { "decoder.cell", "gru" },           { "decoder.layers", "1" },
    { "decoder.readout", "tanh" },       { "decoder.readout_size", "0" },
    { "attention.score", "additive" },   { "attention.kind", "global" },
    { "attention.size", "0" },           { "training.batch_unit", "sentences" },
    { "training.optimizer", "adam" },    { "training.learning_rate", "0.0005" },
    { "training.clip_norm", "1" },       { "training.dropout", "0" },
    { "training.word_dropout", "0" },    { "training.label_smoothing", "0" },
    { "training.average", "0" },
};

int bench_model_set(struct config *cfg, const char *key, int value)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", value);
    return config_set(cfg, key, text);
}

int bench_model_configure(struct config *cfg, const struct bench_size *size)
{
    config_init(cfg);
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        if (config_set(cfg, settings[i][0], settings[i][1]) < 0)
            return -1;
    if (bench_model_set(cfg, "model.embedding", size->embedding) < 0 ||
        bench_model_set(cfg, "encoder.hidden", size->hidden) < 0 ||
        bench_model_set(cfg, "decoder.hidden", size->hidden) < 0)
        return -1;
    return bench_model_set(cfg, "training.batch_size", BENCH_BATCH);
}

int bench_model_write(const char *path, const struct config *cfg,
                      const struct model *model, const struct vocab *source,
                      const struct vocab *target, enum precision precision)
{
    struct model_texts t = { .progress = xstrdup("") };
    t.config = config_text(cfg, &t.config_len);
    t.source_vocab = vocab_text(source, &t.source_vocab_len);
    t.target_vocab = vocab_text(target, &t.target_vocab_len);
    struct npz_writer *w = npz_create(path);
    int got = -1;
    if (w && model_file_put_texts(w, &t) == 0 &&
        model_file_put_rounded(w, &model->params, precision) == 0)
        got = npz_commit(w);
    else if (w)
        npz_abort(w);
    model_texts_release(&t);
    return got;
}

/* --- the one that translates ---------------------------------------------- */

/* Trains for a while, so that sentences have an end. */
static int train(struct bench *b, const char *path)
{
    struct training_question question = { .updates = b->set.train_for,
                                          .first = -1 };
    struct training_answer answer;
    struct training_setup setup = bench_training_setup(b, &b->set.translation,
                                                       bench_threads(b));
    snprintf(question.save, sizeof(question.save), "%s", path);
    struct probe *p = probe_new(&training_probe, &setup);
    int got = p ? probe_ask(p, &question, &answer) : -1;
    probe_free(p);
    if (got == 0)
        bench_report_line(b->report,
                          "\nThe model that translates, E %d, H %d: %d "
                          "updates, cross-entropy of the training words %.2f "
                          "on the way.",
                          setup.size.embedding, setup.size.hidden,
                          b->set.train_for, answer.loss);
    return got;
}

static int make(struct bench *b)
{
    char *path = bench_temporary(".npz");
    if (!path)
        return -1;
    int got = train(b, path);
    if (got == 0)
        got = model_file_read(&b->model, path, 1, NULL);
    unlink(path);
    free(path);
    return got;
}

struct model_file *bench_model(struct bench *b)
{
    return b->model.model || make(b) == 0 ? &b->model : NULL;
}
