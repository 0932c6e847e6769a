/* attn-eval: scores for translations and for alignments. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/output.h"
#include "base/report.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/eval.h"
#include "cli/option.h"

static const struct metric {
    const char *name, *help;
    const char *operands;
    int least, most;     /* of them */
    const char *options; /* names of those it takes */
    int (*eval)(const struct eval *);
} metrics[] = {
    { .name = "bleu",
      .help = "n-gram precisions with brevity penalty, 0 to 100",
      .operands = "REFERENCE...",
      .least = 1,
      .most = INT_MAX,
      .options = "hypothesis score-only width smooth-method smooth-value",
      .eval = eval_bleu },
    { .name = "aer",
      .help = "alignment error rate of links between words, 0 to 1",
      .operands = "GOLD HYPOTHESIS",
      .least = 2,
      .most = 2,
      .options = "score-only width base hyp-base reversed source target",
      .eval = eval_aer },
    { .name = "symmetrize",
      .help = "one alignment out of those of two directions",
      .operands = "METHOD FORWARD BACKWARD",
      .least = 3,
      .most = 3,
      .options = "base hyp-base reversed source target",
      .eval = eval_symmetrize },
};

enum { METRICS = sizeof metrics / sizeof *metrics };

static const struct metric *metric_find(const char *name)
{
    const char *names[METRICS];

    for (int i = 0; i < METRICS; i++) {
        names[i] = metrics[i].name;
        if (strcmp(name, names[i]) == 0)
            return &metrics[i];
    }
    const char *near = nearest(name, names, METRICS);
    error("'%s' is not a metric%s%s%s (see attn-eval --help)", name,
          near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
          near != NULL ? "'?" : "");
    return NULL;
}

/* --- the command line --- */

static const char help[] =
    "\n"
    "bleu scores translations, a sentence a line, against references with as\n"
    "many lines. Text is scored as it is: tokens are what blanks separate.\n"
    "  -i, --hypothesis FILE   the translations (default: stdin)\n"
    "      --smooth-method M   for orders without a match: exp (default),\n"
    "                          floor, add-k, none\n"
    "      --smooth-value X    value for floor (default: 0.1) and add-k (1)\n"
    "\n"
    "aer scores links i-j between source and target words against gold links,\n"
    "where i?j are only possible. symmetrize prints links: METHOD is intersect,\n"
    "union, grow-diag or grow-diag-final-and.\n"
    "      --base 0|1          number of the first word in GOLD or FORWARD (0)\n"
    "      --hyp-base 0|1      the same for HYPOTHESIS or BACKWARD (0)\n"
    "      --reversed          the latter's links are target-source\n"
    "      --source FILE       the texts: links to words that are not there\n"
    "      --target FILE       are then errors\n"
    "\n"
    "  -b, --score-only        print the score and nothing else\n"
    "  -w, --width N           digits behind the point, 0 to 15 (bleu: 2,\n"
    "                          aer: 4)\n"
    "      --help              show this and end\n"
    "      --version           show the version and end\n"
    "\n"
    "Files may be gzip; '-' is stdin.\n";

static void print_help(void)
{
    for (int i = 0; i < METRICS; i++)
        printf("%s attn-eval %s [OPTION...] %s\n", i == 0 ? "usage:" : "      ",
               metrics[i].name, metrics[i].operands);
    putchar('\n');
    for (int i = 0; i < METRICS; i++)
        printf("  %-12s%s\n", metrics[i].name, metrics[i].help);
    fputs(help, stdout);
}

static int parse_smooth(struct eval *eval, const char *name)
{
    for (int i = 0; bleu_smooth_names[i] != NULL; i++) {
        if (strcmp(name, bleu_smooth_names[i]) == 0) {
            eval->smooth = (enum bleu_smooth)i;
            return 0;
        }
    }
    return error("--smooth-method: '%s' is none of exp, floor, add-k, none",
                 name);
}

enum {
    OPTION_SMOOTH = 256,
    OPTION_VALUE,
    OPTION_BASE,
    OPTION_HYP_BASE,
    OPTION_REVERSED,
    OPTION_SOURCE,
    OPTION_TARGET,
    OPTION_HELP,
    OPTION_VERSION,
};

static const struct option options[] = {
    { "hypothesis", required_argument, NULL, 'i' },
    { "score-only", no_argument, NULL, 'b' },
    { "width", required_argument, NULL, 'w' },
    { "smooth-method", required_argument, NULL, OPTION_SMOOTH },
    { "smooth-value", required_argument, NULL, OPTION_VALUE },
    { "base", required_argument, NULL, OPTION_BASE },
    { "hyp-base", required_argument, NULL, OPTION_HYP_BASE },
    { "reversed", no_argument, NULL, OPTION_REVERSED },
    { "source", required_argument, NULL, OPTION_SOURCE },
    { "target", required_argument, NULL, OPTION_TARGET },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { NULL, 0, NULL, 0 },
};

enum { OPTIONS = sizeof options / sizeof *options - 1 };

/* What the command line says. */
struct command {
    struct eval eval;
    bool given[OPTIONS];
    bool help, version;
};

static int parse_option(struct command *c, int option)
{
    struct eval *eval = &c->eval;

    switch (option) {
    case 'i':
        eval->hypothesis = optarg;
        return 0;
    case 'b':
        eval->score_only = true;
        return 0;
    case 'w':
        return option_int("--width", optarg, 0, 15, &eval->width);
    case OPTION_SMOOTH:
        return parse_smooth(eval, optarg);
    case OPTION_VALUE:
        return option_real("--smooth-value", optarg, 0, 1e6,
                           &eval->smooth_value);
    case OPTION_BASE:
        return option_int("--base", optarg, 0, 1, &eval->base[0]);
    case OPTION_HYP_BASE:
        return option_int("--hyp-base", optarg, 0, 1, &eval->base[1]);
    case OPTION_REVERSED:
        eval->reversed = true;
        return 0;
    case OPTION_SOURCE:
        eval->source = optarg;
        return 0;
    case OPTION_TARGET:
        eval->target = optarg;
        return 0;
    case OPTION_HELP:
        c->help = true;
        return 0;
    case OPTION_VERSION:
        c->version = true;
        return 0;
    default:
        return option_hint("attn-eval");
    }
}

static int parse_options(struct command *c, int argc, char **argv)
{
    int option;
    while ((option = getopt_long(argc, argv, "i:bw:", options, NULL)) != -1) {
        if (parse_option(c, option) < 0)
            return -1;
        for (int i = 0; i < OPTIONS; i++)
            if (options[i].val == option)
                c->given[i] = true;
    }
    return 0;
}

static bool has_word(const char *words, const char *word)
{
    const char *end = words + strlen(words), *token;
    size_t len;

    do
        token = next_token(&words, end, &len);
    while (token != NULL &&
           (len != strlen(word) || strncmp(token, word, len) != 0));
    return token != NULL;
}

/* Whether options and operands are those of the metric. */
static int check(const struct command *c, const struct metric *m)
{
    int n = c->eval.n_operands;

    for (int i = 0; i < OPTIONS; i++)
        if (c->given[i] && !has_word(m->options, options[i].name))
            return error("--%s is not an option of %s", options[i].name,
                         m->name);
    if (n < m->least || n > m->most)
        return error("%s takes %s, but %d %s given (see attn-eval --help)",
                     m->name, m->operands, n, n == 1 ? "file is" : "files are");
    return 0;
}

static int run(int argc, char **argv)
{
    struct command c = {
        .eval = { .hypothesis = "-",
                  .width = -1,
                  .smooth = BLEU_SMOOTH_EXP,
                  .smooth_value = -1 },
    };

    if (parse_options(&c, argc, argv) < 0)
        return -1;
    if (c.help)
        print_help();
    if (c.version)
        puts("attn-eval " ATTN_VERSION);
    if (c.help || c.version)
        return 0;
    if (optind == argc)
        return error("which metric? usage: attn-eval METRIC REFERENCE... < "
                     "HYPOTHESES (see --help)");
    const struct metric *metric = metric_find(argv[optind]);
    if (metric == NULL)
        return -1;
    c.eval.operands = (const char *const *)argv + optind + 1;
    c.eval.n_operands = argc - optind - 1;
    if (check(&c, metric) < 0)
        return -1;
    return metric->eval(&c.eval);
}

int main(int argc, char **argv)
{
    report_program("attn-eval");
    option_signals();
    int got = run(argc, argv);
    if (output_finish() < 0)
        got = -1;
    if (got == 0)
        return EXIT_DONE;
    return report_status() ? report_status() : EXIT_USAGE;
}
