#include "train/saver.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "nn/params.h"
#include "tensor/vec.h"

struct saver {
    const struct params *params;
    struct saver_file file;
    float *copy[SAVER_BLOCKS]; /* kept from save to save */
    pthread_t thread;
    bool running, failed;
};

struct saver *saver_new(const struct params *params)
{
    struct saver *s = xcalloc(1, sizeof(*s));
    s->params = params;
    return s;
}

static int write_file(struct saver *s)
{
    struct saver_file *f = &s->file;
    struct npz_writer *w = npz_create(f->path);
    if (!w)
        return -1;
    int got = model_file_put_texts(w, &f->texts);
    for (int i = 0; i < f->blocks && got == 0; i++)
        got = model_file_put_params(w, s->params, f->block[i].prefix,
                                    s->copy[i]);
    if (got == 0)
        return npz_commit(w);
    npz_abort(w);
    return -1;
}

static void *run(void *arg)
{
    struct saver *s = arg;
    if (write_file(s) < 0)
        s->failed = true;
    return NULL;
}

int saver_wait(struct saver *s)
{
    if (s->running)
        pthread_join(s->thread, NULL);
    s->running = false;
    model_texts_release(&s->file.texts);
    free(s->file.path);
    s->file.path = NULL;
    return s->failed ? -1 : 0;
}

/* Signals are the training thread's. */
static int start_thread(struct saver *s)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int got = pthread_create(&s->thread, NULL, run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return got;
}

int saver_start(struct saver *s, struct saver_file *file)
{
    int got = saver_wait(s);
    size_t n = s->params->size;
    s->file = *file;
    for (int i = 0; i < file->blocks; i++) {
        if (!s->copy[i])
            s->copy[i] = xaligned(array_bytes(n, sizeof(float)));
        vec_copy(s->copy[i], file->block[i].values, n);
    }
    s->running = start_thread(s) == 0;
    if (!s->running)
        run(s);
    return s->failed ? -1 : got;
}

void saver_free(struct saver *s)
{
    if (!s)
        return;
    saver_wait(s);
    for (int i = 0; i < SAVER_BLOCKS; i++)
        free(s->copy[i]);
    free(s);
}
