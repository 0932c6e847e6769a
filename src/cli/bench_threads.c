/* Section threads: what more threads bring, and what is left of it beside a
 * process that keeps one core busy. */
#include "cli/bench.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/report.h"
#include "cli/bench_report.h"
#include "cli/probe_limit.h"
#include "cli/probe_training.h"
#include "cli/probe_translation.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

enum { BEAM = 6 };

/* Two at least, for there is nothing to see with one. */
static int most(const struct bench *b)
{
    int threads = bench_threads(b);
    return threads > 2 ? threads : 2;
}

/* --- work ----------------------------------------------------------------- */

/* Something that threads share; its rate is a speed in any unit. */
struct kind {
    const char *name;
    bool translates;
    struct probe *(*start)(struct bench *b, int threads);
    int (*ask)(struct bench *b, struct probe *p, int threads, double *rate);
};

static struct probe *start_products(struct bench *b, int threads)
{
    (void)b, (void)threads;
    return probe_new(&limit_probe, NULL);
}

static int ask_products(struct bench *b, struct probe *p, int threads,
                        double *rate)
{
    struct limit_question q = { .threads = threads,
                                .m = 64,
                                .n = 1536,
                                .k = 512,
                                .seconds = b->set.seconds };
    return limit_ask(p, &q, rate);
}

static struct probe *start_training(struct bench *b, int threads)
{
    struct training_answer unused;
    struct training_setup setup = bench_training_setup(b, &b->set.translation,
                                                       bench_threads(b));
    setup.threads = threads; /* the same shards for any number of them */
    struct probe *p = probe_new(&training_probe, &setup);
    if (p && training_ask(p, b->set.warmup, &unused) == 0)
        return p;
    probe_free(p);
    return NULL;
}

static int ask_training(struct bench *b, struct probe *p, int threads,
                        double *rate)
{
    struct training_answer a;
    (void)threads;
    if (training_ask(p, b->set.updates, &a) < 0)
        return -1;
    *rate = a.tokens.target / a.seconds;
    return 0;
}

static struct probe *start_translation(struct bench *b, int threads)
{
    struct translation_setup setup = { .model = bench_model(b),
                                       .test = b->set.test,
                                       .threads = threads,
                                       .beam = BEAM,
                                       .batch = BENCH_BATCH };
    return setup.model ? probe_new(&translation_probe, &setup) : NULL;
}

static int ask_translation(struct bench *b, struct probe *p, int threads,
                           double *rate)
{
    static const struct translation_question question;
    struct translation_answer a;
    (void)b, (void)threads;
    if (probe_ask(p, &question, &a) < 0)
        return -1;
    *rate = a.sentences / a.seconds;
    return 0;
}

static const struct kind kinds[] = {
    { "products", false, start_products, ask_products },
    { "training", false, start_training, ask_training },
    { "translation", true, start_translation, ask_translation },
};

/* --- the neighbour -------------------------------------------------------- */

/* Computes until it is killed or nobody is there any more to kill it. */
static void keep_busy(pid_t parent)
{
    volatile int spent;
    while (getppid() == parent)
        for (spent = 0; spent < 1000000;)
            spent++;
    _exit(0);
}

static pid_t neighbour_start(void)
{
    pid_t parent = getpid(), process = fork();
    if (process == 0)
        keep_busy(parent);
    if (process < 0)
        failure("cannot start a process: %s", strerror(errno));
    return process;
}

static void neighbour_end(pid_t process)
{
    kill(process, SIGKILL);
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* --- measurements --------------------------------------------------------- */

struct contest {
    const struct kind *kind;
    struct probe *few, *many; /* 1 thread, and the most */
    struct series one, all, beside;
};

static const struct bench_column columns[] = {
    { "work", 11 },
    { "1 thread", 20 },
    { "all threads", 20 },
    { "speed-up", 16 },
    { "beside a busy process", 21 },
};

static int ask_beside(struct bench *b, struct contest *c, double *rate)
{
    pid_t neighbour = neighbour_start();
    if (neighbour < 0)
        return -1;
    int got = c->kind->ask(b, c->many, most(b), rate);
    neighbour_end(neighbour);
    return got;
}

static int one_round(struct bench *b, struct contest *c)
{
    double one, all, beside;
    if (c->kind->ask(b, c->few, 1, &one) < 0 ||
        c->kind->ask(b, c->many, most(b), &all) < 0 ||
        ask_beside(b, c, &beside) < 0)
        return -1;
    series_add(&c->one, one);
    series_add(&c->all, all);
    series_add(&c->beside, beside);
    return 0;
}

static void report(struct bench *b, const struct contest *c)
{
    struct bench_row row = { .what = "threads",
                             .variant = c->kind->name,
                             .precision = precision_names[PRECISION_FP32],
                             .threads = most(b) };
    struct series gain = series_ratio(&c->all, &c->one);
    struct series left = series_ratio(&c->beside, &c->all);
    const struct bench_figure figure[] = {
        { "rate_of_one", &c->one, 0 },
        { "rate_of_all", &c->all, 0 },
        { "speed_up", &gain, 2 },
        { "left_beside_neighbour", &left, 2 },
    };
    bench_table_cell(b->report, &columns[0], "%s", c->kind->name);
    bench_table_figures(b->report, &row, &columns[1], figure, COUNT(figure));
}

static int measure(struct bench *b, struct contest *contest, int count)
{
    for (int i = 0; i < count; i++) {
        struct contest *c = &contest[i];
        c->few = c->kind->start(b, 1);
        c->many = c->few ? c->kind->start(b, most(b)) : NULL;
        if (!c->many)
            return -1;
    }
    for (int round = 0; round < b->set.rounds; round++)
        for (int i = 0; i < count; i++)
            if (one_round(b, &contest[i]) < 0)
                return -1;
    return 0;
}

static void report_all(struct bench *b, const struct contest *contest,
                       int count)
{
    bench_report_line(b->report,
                      "\nThreads, 1 and %d in turn: products of 64 x 1536 x "
                      "512, GFLOP/s; training with E %d, H %d, target\n"
                      "tokens/s; translation with beam %d, sentences/s; last, "
                      "the share of the speed of all threads that\nis left "
                      "while another process keeps a core busy:",
                      most(b), b->set.translation.embedding,
                      b->set.translation.hidden, BEAM);
    bench_table_head(b->report, columns, COUNT(columns));
    for (int i = 0; i < count; i++)
        report(b, &contest[i]);
}

static int run(struct bench *b)
{
    struct contest *contest = ARRAY_ZERO(contest, COUNT(kinds));
    int count = 0;
    for (int i = 0; i < COUNT(kinds); i++)
        if (b->set.test || !kinds[i].translates)
            contest[count++].kind = &kinds[i];
    int got = measure(b, contest, count);
    for (int i = 0; i < count; i++) {
        probe_free(contest[i].few);
        probe_free(contest[i].many);
    }
    if (got == 0)
        report_all(b, contest, count);
    free(contest);
    return got;
}

const struct bench_section section_threads = { .name = "threads", .run = run };
