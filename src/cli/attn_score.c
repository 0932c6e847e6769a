/* attn-score: how likely a model holds given translations. */
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/output.h"
#include "base/report.h"
#include "base/text.h"
#include "base/version.h"
#include "base/workers.h"
#include "cli/alignment_output.h"
#include "cli/option.h"
#include "cli/computing.h"
#include "corpus/corpus.h"
#include "model/model_file.h"
#include "search/aligner.h"
#include "search/scorer.h"
#include "tensor/gemm.h"

static const char help[] =
    "usage: attn-score -m MODEL [OPTION]... SOURCE TARGET\n"
    "\n"
    "Prints the log-probability that the model gives to each line of TARGET as\n"
    "the translation of the same line of SOURCE, </s> included; 0 where both\n"
    "are blank. Files are plain or .gz; '-' is stdin.\n"
    "\n"
    "  -m, --model FILE         the model: best.npz of a training run\n"
    "  -n, --normalize[=A]      divide log-probabilities by length^A (A: 1)\n"
    "      --summary[=WHAT]     print one number for all pairs instead:\n"
    "                           perplexity, ce-mean-words, cross-entropy (a\n"
    "                           sentence) or ce-sum (perplexity); pairs with a\n"
    "                           blank side do not count\n"
    "      --alignment FILE     write what the model looks at as it goes through\n"
    "                           each pair: the weights of its attention ('-':\n"
    "                           to stdout, instead of the numbers)\n"
    "      --alignment-format F csv, matrix, pharaoh, terminal, svg or\n"
    "                           html (csv)\n"
    "      --alignment-eos yes|no  keep </s> in them (yes)\n"
    "      --mini-batch N       pairs scored together\n"
    "      --max-length N       cut longer lines at N words\n"
    "      --threads N          worker threads; 0: one a processor (0)\n"
    "      --precision NAME     of products: fp32, bf16 or int8\n"
    "      --profile            print at the end where the time went\n"
    "  -q, --quiet              say nothing but warnings and errors\n"
    "      --help               print this text\n"
    "      --version            print the version\n"
    "\n"
    "Exit status: 0 done, 1 failed while running, 2 wrong usage, data or model\n"
    "file.\n";

/* --- the numbers -------------------------------------------------------- */

/* Over the pairs without a blank side. */
struct total {
    double nll;
    double pairs, words; /* words with </s> */
};

static double perplexity(const struct total *t)
{
    return exp(t->nll / t->words);
}

static double word_entropy(const struct total *t)
{
    return t->nll / t->words;
}

static double pair_entropy(const struct total *t)
{
    return t->nll / t->pairs;
}

static double sum_entropy(const struct total *t)
{
    return t->nll;
}

/* As Marian names them. */
static const struct summary {
    const char *name;
    double (*value)(const struct total *t);
} summaries[] = {
    { "perplexity", perplexity },
    { "ce-mean-words", word_entropy },
    { "cross-entropy", pair_entropy },
    { "ce-sum", sum_entropy },
};

enum { SUMMARIES = sizeof(summaries) / sizeof(summaries[0]) };

static const struct summary *summary_named(const char *name)
{
    const char *names[SUMMARIES];
    for (int i = 0; i < SUMMARIES; i++) {
        names[i] = summaries[i].name;
        if (strcmp(name, names[i]) == 0)
            return &summaries[i];
    }
    const char *near = nearest(name, names, SUMMARIES);
    error("--summary: '%.100s' is none of perplexity, ce-mean-words, "
          "cross-entropy, ce-sum%s%s%s",
          name, near ? "; did you mean '" : "", near ? near : "",
          near ? "'?" : "");
    return NULL;
}

/* Lengths of both sides of a pair, </s> included: 1 is a blank line. */
static void lengths(const struct corpus *c, size_t i, int length[2])
{
    length[0] = corpus_length(c, CORPUS_SOURCE, i);
    length[1] = corpus_length(c, CORPUS_TARGET, i);
}

static int print_summary(const struct corpus *c, const double *nll,
                         const struct summary *summary)
{
    struct total total = { 0 };
    for (size_t i = 0; i < c->pairs; i++) {
        int length[2];
        lengths(c, i, length);
        if (length[0] == 1 || length[1] == 1)
            continue;
        total.nll += nll[i];
        total.pairs++;
        total.words += length[1];
    }
    if (total.pairs == 0)
        return error("--summary: there is no pair with words on both sides");
    printf("%.9g\n", summary->value(&total));
    return 0;
}

/* `normalize` in single precision, as search has it: the same numbers. */
static int print_pairs(const struct corpus *c, const double *nll,
                       float normalize)
{
    for (size_t i = 0; i < c->pairs; i++) {
        int length[2];
        lengths(c, i, length);
        bool blank = length[0] == 1 && length[1] == 1;
        printf("%.9g\n",
               blank ? 0.0 : -nll[i] / pow(length[1], (double)normalize));
    }
    return 0;
}

/* --- the command line --------------------------------------------------- */

struct options {
    const char *model, *source, *target;
    const struct summary *summary; /* NULL: a line for each pair */
    double normalize;
    int mini_batch, max_length; /* 0: as the model says */
    int threads;
    const char *alignment, *format;
    int eos;
    const char *precision; /* NULL: as the model's configuration says */
    bool help, version, profile;
};

enum {
    OPTION_SUMMARY = 256,
    OPTION_ALIGNMENT,
    OPTION_FORMAT,
    OPTION_EOS,
    OPTION_MINI_BATCH,
    OPTION_MAX_LENGTH,
    OPTION_THREADS,
    OPTION_PRECISION,
    OPTION_PROFILE,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    { "model", required_argument, NULL, 'm' },
    { "normalize", optional_argument, NULL, 'n' },
    { "summary", optional_argument, NULL, OPTION_SUMMARY },
    { "alignment", required_argument, NULL, OPTION_ALIGNMENT },
    { "alignment-format", required_argument, NULL, OPTION_FORMAT },
    { "alignment-eos", required_argument, NULL, OPTION_EOS },
    { "mini-batch", required_argument, NULL, OPTION_MINI_BATCH },
    { "max-length", required_argument, NULL, OPTION_MAX_LENGTH },
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
    case 'n':
        return option_real("--normalize", optarg ? optarg : "1", 0, 10,
                           &o->normalize);
    case OPTION_SUMMARY:
        o->summary = summary_named(optarg ? optarg : summaries[0].name);
        return o->summary ? 0 : -1;
    case OPTION_ALIGNMENT:
        o->alignment = optarg;
        return 0;
    case OPTION_FORMAT:
        o->format = optarg;
        return alignment_format(optarg) ? 0 : -1;
    case OPTION_EOS:
        return option_bool("--alignment-eos", optarg, &o->eos);
    case OPTION_MINI_BATCH:
        return option_int("--mini-batch", optarg, 1, 100000, &o->mini_batch);
    case OPTION_MAX_LENGTH:
        return option_int("--max-length", optarg, 1, 100000, &o->max_length);
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
        return option_hint("attn-score");
    }
}

/* Whether stdout gets the alignments and not the numbers. */
static bool only_alignments(const struct options *o)
{
    return o->alignment && strcmp(o->alignment, "-") == 0;
}

static int check_options(const struct options *o)
{
    if (strcmp(o->source, "-") == 0 && strcmp(o->target, "-") == 0)
        return error("stdin (-) can be only one of SOURCE and TARGET");
    if (o->summary && only_alignments(o))
        return error("--summary and --alignment - cannot both have stdout; "
                     "give --alignment a file");
    if (o->alignment &&
        (lines_rereadable(o->source) < 0 || lines_rereadable(o->target) < 0))
        return -1;
    return 0;
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option;
    while ((option = getopt_long(argc, argv, "m:n::q", long_options, NULL)) !=
           -1)
        if (read_option(o, option) < 0)
            return -1;
    if (o->help || o->version)
        return 0;
    if (!o->model) {
        error("no model given (-m MODEL)");
        return option_hint("attn-score");
    }
    if (argc - optind != 2) {
        error("two files are needed, SOURCE and TARGET, but %d %s given",
              argc - optind, argc - optind == 1 ? "is" : "are");
        return option_hint("attn-score");
    }
    o->source = argv[optind];
    o->target = argv[optind + 1];
    return check_options(o);
}

/* --- scoring ------------------------------------------------------------ */

/* Batches for each thread that are aligned before any is printed. */
enum { WINDOW_BATCHES = 16 };

static int align(const struct options *o, struct scorer *scorer,
                 const struct corpus *c, int mini_batch, int threads,
                 double *nll)
{
    struct alignment_output output;
    int got = alignment_output_open(&output, o->alignment, o->format);
    if (got == 0) {
        struct alignment_writer writer = { .format = output.format,
                                           .out = output.out };
        struct aligner aligner = { .scorer = scorer,
                                   .source = o->source,
                                   .target = o->target,
                                   .mini_batch = mini_batch,
                                   .window = mini_batch * WINDOW_BATCHES *
                                             threads,
                                   .writer = &writer,
                                   .eos = o->eos,
                                   .colour = output.colour };
        got = align_corpus(&aligner, c, nll);
    }
    return alignment_output_close(&output, got);
}

static int score(const struct options *o, const struct model_file *f,
                 const struct corpus *c, double *nll)
{
    struct workers *workers = workers_new(o->threads, gemm_thread_init);
    if (o->profile)
        workers_start_profile(workers);
    struct scorer *scorer = scorer_new(f->model, workers);
    int mini_batch = o->mini_batch > 0 ? o->mini_batch
                                       : f->config.translation.mini_batch;
    int got = 0;
    if (o->alignment)
        got = align(o, scorer, c, mini_batch, workers_count(workers), nll);
    else
        scorer_corpus(scorer, c, mini_batch, nll);
    note("%zu pairs, %zu words of the target; %.0f MiB", c->pairs, c->tokens[1],
         (double)scorer_peak(scorer) / (1 << 20));
    workers_print_profile(workers, stderr);
    scorer_free(scorer);
    workers_free(workers);
    return got;
}

static int print(const struct options *o, const struct corpus *c,
                 const double *nll)
{
    if (only_alignments(o))
        return 0;
    return o->summary ? print_summary(c, nll, o->summary)
                      : print_pairs(c, nll, o->normalize);
}

static int run(const struct options *o)
{
    struct model_file f;
    struct corpus c = { 0 };
    int got = model_file_read(&f, o->model, o->threads, NULL);
    if (got == 0)
        got = computing_prepare(&f, o->precision);
    if (got == 0)
        got = corpus_read_all(&c, o->source, o->target, &f.source, &f.target,
                              o->max_length > 0
                                  ? o->max_length
                                  : f.config.translation.max_length);
    if (got == 0) {
        double *nll = ARRAY_ZERO(nll, c.pairs);
        got = score(o, &f, &c, nll);
        if (got == 0)
            got = print(o, &c, nll);
        free(nll);
    }
    corpus_release(&c);
    model_file_release(&f);
    return got;
}

int main(int argc, char **argv)
{
    struct options o = { .format = "csv", .eos = 1 };
    report_program("attn-score");
    option_signals();
    int got = read_options(&o, argc, argv);
    if (got == 0 && o.help)
        fputs(help, stdout);
    else if (got == 0 && o.version)
        puts("attn-score " ATTN_VERSION);
    else if (got == 0)
        got = run(&o);
    if (output_finish() < 0)
        got = -1;
    if (got == 0)
        return EXIT_DONE;
    return report_status() ? report_status() : EXIT_USAGE;
}
