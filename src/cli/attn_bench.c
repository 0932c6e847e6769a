/* attn-bench: how fast this machine trains and translates, and in how much
 * memory. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/output.h"
#include "base/report.h"
#include "base/version.h"
#include "base/workers.h"
#include "cli/bench.h"
#include "cli/bench_report.h"
#include "cli/option.h"

static const char help[] =
    "usage: attn-bench [OPTION]... --data FOLDER\n"
    "       attn-bench [OPTION]... SOURCE TARGET [TEST]\n"
    "\n"
    "Measures this machine's matrix products, training and translation, and\n"
    "prints tables. A LIST has commas between its items, or is 'none'.\n"
    "\n"
    "      --data FOLDER        train on train.en and train.de there, translate\n"
    "                           test2016.en or test.en\n"
    "      --threads LIST       numbers of threads (1,2)\n"
    "      --sizes LIST         models to train: E (then H is the same) or E/H\n"
    "                           (128,256,512,512/1024)\n"
    "      --rounds N           measure everything so often (5)\n"
    "      --updates N          updates of a round of training (20)\n"
    "      --warmup N           updates before the first round (5)\n"
    "      --seconds S          time for each measurement of products (0.3)\n"
    "      --shards N           parts of a batch (as many as threads, 2 at least)\n"
    "      --beams LIST         beams to translate with (1,6)\n"
    "  -m, --model FILE         translate with this model\n"
    "      --translate SIZE     else train one of this size for it (512),\n"
    "      --train-for N        for so many updates (450)\n"
    "      --csv FILE           write all figures to FILE, too; '-': to stdout,\n"
    "                           instead of the tables\n"
    "  -q, --quiet              say nothing but warnings and errors\n"
    "      --help               print this text\n"
    "      --version            print the version\n"
    "\n"
    "Exit status: 0 done, 1 failed while running, 2 wrong usage, data or model.\n";

struct options {
    struct bench_settings set;
    const char *data, *csv;
    char *source, *target, *test; /* owned */
    bool help, version;
};

enum {
    OPTION_DATA = 256,
    OPTION_THREADS,
    OPTION_SIZES,
    OPTION_ROUNDS,
    OPTION_UPDATES,
    OPTION_WARMUP,
    OPTION_SECONDS,
    OPTION_SHARDS,
    OPTION_BEAMS,
    OPTION_TRANSLATE,
    OPTION_TRAIN_FOR,
    OPTION_CSV,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    { "data", required_argument, NULL, OPTION_DATA },
    { "threads", required_argument, NULL, OPTION_THREADS },
    { "sizes", required_argument, NULL, OPTION_SIZES },
    { "rounds", required_argument, NULL, OPTION_ROUNDS },
    { "updates", required_argument, NULL, OPTION_UPDATES },
    { "warmup", required_argument, NULL, OPTION_WARMUP },
    { "seconds", required_argument, NULL, OPTION_SECONDS },
    { "shards", required_argument, NULL, OPTION_SHARDS },
    { "beams", required_argument, NULL, OPTION_BEAMS },
    { "model", required_argument, NULL, 'm' },
    { "translate", required_argument, NULL, OPTION_TRANSLATE },
    { "train-for", required_argument, NULL, OPTION_TRAIN_FOR },
    { "csv", required_argument, NULL, OPTION_CSV },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { 0 },
};

/* --- values of options ---------------------------------------------------- */

/* Copies the next item of a list into item[64] and moves behind its comma.
 * Whether there was one. */
static bool next_item(const char **list, char item[64])
{
    if (!*list)
        return false;
    size_t len = strcspn(*list, ",");
    snprintf(item, 64, "%.*s", (int)(len < 63 ? len : 63), *list);
    *list = (*list)[len] ? *list + len + 1 : NULL;
    return true;
}

static const char *list_start(const char *text)
{
    return strcmp(text, "none") == 0 ? NULL : text;
}

static int list_full(const char *option)
{
    return error("%s: more than %d items", option, BENCH_LIST);
}

static int read_list(const char *option, const char *text, int max,
                     struct bench_list *to)
{
    char item[64];
    to->count = 0;
    for (const char *rest = list_start(text); next_item(&rest, item);) {
        if (to->count == BENCH_LIST)
            return list_full(option);
        if (option_int(option, item, 1, max, &to->item[to->count++]) < 0)
            return -1;
    }
    return 0;
}

/* E or E/H */
static int read_size(const char *option, char *item, struct bench_size *to)
{
    enum { MAX = 65536 };
    char *slash = strchr(item, '/');
    if (slash)
        *slash = '\0';
    if (option_int(option, item, 1, MAX, &to->embedding) < 0)
        return -1;
    to->hidden = to->embedding;
    return slash ? option_int(option, slash + 1, 1, MAX, &to->hidden) : 0;
}

static int read_sizes(const char *option, const char *text,
                      struct bench_settings *to)
{
    char item[64];
    to->sizes = 0;
    for (const char *rest = list_start(text); next_item(&rest, item);) {
        if (to->sizes == BENCH_LIST)
            return list_full(option);
        if (read_size(option, item, &to->size[to->sizes++]) < 0)
            return -1;
    }
    return 0;
}

static int read_one_size(const char *option, const char *text,
                         struct bench_size *to)
{
    char item[64];
    snprintf(item, sizeof(item), "%s", text);
    return read_size(option, item, to);
}

/* --- options --------------------------------------------------------------- */

static int read_setting(struct bench_settings *s, int option)
{
    switch (option) {
    case OPTION_THREADS:
        return read_list("--threads", optarg, WORKERS_LIMIT, &s->threads);
    case OPTION_SIZES:
        return read_sizes("--sizes", optarg, s);
    case OPTION_ROUNDS:
        return option_int("--rounds", optarg, 1, BENCH_ROUNDS, &s->rounds);
    case OPTION_UPDATES:
        return option_int("--updates", optarg, 1, 1000000, &s->updates);
    case OPTION_WARMUP:
        return option_int("--warmup", optarg, 0, 1000000, &s->warmup);
    case OPTION_SECONDS:
        return option_real("--seconds", optarg, 0.001, 60, &s->seconds);
    case OPTION_SHARDS:
        return option_int("--shards", optarg, 1, 64, &s->shards);
    case OPTION_BEAMS:
        return read_list("--beams", optarg, 1024, &s->beams);
    case OPTION_TRANSLATE:
        return read_one_size("--translate", optarg, &s->translation);
    case OPTION_TRAIN_FOR:
        return option_int("--train-for", optarg, 1, 1000000, &s->train_for);
    default:
        return option_hint("attn-bench");
    }
}

static int read_option(struct options *o, int option)
{
    switch (option) {
    case OPTION_DATA:
        o->data = optarg;
        return 0;
    case 'm':
        o->set.model = optarg;
        return 0;
    case OPTION_CSV:
        o->csv = optarg;
        return 0;
    case 'q':
        report_verbosity(QUIET);
        return 0;
    case OPTION_HELP:
        o->help = true;
        return 0;
    case OPTION_VERSION:
        o->version = true;
        return 0;
    default:
        return read_setting(&o->set, option);
    }
}

/* The files of a prepared folder. */
static int find_files(struct options *o)
{
    o->source = xasprintf("%s/train.en", o->data);
    o->target = xasprintf("%s/train.de", o->data);
    o->test = xasprintf("%s/test2016.en", o->data);
    if (access(o->test, R_OK) != 0) {
        free(o->test);
        o->test = xasprintf("%s/test.en", o->data);
    }
    o->set.source = o->source;
    o->set.target = o->target;
    o->set.test = o->test;
    if (access(o->source, R_OK) != 0)
        return error("%s: cannot be read; --data wants a folder with train.en "
                     "and train.de (scripts/bench says how to get one)",
                     o->source);
    return 0;
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option;
    while ((option = getopt_long(argc, argv, "m:q", long_options, NULL)) != -1)
        if (read_option(o, option) < 0)
            return -1;
    int files = argc - optind;
    if (o->help || o->version)
        return 0;
    if (o->set.threads.count == 0)
        return error("--threads: one number at least");
    if (o->data && files == 0)
        return find_files(o);
    if (o->data || files < 2 || files > 3) {
        error("give either --data FOLDER or SOURCE TARGET [TEST]");
        return option_hint("attn-bench");
    }
    o->set.source = argv[optind];
    o->set.target = argv[optind + 1];
    o->set.test = argv[optind + 2];
    return 0;
}

static const struct bench_settings defaults = {
    .threads = { { 1, 2 }, 2 },
    .beams = { { 1, 6 }, 2 },
    .size = { { 128, 128 }, { 256, 256 }, { 512, 512 }, { 512, 1024 } },
    .sizes = 4,
    .translation = { 512, 512 },
    .rounds = 5,
    .updates = 20,
    .warmup = 5,
    .train_for = 450,
    .seconds = 0.3,
};

static int run(const struct options *o)
{
    struct bench_report report;
    if (bench_report_open(&report, o->csv) < 0)
        return -1;
    int got = bench_run(&o->set, &report);
    return bench_report_close(&report, got == 0) < 0 ? -1 : got;
}

int main(int argc, char **argv)
{
    struct options o = { .set = defaults };
    report_program("attn-bench");
    option_signals();
    int got = read_options(&o, argc, argv);
    if (got == 0 && o.help)
        fputs(help, stdout);
    else if (got == 0 && o.version)
        puts("attn-bench " ATTN_VERSION);
    else if (got == 0)
        got = run(&o);
    free(o.source);
    free(o.target);
    free(o.test);
    if (output_finish() < 0)
        got = -1;
    if (got == 0)
        return EXIT_DONE;
    return report_status() ? report_status() : EXIT_FAILED;
}
