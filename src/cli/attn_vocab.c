/* attn-vocab: builds a vocabulary file from text. */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "base/report.h"
#include "base/version.h"
#include "cli/option.h"
#include "corpus/vocab.h"

static const char help[] =
    "usage: attn-vocab [OPTION]... [FILE]...\n"
    "\n"
    "Counts the words of the files (plain or .gz; without any, or as -, of\n"
    "stdin) and writes a vocabulary: a word a line, <unk>, <s> and </s> first,\n"
    "then by falling count, words of equal count in the order of their bytes.\n"
    "A word is what stands between spaces and tabs.\n"
    "\n"
    "  --max-size N       most lines, with the first three; 0: no limit (0)\n"
    "  --min-frequency N  leave out words seen less often (1)\n"
    "  -o, --output FILE  where to write; -: stdout (-)\n"
    "  -q, --quiet        say nothing but warnings and errors\n"
    "  --help             print this text\n"
    "  --version          print the version\n"
    "\n"
    "Exit status: 0 done, 1 reading or writing failed, 2 wrong usage or data.\n";

struct options {
    int max_size, min_frequency;
    const char *output;
    const char *const *files;
    int file_count;
    bool help, version;
};

enum {
    OPTION_MAX_SIZE = 256,
    OPTION_MIN_FREQUENCY,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    { "max-size", required_argument, NULL, OPTION_MAX_SIZE },
    { "min-frequency", required_argument, NULL, OPTION_MIN_FREQUENCY },
    { "output", required_argument, NULL, 'o' },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { 0 },
};

static int read_max_size(const char *text, int *to)
{
    if (option_int("--max-size", text, 0, VOCAB_LIMIT, to) < 0)
        return -1;
    if (*to != 0 && *to < VOCAB_CONTROLS)
        return error("--max-size: %d has no room for <unk>, <s> and </s>, give "
                     "0 (no limit) or 3 at least",
                     *to);
    return 0;
}

static int read_option(struct options *o, int option)
{
    switch (option) {
    case OPTION_MAX_SIZE:
        return read_max_size(optarg, &o->max_size);
    case OPTION_MIN_FREQUENCY:
        return option_int("--min-frequency", optarg, 0, 1000000,
                          &o->min_frequency);
    case 'o':
        o->output = optarg;
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
    default: /* getopt_long() has said what is wrong */
        return option_hint("attn-vocab");
    }
}

static int read_options(struct options *o, int argc, char **argv)
{
    static const char *const standard_input[] = { "-" };
    int option;

    while ((option = getopt_long(argc, argv, "o:q", long_options, NULL)) != -1)
        if (read_option(o, option) < 0)
            return -1;
    o->files = (const char *const *)argv + optind;
    o->file_count = argc - optind;
    if (o->file_count == 0) {
        o->files = standard_input;
        o->file_count = 1;
    }
    return 0;
}

static int build(const struct options *o)
{
    struct vocab v;
    int ret = 0;
    if (vocab_build(&v, o->files, o->file_count, o->max_size,
                    o->min_frequency) < 0)
        return -1;
    if (v.size == VOCAB_CONTROLS)
        warn("no words found: the vocabulary is <unk>, <s> and </s> only");
    if (strcmp(o->output, "-") == 0)
        vocab_write(&v, stdout);
    else
        ret = vocab_save(&v, o->output);
    vocab_release(&v);
    return ret;
}

static int run(const struct options *o)
{
    if (o->help)
        fputs(help, stdout);
    else if (o->version)
        puts("attn-vocab " ATTN_VERSION);
    else if (build(o) < 0)
        return -1;
    return output_finish();
}

int main(int argc, char **argv)
{
    static char name[] = "attn-vocab";
    struct options options = { .min_frequency = 1, .output = "-" };

    report_program(name);
    argv[0] = name;           /* what getopt_long() puts before its messages */
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error, not a death */
    if (read_options(&options, argc, argv) < 0)
        return EXIT_USAGE;
    return run(&options) < 0 ? report_status() : EXIT_DONE;
}
