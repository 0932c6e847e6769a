/* attn-bench: how fast this machine trains and translates, and in how much
 * memory. */
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/output.h"
#include "base/report.h"
#include "base/text.h"
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
    "prints tables. A LIST has commas between its items; a SIZE is E, or E/H.\n"
    "\n"
    "      --data FOLDER        train on train.en and train.de there, translate\n"
    "                           test2016.en or test.en\n"
    "      --sections LIST      measure these only: products, training,\n"
    "                           translation, single, start-up, lengths, threads,\n"
    "                           attention, growth\n"
    "      --precisions LIST    of fp32, bf16, int8 (those this machine has)\n"
    "      --threads LIST       numbers of threads (1,2)\n"
    "      --rounds N           measure everything so often (3)\n"
    "      --seconds S          time for each measurement of products (0.3)\n"
    "      --sizes LIST         models to train (128,256,512,512/1024)\n"
    "      --updates N          updates of a round of training (12)\n"
    "      --warmup N           updates before the first round (5)\n"
    "      --shards N           parts of a batch (as many as threads)\n"
    "      --beams LIST         beams to translate with (1,6)\n"
    "  -m, --model FILE         translate with this model\n"
    "      --translate SIZE     else train one of this size for it (512),\n"
    "      --train-for N        for so many updates (450)\n"
    "      --sentences N        single: sentences to translate (200)\n"
    "      --start-up SIZE      start-up: the model (512/640, 100 MB)\n"
    "      --lengths LIST       lengths: words of sources\n"
    "                           (10,20,50,100,200,500,1000)\n"
    "      --attention SIZE     attention, growth: the model (256)\n"
    "      --growth FOLDER      growth: a larger text, its train.en and train.de\n"
    "      --pairs LIST         growth: so many of it (1000,10000,40000,160000)\n"
    "      --vocabularies LIST  growth: entries (8000,32000)\n"
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

static int list_full(const char *option)
{
    return error("%s: more than %d items", option, BENCH_LIST);
}

/* An option that sets a field of the settings. */
struct setting {
    const char *name; /* with the dashes */
    int (*read)(const struct setting *s, const char *text, void *field);
    size_t field; /* its place */
    int min, max;
    const char *(*item)(int i); /* names; NULL after the last */
};

static int read_number(const struct setting *s, const char *text, void *field)
{
    return option_int(s->name, text, s->min, s->max, field);
}

static int read_seconds(const struct setting *s, const char *text, void *field)
{
    return option_real(s->name, text, 0.001, 60, field);
}

static int read_text(const struct setting *s, const char *text, void *field)
{
    (void)s;
    *(const char **)field = text;
    return 0;
}

static int read_numbers(const struct setting *s, const char *text, void *field)
{
    struct bench_list *to = field;
    char item[64];
    to->count = 0;
    for (const char *rest = text; next_item(&rest, item);) {
        if (to->count == BENCH_LIST)
            return list_full(s->name);
        if (read_number(s, item, &to->item[to->count++]) < 0)
            return -1;
    }
    return 0;
}

/* E or E/H */
static int read_size(const struct setting *s, const char *text, void *field)
{
    struct bench_size *to = field;
    char item[64];
    snprintf(item, sizeof(item), "%s", text);
    char *slash = strchr(item, '/');
    if (slash)
        *slash = '\0';
    if (read_number(s, item, &to->embedding) < 0)
        return -1;
    to->hidden = to->embedding;
    return slash ? read_number(s, slash + 1, &to->hidden) : 0;
}

static int read_sizes(const struct setting *s, const char *text, void *field)
{
    struct bench_sizes *to = field;
    char item[64];
    to->count = 0;
    for (const char *rest = text; next_item(&rest, item);) {
        if (to->count == BENCH_LIST)
            return list_full(s->name);
        if (read_size(s, item, &to->item[to->count++]) < 0)
            return -1;
    }
    return 0;
}

static const char *section_name(int i)
{
    return bench_sections[i] ? bench_sections[i]->name : NULL;
}

static const char *precision_name(int i)
{
    return precision_names[i];
}

static int unknown_name(const struct setting *s, const char *item)
{
    struct text names = { 0 };
    for (int i = 0; s->item(i); i++)
        text_addf(&names, "%s%s", i > 0 ? ", " : "", s->item(i));
    error("%s: '%s' is none of %s", s->name, item, names.s);
    text_release(&names);
    return -1;
}

static int read_names(const struct setting *s, const char *text, void *field)
{
    struct bench_list *to = field;
    char item[64];
    to->count = 0;
    for (const char *rest = text; next_item(&rest, item);) {
        int i = 0;
        while (s->item(i) && strcmp(s->item(i), item) != 0)
            i++;
        if (!s->item(i))
            return unknown_name(s, item);
        if (to->count == BENCH_LIST)
            return list_full(s->name);
        to->item[to->count++] = i;
    }
    return 0;
}

/* --- options --------------------------------------------------------------- */

#define FIELD(name) offsetof(struct bench_settings, name)

enum { MANY = 1000000, WIDEST = 65536 };

static const struct setting settings[] = {
    { "--sections", read_names, FIELD(sections), 0, 0, section_name },
    { "--precisions", read_names, FIELD(precisions), 0, 0, precision_name },
    { "--threads", read_numbers, FIELD(threads), 1, WORKERS_LIMIT, NULL },
    { "--rounds", read_number, FIELD(rounds), 1, BENCH_ROUNDS, NULL },
    { "--seconds", read_seconds, FIELD(seconds), 0, 0, NULL },
    { "--sizes", read_sizes, FIELD(sizes), 1, WIDEST, NULL },
    { "--updates", read_number, FIELD(updates), 1, MANY, NULL },
    { "--warmup", read_number, FIELD(warmup), 0, MANY, NULL },
    { "--shards", read_number, FIELD(shards), 1, 64, NULL },
    { "--beams", read_numbers, FIELD(beams), 1, 1024, NULL },
    { "--model", read_text, FIELD(model), 0, 0, NULL },
    { "--translate", read_size, FIELD(translation), 1, WIDEST, NULL },
    { "--train-for", read_number, FIELD(train_for), 1, MANY, NULL },
    { "--sentences", read_number, FIELD(sentences), 1, MANY, NULL },
    { "--start-up", read_size, FIELD(start_up), 1, WIDEST, NULL },
    { "--lengths", read_numbers, FIELD(lengths), 1, 100000, NULL },
    { "--attention", read_size, FIELD(attention), 2, WIDEST, NULL },
    { "--growth", read_text, FIELD(growth), 0, 0, NULL },
    { "--pairs", read_numbers, FIELD(pairs), 1, 100 * MANY, NULL },
    { "--vocabularies", read_numbers, FIELD(vocabularies), 4, 10 * MANY, NULL },
};

enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* A setting's option is its number behind the first of these. */
enum {
    OPTION_SETTING = 256,
    OPTION_DATA = OPTION_SETTING + SETTINGS,
    OPTION_CSV,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option other_options[] = {
    { "data", required_argument, NULL, OPTION_DATA },
    { "csv", required_argument, NULL, OPTION_CSV },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { 0 },
};

enum { OTHERS = sizeof(other_options) / sizeof(other_options[0]) };

static void list_options(struct option list[SETTINGS + OTHERS])
{
    for (int i = 0; i < SETTINGS; i++)
        list[i] = (struct option){ settings[i].name + strlen("--"),
                                   required_argument, NULL,
                                   OPTION_SETTING + i };
    memcpy(list + SETTINGS, other_options, sizeof(other_options));
}

static int read_setting(struct bench_settings *set, const char *name)
{
    for (int i = 0; i < SETTINGS; i++)
        if (strcmp(settings[i].name, name) == 0)
            return settings[i].read(&settings[i], optarg,
                                    (char *)set + settings[i].field);
    return option_hint("attn-bench");
}

static int read_option(struct options *o, int option)
{
    if (option >= OPTION_SETTING && option < OPTION_DATA)
        return read_setting(&o->set, settings[option - OPTION_SETTING].name);
    switch (option) {
    case OPTION_DATA:
        o->data = optarg;
        return 0;
    case 'm':
        return read_setting(&o->set, "--model");
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
        return option_hint("attn-bench");
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
    struct option list[SETTINGS + OTHERS];
    int option;
    list_options(list);
    while ((option = getopt_long(argc, argv, "m:q", list, NULL)) != -1)
        if (read_option(o, option) < 0)
            return -1;
    int files = argc - optind;
    if (o->help || o->version)
        return 0;
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
    .rounds = 3,
    .seconds = 0.3,
    .sizes = { { { 128, 128 }, { 256, 256 }, { 512, 512 }, { 512, 1024 } }, 4 },
    .updates = 12,
    .warmup = 5,
    .beams = { { 1, 6 }, 2 },
    .translation = { 512, 512 },
    .train_for = 450,
    .sentences = 200,
    .start_up = { 512, 640 },
    .lengths = { { 10, 20, 50, 100, 200, 500, 1000 }, 7 },
    .attention = { 256, 256 },
    .pairs = { { 1000, 10000, 40000, 160000 }, 4 },
    .vocabularies = { { 8000, 32000 }, 2 },
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
