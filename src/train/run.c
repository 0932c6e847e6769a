#include "train/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/process.h"
#include "base/report.h"
#include "config/config.h"
#include "model/model_file.h"
#include "tensor/gemm.h"
#include "tensor/vec.h"

static const char average_prefix[] = "training/average/";

/* Prefixes of the optimiser's slots, as long-lived as the slots. */
static const char *slot_prefix(const struct optimizer *o, int slot,
                               char buffer[64])
{
    snprintf(buffer, 64, "training/%s.%s/", o->name, o->slot_name[slot]);
    return buffer;
}

/* --- the folder ------------------------------------------------------- */

static char *path_in(const struct config *cfg, const char *name)
{
    return xasprintf("%s/%s", cfg->model.path, name);
}

/* Makes the folder and those above it. */
static int make_folder(const struct config *cfg)
{
    char *path = xstrdup(cfg->model.path);
    int got = 0;
    for (char *s = path + 1; got == 0 && *path; s++) {
        char end = *s;
        if (end != '/' && end != '\0')
            continue;
        *s = '\0';
        if (mkdir(path, 0777) < 0 && errno != EEXIST)
            got = config_error(cfg, "model.path",
                               "folder '%s' cannot be made: %s", path,
                               strerror(errno));
        *s = end;
        if (end == '\0')
            break;
    }
    free(path);
    if (got == 0)
        atomic_file_clean(cfg->model.path);
    return got;
}

/* Finds out before the first update whether files can be written there. */
static int try_folder(const struct config *cfg)
{
    char *path = path_in(cfg, "checkpoint.npz");
    char *temporary = atomic_file_temporary(path);
    int got = temporary ? 0 : -1;
    if (temporary)
        unlink(temporary);
    free(temporary);
    free(path);
    return got;
}

/* --- a new run, or one to go on with ----------------------------------- */

static int make_vocab(struct vocab *v, const struct config *cfg,
                      const char *file, const char *text, int size)
{
    if (file[0])
        return vocab_load(v, file);
    if (lines_rereadable(text) < 0) /* the corpus reads it again */
        return -1;
    return vocab_build(v, &text, 1, size, cfg->data.min_frequency);
}

static int check_text(const struct config *cfg, const char *key,
                      const char *path)
{
    if (path[0])
        return 0;
    return config_error(cfg, key, "is not set: name a text to train on");
}

static int begin_new(struct run *r)
{
    const struct config *cfg = r->cfg;
    double start = clock_seconds();
    if (make_vocab(&r->source, cfg, cfg->data.source_vocab, cfg->data.source,
                   cfg->data.source_vocab_size) < 0 ||
        make_vocab(&r->target, cfg, cfg->data.target_vocab, cfg->data.target,
                   cfg->data.target_vocab_size) < 0)
        return -1;
    r->loading = clock_seconds() - start;
    r->model = model_new(cfg, r->source.size, r->target.size);
    if (!r->model)
        return -1;
    params_initialise(&r->model->params, (uint64_t)cfg->training.seed,
                      (float)cfg->training.init_scale);
    r->position.factor = 1;
    return 0;
}

/* Keys that may differ when a run goes on: none of them changes a result
 * that is already there. */
static const char *const free_keys[] = {
    "model.path",           "training.threads",
    "training.epochs",      "training.updates",
    "training.minutes",     "validation.save_every",
    "validation.log_every", "training.early_stopping",
    "translation",          NULL
};

static int check_same_run(const struct run *r, const struct model_file *f,
                          const char *path)
{
    const char *key = config_difference(r->cfg, &f->config, free_keys);
    if (key)
        return config_error(r->cfg, key,
                            "is not what '%s' was trained with; set it back, "
                            "name another model.path, or start anew with "
                            "--restart",
                            path);
    return 0;
}

/* A model that was rounded to be smaller is no state of a training. */
static int check_precision(const struct model_file *f, const char *path)
{
    if (f->precision == PRECISION_FP32)
        return 0;
    return error("%s: is stored in %s, from which no training can go on; bring "
                 "the checkpoint back, or start anew with --restart",
                 path, precision_names[f->precision]);
}

static int begin_again(struct run *r, const char *path,
                       struct npz_reader **reader)
{
    struct model_file f;
    int got = model_file_read(&f, path, r->cfg->training.threads, reader);
    if (got == 0)
        got = check_precision(&f, path);
    if (got == 0)
        got = check_same_run(r, &f, path);
    if (got == 0)
        got = position_parse(&r->position, path, f.progress, f.progress_len);
    if (got == 0) {
        r->source = f.source;
        r->target = f.target;
        r->model = f.model;
        memset(&f.source, 0, sizeof(f.source));
        memset(&f.target, 0, sizeof(f.target));
        f.model = NULL;
    }
    model_file_release(&f);
    return got;
}

static int restore_blocks(struct run *r, struct npz_reader *reader)
{
    struct learner *l = &r->learner;
    const struct params *p = &r->model->params;
    char prefix[64];
    for (int s = 0; s < l->optimizer->slots; s++)
        if (model_file_get_params(reader, p,
                                  slot_prefix(l->optimizer, s, prefix),
                                  l->slot[s]) < 0)
            return -1;
    if (l->average &&
        model_file_get_params(reader, p, average_prefix, l->average) < 0)
        return -1;
    return npz_finish(reader, NULL);
}

/* --- what is trained on ------------------------------------------------ */

static uint64_t vocab_hash(const struct run *r)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    const struct vocab *vocabs[] = { &r->source, &r->target };
    for (int k = 0; k < 2; k++) {
        size_t len;
        char *text = vocab_text(vocabs[k], &len);
        for (size_t i = 0; i < len; i++)
            hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
        free(text);
    }
    return hash;
}

static void say_loaded(const struct run *r)
{
    const struct corpus *c = &r->corpus;
    size_t words = c->tokens[0] + c->tokens[1];
    double bytes = (double)corpus_bytes(c);
    note("%zu pairs, %zu words loaded in %.2f s: %.1f MiB, %.2f bytes a word; "
         "peak of memory so far: %.0f MiB",
         c->pairs, words, r->loading, bytes / (1 << 20), bytes / (double)words,
         process_peak());
}

static int read_corpus(struct run *r)
{
    static const char *const units[] = { "sentences", "tokens" };
    const struct config *cfg = r->cfg;
    double start = clock_seconds();
    int unit = config_name(cfg, "training.batch_unit", units, 2);
    if (unit < 0 ||
        corpus_read(&r->corpus, cfg->data.source, cfg->data.target, &r->source,
                    &r->target, cfg->data.max_length) < 0)
        return -1;
    uint64_t corpus = corpus_hash(&r->corpus), vocabulary = vocab_hash(r);
    if (r->position.update > 0 && r->position.corpus != corpus)
        return config_error(cfg, "data.source",
                            "the text is not that of the checkpoint; bring it "
                            "back, or start anew with --restart");
    r->position.corpus = corpus;
    r->position.vocabulary = vocabulary;
    r->batches = batches_new(&r->corpus, cfg->training.batch_size,
                             (enum batch_unit)unit,
                             (uint64_t)cfg->training.seed);
    batches_epoch(r->batches, r->position.epoch);
    r->loading += clock_seconds() - start;
    say_loaded(r);
    return 0;
}

static int check_names(struct run *r)
{
    static const char *const units[] = { "tokens", "sentences" };
    r->schedule = schedule_named(r->cfg);
    r->metric = validation_metric_named(r->cfg);
    return r->schedule && r->metric &&
                   config_name(r->cfg, "training.normalization", units, 2) >= 0
               ? 0
               : -1;
}

/* `tied_embeddings: all` makes one array of two vocabularies. */
static int check_joint_vocabulary(const struct run *r)
{
    if (strcmp(r->cfg->model.tied_embeddings, "all") != 0)
        return 0;
    for (int i = 0; i < r->source.size; i++)
        if (strcmp(vocab_token(&r->source, i), vocab_token(&r->target, i)))
            return config_error(r->cfg, "model.tied_embeddings",
                                "'all' needs one vocabulary for both sides; "
                                "make it with attn-vocab of both texts and "
                                "name it in data.source_vocab and "
                                "data.target_vocab");
    return 0;
}

static int open_log(struct run *r)
{
    char *path = path_in(r->cfg, "log.tsv");
    int got = log_open(&r->log, path, &r->position);
    free(path);
    return got;
}

static int init_parts(struct run *r, struct npz_reader *reader)
{
    const struct config *cfg = r->cfg;
    if (check_joint_vocabulary(r) < 0 || read_corpus(r) < 0 ||
        learner_init(&r->learner, r->model, r->workers, cfg) < 0 ||
        validation_init(&r->validation, cfg, r->model, &r->source, &r->target,
                        r->workers) < 0)
        return -1;
    if (reader && restore_blocks(r, reader) < 0)
        return -1;
    r->saver = saver_new(&r->model->params);
    return try_folder(cfg) < 0 ? -1 : open_log(r);
}

int run_init(struct run *r, const struct config *cfg, bool restart)
{
    memset(r, 0, sizeof(*r));
    r->cfg = cfg;
    if (check_names(r) < 0 ||
        check_text(cfg, "data.source", cfg->data.source) < 0 ||
        check_text(cfg, "data.target", cfg->data.target) < 0 ||
        make_folder(cfg) < 0)
        return -1;
    struct npz_reader *reader = NULL;
    char *path = path_in(cfg, "checkpoint.npz");
    bool again = !restart && access(path, F_OK) == 0;
    r->workers = workers_new(cfg->training.threads, gemm_thread_init);
    int got = again ? begin_again(r, path, &reader) : begin_new(r);
    if (got == 0)
        got = init_parts(r, reader);
    npz_close(reader);
    free(path);
    return got;
}

void run_release(struct run *r)
{
    saver_free(r->saver);
    if (r->log.file)
        log_close(&r->log);
    validation_release(&r->validation);
    learner_release(&r->learner);
    batches_free(r->batches);
    corpus_release(&r->corpus);
    model_free(r->model);
    vocab_release(&r->source);
    vocab_release(&r->target);
    workers_free(r->workers);
    memset(r, 0, sizeof(*r));
}

/* --- saving ------------------------------------------------------------ */

/* The configuration less what must not change the bytes of a model. */
static char *stored_config(const struct config *cfg, size_t *len)
{
    struct config copy;
    size_t n;
    char *text = config_text(cfg, &n);
    config_init(&copy);
    config_parse(&copy, "configuration", text, n);
    config_set(&copy, "training.threads", "0");
    config_set(&copy, "model.path", "");
    free(text);
    text = config_text(&copy, len);
    config_release(&copy);
    return text;
}

static void fill_texts(const struct run *r, struct model_texts *t)
{
    t->config = stored_config(r->cfg, &t->config_len);
    t->source_vocab = vocab_text(&r->source, &t->source_vocab_len);
    t->target_vocab = vocab_text(&r->target, &t->target_vocab_len);
    t->progress = position_text(&r->position, &t->progress_len);
}

static void add_block(struct saver_file *f, const char *prefix,
                      const float *values)
{
    struct saver_block *block = &f->block[f->blocks++];
    snprintf(block->prefix, sizeof(block->prefix), "%s", prefix);
    block->values = values;
}

int run_save_checkpoint(struct run *r)
{
    const struct learner *l = &r->learner;
    if (learner_check_weights(l, r->position.update) < 0)
        return -1;
    struct saver_file f = { .path = path_in(r->cfg, "checkpoint.npz") };
    char prefix[64];
    fill_texts(r, &f.texts);
    add_block(&f, "", r->model->params.values);
    for (int s = 0; s < l->optimizer->slots; s++)
        add_block(&f, slot_prefix(l->optimizer, s, prefix), l->slot[s]);
    if (l->average)
        add_block(&f, average_prefix, l->average);
    return saver_start(r->saver, &f);
}

int run_save_best(struct run *r)
{
    const struct learner *l = &r->learner;
    if (learner_check_weights(l, r->position.update) < 0)
        return -1;
    struct saver_file f = { .path = path_in(r->cfg, "best.npz") };
    fill_texts(r, &f.texts);
    add_block(&f, "", l->average ? l->average : r->model->params.values);
    return saver_start(r->saver, &f);
}

int run_finish(struct run *r)
{
    int got = saver_wait(r->saver);
    return log_close(&r->log) < 0 ? -1 : got;
}
