/* attn-train: trains a translation model. */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/report.h"
#include "base/signals.h"
#include "base/version.h"
#include "cli/option.h"
#include "config/config.h"
#include "train/choices.h"
#include "train/trainer.h"

static const char help[] =
    "usage: attn-train [OPTION]... CONFIG.yaml [--section.key VALUE]...\n"
    "\n"
    "Trains the model that the configuration describes and writes it into the\n"
    "folder model.path: best.npz to translate with, checkpoint.npz to go on\n"
    "from, log.tsv. Where the folder holds a checkpoint of the same run,\n"
    "training goes on from it. Ctrl-C finishes the update at hand and saves.\n"
    "\n"
    "  --dump-config      print the configuration in effect, with the source of\n"
    "                     each value, and do nothing else\n"
    "  --example-config   print all keys with their defaults and what they mean\n"
    "  --restart          start anew even where there is a checkpoint\n"
    "  --profile          print at the end where the time went, by operation\n"
    "  -q, --quiet        say nothing but warnings and errors\n"
    "  --help             print this text\n"
    "  --version          print the version\n"
    "\n"
    "Exit status: 0 done, 1 failed while running, 2 wrong usage, configuration\n"
    "or data; a run that was stopped ends with the signal's status.\n"
    "\n"
    "Every key of the configuration is an option, too:\n"
    "\n";

enum action { TRAIN, DUMP_CONFIG, EXAMPLE_CONFIG, HELP, VERSION };

struct options {
    enum action action;
    bool restart, profile;
    const char *config;
};

enum {
    OPTION_DUMP = 256,
    OPTION_EXAMPLE,
    OPTION_RESTART,
    OPTION_PROFILE,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    { "dump-config", no_argument, NULL, OPTION_DUMP },
    { "example-config", no_argument, NULL, OPTION_EXAMPLE },
    { "restart", no_argument, NULL, OPTION_RESTART },
    { "profile", no_argument, NULL, OPTION_PROFILE },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { 0 },
};

/* Of the first signal; handlers may touch nothing else. */
static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

/* A second signal ends the program at once. */
static void catch_signals(void)
{
    signals_catch(SIGINT, on_signal, true);
    signals_catch(SIGTERM, on_signal, true);
}

static int read_option(struct options *o, int option)
{
    switch (option) {
    case OPTION_DUMP:
        o->action = DUMP_CONFIG;
        return 0;
    case OPTION_EXAMPLE:
        o->action = EXAMPLE_CONFIG;
        return 0;
    case OPTION_RESTART:
        o->restart = true;
        return 0;
    case OPTION_PROFILE:
        o->profile = true;
        return 0;
    case 'q':
        report_verbosity(QUIET);
        return 0;
    case OPTION_HELP:
        o->action = HELP;
        return 0;
    case OPTION_VERSION:
        o->action = VERSION;
        return 0;
    default:
        return option_hint("attn-train");
    }
}

/* --section.key VALUE or --section.key=VALUE: what has a dot is a key. */
static bool is_key_option(const char *arg)
{
    return strncmp(arg, "--", 2) == 0 &&
           memchr(arg, '.', strcspn(arg, "=")) != NULL;
}

static int set_key(struct config *cfg, const char *arg, const char *next,
                   bool *took_next)
{
    char key[256];
    const char *equals = strchr(arg, '=');
    size_t len = equals ? (size_t)(equals - arg) - 2 : strlen(arg) - 2;
    snprintf(key, sizeof(key), "%.*s", (int)(len < 255 ? len : 255), arg + 2);
    *took_next = !equals;
    return config_set(cfg, key, equals ? equals + 1 : next);
}

/* The options that set keys; with cfg NULL they are only stepped over. Moves
 * the other arguments to the front and returns their number, or -1. */
static int take_keys(struct config *cfg, int argc, char **argv, char **rest)
{
    int count = 0;
    for (int i = 0; i < argc; i++) {
        if (i == 0 || !is_key_option(argv[i])) {
            rest[count++] = argv[i];
            continue;
        }
        bool took_next = !strchr(argv[i], '=');
        if (cfg && set_key(cfg, argv[i], i + 1 < argc ? argv[i + 1] : NULL,
                           &took_next) < 0)
            return -1;
        i += took_next;
    }
    rest[count] = NULL;
    return count;
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option;
    while ((option = getopt_long(argc, argv, "q", long_options, NULL)) != -1)
        if (read_option(o, option) < 0)
            return -1;
    if (argc - optind > 1) {
        error("one configuration at a time: '%.100s' is too much",
              argv[optind + 1]);
        return option_hint("attn-train");
    }
    o->config = argv[optind];
    return 0;
}

static void print_help(void)
{
    fputs(help, stdout);
    config_help(stdout, train_choices);
}

/* What needs no configuration. */
static bool print_only(const struct options *o)
{
    if (o->action == HELP)
        print_help();
    else if (o->action == VERSION)
        puts("attn-train " ATTN_VERSION);
    else if (o->action == EXAMPLE_CONFIG)
        config_example(stdout, train_choices);
    else
        return false;
    return true;
}

static int train(const struct options *o, const struct config *cfg)
{
    struct trainer_options options = { o->restart, o->profile, &stop_signal };
    catch_signals();
    int got = trainer_run(cfg, &options);
    if (got == 1) {
        signal(stop_signal, SIG_DFL);
        raise(stop_signal);
    }
    return got;
}

static int run(const struct options *o, struct config *cfg, int argc,
               char **argv, char **rest)
{
    if (!o->config) {
        error("no configuration given");
        return option_hint("attn-train");
    }
    if (config_load(cfg, o->config) < 0 || take_keys(cfg, argc, argv, rest) < 0)
        return -1;
    if (o->action == DUMP_CONFIG) {
        config_dump(cfg, stdout, true);
        return 0;
    }
    return train(o, cfg);
}

int main(int argc, char **argv)
{
    struct options o = { .action = TRAIN };
    struct config cfg;
    report_program("attn-train");
    option_signals();
    char **rest = calloc((size_t)argc + 1, sizeof(*rest));
    config_init(&cfg);
    int count = rest ? take_keys(NULL, argc, argv, rest) : -1;
    int got = count < 0 ? -1 : read_options(&o, count, rest);
    if (got == 0 && !print_only(&o))
        got = run(&o, &cfg, argc, argv, rest);
    config_release(&cfg);
    free(rest);
    if (output_finish() < 0 && got == 0)
        got = -1;
    return got < 0 ? report_status() ? report_status() : EXIT_USAGE : EXIT_DONE;
}
