#include "train/saver.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "nn/params.h"

struct saver {
    const struct params *params;
    struct npz_writer *writer; /* on its way, of the thread */
    pthread_t thread;
    bool running, failed;
};

struct saver *saver_new(const struct params *params)
{
    struct saver *s = xcalloc(1, sizeof(*s));
    s->params = params;
    return s;
}

/* The file, all of it handed to the system; NULL after reporting. */
static struct npz_writer *write_file(const struct saver *s,
                                     const struct saver_file *f)
{
    struct npz_writer *w = npz_create(f->path);
    if (!w)
        return NULL;
    int got = model_file_put_texts(w, &f->texts);
    for (int i = 0; i < f->blocks && got == 0; i++)
        got = model_file_put_params(w, s->params, f->block[i].prefix,
                                    f->block[i].values);
    if (got == 0)
        got = npz_write(w);
    if (got == 0)
        return w;
    npz_abort(w);
    return NULL;
}

static void *run(void *arg)
{
    struct saver *s = arg;
    if (npz_commit(s->writer) < 0)
        s->failed = true;
    return NULL;
}

int saver_wait(struct saver *s)
{
    if (s->running)
        pthread_join(s->thread, NULL);
    s->running = false;
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
    saver_wait(s);
    s->writer = write_file(s, file);
    model_texts_release(&file->texts);
    free(file->path);
    if (!s->writer)
        s->failed = true;
    else if (start_thread(s) == 0)
        s->running = true;
    else
        run(s);
    return s->failed ? -1 : 0;
}

void saver_free(struct saver *s)
{
    if (!s)
        return;
    saver_wait(s);
    free(s);
}
