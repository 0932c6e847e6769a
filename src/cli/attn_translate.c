/* attn-translate: translates lines with a trained model. */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lines.h"
#include "base/output.h"
#include "base/report.h"
#include "base/version.h"
#include "base/workers.h"
#include "cli/alignment_output.h"
#include "cli/option.h"
#include "cli/computing.h"
#include "model/model.h"
#include "model/model_file.h"
#include "search/shortlist.h"
#include "search/translator.h"
#include "tensor/gemm.h"

static const char help[] =
    "usage: attn-translate -m MODEL [OPTION]... < SOURCE > TARGET\n"
    "\n"
    "Translates the lines of stdin, tokens between blanks, and writes a line\n"
    "for each of them to stdout, in order. What is not given here is as the\n"
    "model's configuration says (section translation).\n"
    "\n"
    "  -m, --model FILE         the model: best.npz of a training run\n"
    "  -i, --input FILE         read FILE (plain or .gz) instead of stdin\n"
    "  -b, --beam-size K        hypotheses kept; 1 is greedy search\n"
    "  -n, --normalize A        divide log-probabilities by length^A\n"
    "      --n-best N           put out up to N hypotheses a line, as\n"
    "                           'line ||| words ||| F0= log p ||| score'\n"
    "      --mini-batch N       sentences translated together\n"
    "      --max-length N       cut longer lines at N words\n"
    "      --max-length-factor F  at most F output words for an input word\n"
    "      --allow-unk yes|no   whether <unk> may be put out\n"
    "      --shortlist FILE     words to choose from: the most frequent ones and\n"
    "                           those that translate a word of the sentence;\n"
    "                           FILE (plain or .gz) has lines 'TARGET SOURCE\n"
    "                           PROBABILITY', as of attn-lexicon\n"
    "      --shortlist-first N  most frequent words in every list (100)\n"
    "      --shortlist-best N   most translations of a source word (100)\n"
    "      --alignment FILE     write the attention weights of each line\n"
    "      --alignment-format F csv, matrix, pharaoh, terminal, svg or\n"
    "                           html (csv)\n"
    "      --alignment-eos yes|no  keep </s> in them (yes)\n"
    "      --threads N          worker threads; 0: one a processor (0)\n"
    "      --precision NAME     of products: fp32, bf16 or int8\n"
    "      --profile            print at the end where the time went\n"
    "  -q, --quiet              say nothing but warnings and errors\n"
    "      --help               print this text\n"
    "      --version            print the version\n"
    "\n"
    "Exit status: 0 done, 1 failed while running, 2 wrong usage or model file.\n";

struct options {
    const char *model, *input, *alignment, *format;
    int beam, n_best, mini_batch, max_length, threads, eos;
    int allow_unk;            /* -1: as the model says */
    double normalize, factor; /* < 0: as the model says */
    const char *shortlist;    /* NULL: none */
    struct shortlist_config list;
    const char *precision; /* NULL: as the model's configuration says */
    bool help, version, profile;
};

enum {
    OPTION_N_BEST = 256,
    OPTION_MINI_BATCH,
    OPTION_MAX_LENGTH,
    OPTION_FACTOR,
    OPTION_ALLOW_UNK,
    OPTION_SHORTLIST,
    OPTION_FIRST,
    OPTION_BEST,
    OPTION_ALIGNMENT,
    OPTION_FORMAT,
    OPTION_EOS,
    OPTION_THREADS,
    OPTION_PRECISION,
    OPTION_PROFILE,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    { "model", required_argument, NULL, 'm' },
    { "input", required_argument, NULL, 'i' },
    { "beam-size", required_argument, NULL, 'b' },
    { "normalize", required_argument, NULL, 'n' },
    { "n-best", required_argument, NULL, OPTION_N_BEST },
    { "mini-batch", required_argument, NULL, OPTION_MINI_BATCH },
    { "max-length", required_argument, NULL, OPTION_MAX_LENGTH },
    { "max-length-factor", required_argument, NULL, OPTION_FACTOR },
    { "allow-unk", required_argument, NULL, OPTION_ALLOW_UNK },
    { "shortlist", required_argument, NULL, OPTION_SHORTLIST },
    { "shortlist-first", required_argument, NULL, OPTION_FIRST },
    { "shortlist-best", required_argument, NULL, OPTION_BEST },
    { "alignment", required_argument, NULL, OPTION_ALIGNMENT },
    { "alignment-format", required_argument, NULL, OPTION_FORMAT },
    { "alignment-eos", required_argument, NULL, OPTION_EOS },
    { "threads", required_argument, NULL, OPTION_THREADS },
    { "precision", required_argument, NULL, OPTION_PRECISION },
    { "profile", no_argument, NULL, OPTION_PROFILE },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { 0 },
};

static int read_option(struct options *o, int option)
{
    switch (option) {
    case 'm':
        o->model = optarg;
        return 0;
    case 'i':
        o->input = optarg;
        return 0;
    case 'b':
        return option_int("--beam-size", optarg, 1, 1024, &o->beam);
    case 'n':
        return option_real("--normalize", optarg, 0, 10, &o->normalize);
    case OPTION_N_BEST:
        return option_int("--n-best", optarg, 1, 1024, &o->n_best);
    case OPTION_MINI_BATCH:
        return option_int("--mini-batch", optarg, 1, 100000, &o->mini_batch);
    case OPTION_MAX_LENGTH:
        return option_int("--max-length", optarg, 1, 100000, &o->max_length);
    case OPTION_FACTOR:
        return option_real("--max-length-factor", optarg, 0.1, 100, &o->factor);
    case OPTION_ALLOW_UNK:
        return option_bool("--allow-unk", optarg, &o->allow_unk);
    case OPTION_SHORTLIST:
        o->shortlist = optarg;
        return 0;
    case OPTION_FIRST:
        return option_int("--shortlist-first", optarg, 0, VOCAB_LIMIT,
                          &o->list.first);
    case OPTION_BEST:
        return option_int("--shortlist-best", optarg, 0, VOCAB_LIMIT,
                          &o->list.best);
    case OPTION_ALIGNMENT:
        o->alignment = optarg;
        return 0;
    case OPTION_FORMAT:
        o->format = optarg;
        return 0;
    case OPTION_EOS:
        return option_bool("--alignment-eos", optarg, &o->eos);
    case OPTION_THREADS:
        return option_int("--threads", optarg, 0, WORKERS_LIMIT, &o->threads);
    case OPTION_PRECISION:
        o->precision = optarg;
        return 0;
    case OPTION_PROFILE:
        o->profile = true;
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
        return option_hint("attn-translate");
    }
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option;
    while ((option = getopt_long(argc, argv, "m:i:b:n:q", long_options,
                                 NULL)) != -1)
        if (read_option(o, option) < 0)
            return -1;
    if (o->help || o->version)
        return 0;
    if (optind < argc) {
        error("'%.100s' is no option; sentences are read from stdin, or from "
              "the file of --input",
              argv[optind]);
        return option_hint("attn-translate");
    }
    if (!o->model) {
        error("no model given (-m MODEL)");
        return option_hint("attn-translate");
    }
    return 0;
}

/* Each sentence has a matrix of its own then: those of a batch should fit in
 * the processor's cache. */
enum { LISTED_BATCH = 16 };

/* Sentences translated together, which changes nothing but the time. */
static int batch_size(const struct options *o, const struct config *cfg)
{
    int size = cfg->translation.mini_batch;
    if (o->mini_batch > 0)
        return o->mini_batch;
    return o->shortlist && size > LISTED_BATCH ? LISTED_BATCH : size;
}

/* What the command line leaves open, the model's configuration says. */
static int settle(const struct options *o, const struct config *cfg,
                  struct translator_config *to)
{
    *to = (struct translator_config){
        .beam = {
            .size = o->beam > 0 ? o->beam : cfg->translation.beam_size,
            .normalize = (float)(o->normalize >= 0
                                     ? o->normalize
                                     : cfg->translation.normalize),
            .length_factor = (float)(o->factor > 0
                                         ? o->factor
                                         : cfg->translation.max_length_factor),
            .allow_unk = o->allow_unk >= 0 ? o->allow_unk
                                           : cfg->translation.allow_unk,
        },
        .mini_batch = batch_size(o, cfg),
        .max_length = o->max_length > 0 ? o->max_length
                                        : cfg->translation.max_length,
        .n_best = o->n_best,
        .alignment_eos = o->eos,
    };
    if (to->n_best > to->beam.size)
        return error("--n-best: %d hypotheses cannot come from a beam of %d; "
                     "give --beam-size %d",
                     to->n_best, to->beam.size, to->n_best);
    return 0;
}

static void say_end(const struct translator *t, int threads)
{
    const struct translator_counts *c = translator_counts(t);
    double seconds = c->seconds > 0 ? c->seconds : 1e-9;
    note("%ld lines, %ld words in, %ld out, %.2f s on %d threads: %.1f "
         "lines/s, %.0f words out/s; %.0f MiB",
         c->lines, c->words_in, c->words_out, c->seconds, threads,
         (double)c->lines / seconds, (double)c->words_out / seconds,
         (double)c->peak / (1 << 20));
}

/* NULL where there is none, or after reporting. */
static int read_shortlist(const struct options *o, struct model_file *f,
                          struct shortlist **list)
{
    *list = NULL;
    if (!o->shortlist)
        return 0;
    if (!model_prepare_gather(f->model))
        return error("--shortlist: '%s' has model.output '%s', which does not "
                     "compute all words anyway; leave out --shortlist",
                     o->model, f->config.model.output);
    *list = shortlist_read(o->shortlist, &f->source, &f->target, &o->list);
    return *list ? 0 : -1;
}

static int translate(const struct options *o, const struct model_file *f,
                     const struct shortlist *list, struct workers *workers)
{
    struct translator_config config;
    struct alignment_output output;
    struct lines in = { 0 };
    if (settle(o, &f->config, &config) < 0 || lines_open(&in, o->input) < 0)
        return -1;
    config.beam.shortlist = list;
    int got = alignment_output_open(&output, o->alignment, o->format);
    if (got == 0) {
        config.alignment = output.out;
        config.format = output.format;
        config.colour = output.colour;
        struct translator *t = translator_new(f->model, &f->source, &f->target,
                                              workers, &config);
        got = translator_run(t, &in, stdout);
        say_end(t, workers_count(workers));
        translator_free(t);
    }
    lines_release(&in);
    return alignment_output_close(&output, got);
}

static int run(const struct options *o)
{
    struct model_file f;
    struct shortlist *list = NULL;
    int got = model_file_read(&f, o->model, o->threads, NULL);
    if (got == 0)
        got = computing_prepare(&f, o->precision);
    if (got == 0)
        got = read_shortlist(o, &f, &list);
    if (got == 0) {
        struct workers *workers = workers_new(o->threads, gemm_thread_init);
        if (o->profile)
            workers_start_profile(workers);
        got = translate(o, &f, list, workers);
        workers_print_profile(workers, stderr);
        workers_free(workers);
    }
    shortlist_free(list);
    model_file_release(&f);
    return got;
}

int main(int argc, char **argv)
{
    struct options o = { .input = "-",
                         .format = "csv",
                         .eos = 1,
                         .allow_unk = -1,
                         .normalize = -1,
                         .factor = -1,
                         .list = { .first = 100, .best = 100 } };
    report_program("attn-translate");
    option_signals();
    int got = read_options(&o, argc, argv);
    if (got == 0 && o.help)
        fputs(help, stdout);
    else if (got == 0 && o.version)
        puts("attn-translate " ATTN_VERSION);
    else if (got == 0)
        got = run(&o);
    if (output_finish() < 0)
        got = -1;
    if (got == 0)
        return EXIT_DONE;
    return report_status() ? report_status() : EXIT_USAGE;
}
