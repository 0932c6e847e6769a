/* attn-lexicon: makes a lexical translation table from parallel text. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/output.h"
#include "base/report.h"
#include "base/version.h"
#include "base/workers.h"
#include "cli/option.h"
#include "corpus/corpus.h"
#include "corpus/lexicon.h"
#include "corpus/vocab.h"

static const char help[] =
    "usage: attn-lexicon [OPTION]... SOURCE TARGET\n"
    "\n"
    "Estimates from two files (plain or .gz), line i of TARGET being the\n"
    "translation of line i of SOURCE, how probably each source word is\n"
    "translated by each target word (IBM Model 1), and writes a line\n"
    "'TARGET SOURCE PROBABILITY' for each two: a shortlist for attn-translate.\n"
    "\n"
    "      --source-vocab FILE  words of a vocabulary only (all of the text)\n"
    "      --target-vocab FILE  the same of the target side\n"
    "      --iterations N       of expectation maximisation (5)\n"
    "      --best N             most target words of a source word (100)\n"
    "      --threshold P        leave out less probable ones (0)\n"
    "      --max-length N       leave out pairs with more words than this on a\n"
    "                           side; 0: none (100)\n"
    "      --threads N          worker threads; 0: one a processor (0)\n"
    "  -o, --output FILE        where to write; -: stdout (-)\n"
    "  -q, --quiet              say nothing but warnings and errors\n"
    "      --help               print this text\n"
    "      --version            print the version\n"
    "\n"
    "Exit status: 0 done, 1 reading or writing failed, 2 wrong usage or data.\n";

struct options {
    const char *source_vocab, *target_vocab, *output, *source, *target;
    int iterations, best, max_length, threads;
    double threshold;
    bool help, version;
};

enum {
    OPTION_SOURCE_VOCAB = 256,
    OPTION_TARGET_VOCAB,
    OPTION_ITERATIONS,
    OPTION_BEST,
    OPTION_THRESHOLD,
    OPTION_MAX_LENGTH,
    OPTION_THREADS,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    { "source-vocab", required_argument, NULL, OPTION_SOURCE_VOCAB },
    { "target-vocab", required_argument, NULL, OPTION_TARGET_VOCAB },
    { "iterations", required_argument, NULL, OPTION_ITERATIONS },
    { "best", required_argument, NULL, OPTION_BEST },
    { "threshold", required_argument, NULL, OPTION_THRESHOLD },
    { "max-length", required_argument, NULL, OPTION_MAX_LENGTH },
    { "threads", required_argument, NULL, OPTION_THREADS },
    { "output", required_argument, NULL, 'o' },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { 0 },
};

static int read_option(struct options *o, int option)
{
    switch (option) {
    case OPTION_SOURCE_VOCAB:
        o->source_vocab = optarg;
        return 0;
    case OPTION_TARGET_VOCAB:
        o->target_vocab = optarg;
        return 0;
    case OPTION_ITERATIONS:
        return option_int("--iterations", optarg, 1, 1000, &o->iterations);
    case OPTION_BEST:
        return option_int("--best", optarg, 1, VOCAB_LIMIT, &o->best);
    case OPTION_THRESHOLD:
        return option_real("--threshold", optarg, 0, 1, &o->threshold);
    case OPTION_MAX_LENGTH:
        return option_int("--max-length", optarg, 0, 100000, &o->max_length);
    case OPTION_THREADS:
        return option_int("--threads", optarg, 0, WORKERS_LIMIT, &o->threads);
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
        return option_hint("attn-lexicon");
    }
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option;
    while ((option = getopt_long(argc, argv, "o:q", long_options, NULL)) != -1)
        if (read_option(o, option) < 0)
            return -1;
    if (o->help || o->version)
        return 0;
    if (argc - optind != 2) {
        error("%d files given: two are needed, SOURCE and TARGET",
              argc - optind);
        return option_hint("attn-lexicon");
    }
    o->source = argv[optind];
    o->target = argv[optind + 1];
    return 0;
}

/* The words of the vocabulary file, or all of the text. */
static int make_vocab(struct vocab *v, const char *path, const char *text)
{
    if (path)
        return vocab_load(v, path);
    if (lines_rereadable(text) < 0)
        return -1;
    return vocab_build(v, &text, 1, 0, 1);
}

static int write_table(const struct options *o, const struct lexicon *l,
                       const struct vocab *source, const struct vocab *target)
{
    struct atomic_file file = { 0 };
    if (strcmp(o->output, "-") == 0) {
        lexicon_write(l, source, target, stdout);
        return 0;
    }
    FILE *out = atomic_file_open(&file, o->output);
    if (!out)
        return -1;
    lexicon_write(l, source, target, out);
    return atomic_file_commit(&file);
}

static void make_table(const struct options *o, const struct corpus *corpus,
                       const struct vocab *source, const struct vocab *target,
                       struct lexicon *l)
{
    struct lexicon_config config = { .source_size = source->size,
                                     .target_size = target->size,
                                     .iterations = o->iterations };
    struct workers *workers = workers_new(o->threads, NULL);
    double start = clock_seconds();
    lexicon_estimate(l, corpus, &config, workers);
    lexicon_prune(l, o->best, o->threshold);
    note("%zu pairs of words kept, %.2f s on %d threads", lexicon_entries(l),
         clock_seconds() - start, workers_count(workers));
    workers_free(workers);
}

static int build(const struct options *o)
{
    struct vocab source = { 0 }, target = { 0 };
    struct corpus corpus = { 0 };
    struct lexicon lexicon = { 0 };
    int got = make_vocab(&source, o->source_vocab, o->source);
    if (got == 0)
        got = make_vocab(&target, o->target_vocab, o->target);
    if (got == 0)
        got = corpus_read(&corpus, o->source, o->target, &source, &target,
                          o->max_length);
    if (got == 0) {
        make_table(o, &corpus, &source, &target, &lexicon);
        got = write_table(o, &lexicon, &source, &target);
    }
    lexicon_release(&lexicon);
    corpus_release(&corpus);
    vocab_release(&source);
    vocab_release(&target);
    return got;
}

static int run(const struct options *o)
{
    if (o->help)
        fputs(help, stdout);
    else if (o->version)
        puts("attn-lexicon " ATTN_VERSION);
    else if (build(o) < 0)
        return -1;
    return output_finish();
}

int main(int argc, char **argv)
{
    static char name[] = "attn-lexicon";
    struct options options = {
        .iterations = 5, .best = 100, .max_length = 100, .output = "-"
    };
    report_program(name);
    argv[0] = name; /* what getopt_long() puts before its messages */
    option_signals();
    if (read_options(&options, argc, argv) < 0)
        return EXIT_USAGE;
    return run(&options) < 0 ? report_status() : EXIT_DONE;
}
