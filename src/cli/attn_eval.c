/* attn-eval: scores for translations. */
#include <errno.h>
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
#include "metrics/bleu.h"

struct eval {
    const char *hypothesis; /* paths */
    char **references;
    int n_references;
    bool score_only;
    int width; /* digits of the score behind the point */
    enum bleu_smooth smooth;
    double smooth_value; /* negative: the method's usual one */
};

/* --- reading hypotheses and references side by side --- */

typedef void sentence_fn(void *counts, struct bleu_text hyp,
                         const struct bleu_text *refs, int n_refs);

/* Texts read line by line, the hypotheses first, then the references. */
struct texts {
    int count;
    struct lines *in;
    struct bleu_text *line;
};

static void texts_release(struct texts *t)
{
    for (int i = 0; i < t->count; i++)
        lines_release(&t->in[i]);
    free(t->in);
    free(t->line);
}

static int texts_open(struct texts *t, const struct eval *eval)
{
    int stdins = 0;

    t->count = 1 + eval->n_references;
    ARRAY_ZERO(t->in, (size_t)t->count);
    ARRAY_ZERO(t->line, (size_t)t->count);
    for (int i = 0; i < t->count; i++) {
        const char *path = i == 0 ? eval->hypothesis : eval->references[i - 1];
        stdins += strcmp(path, "-") == 0;
        if (stdins > 1)
            return error("stdin (-) can be only one of the texts; give the "
                         "hypotheses by --hypothesis FILE");
        if (lines_open(&t->in[i], path) < 0)
            return -1;
    }
    return 0;
}

/* Reads on to the end; the number of lines, or -1. */
static long count_lines(struct lines *in)
{
    char *line;
    size_t len;
    int got = 1;

    while (got > 0)
        got = lines_next(in, &line, &len);
    return got < 0 ? -1 : (long)in->number;
}

static int different_lengths(struct texts *t, int i)
{
    long hyp = count_lines(&t->in[0]), ref = count_lines(&t->in[i]);

    if (hyp < 0 || ref < 0)
        return -1;
    return error("%s has %ld lines but %s has %ld: each line needs its "
                 "counterpart",
                 t->in[0].name, hyp, t->in[i].name, ref);
}

/* The next line of each text: 1, 0 at the end of all, -1 after reporting. */
static int texts_next(struct texts *t)
{
    int first = 0;

    for (int i = 0; i < t->count; i++) {
        char *line;
        size_t len;
        int got = lines_next(&t->in[i], &line, &len);
        if (got < 0)
            return -1;
        if (i == 0)
            first = got;
        if (got != first)
            return different_lengths(t, i);
        if (got > 0)
            t->line[i] = (struct bleu_text){ line, len };
    }
    return first;
}

static int each_sentence(const struct eval *eval, sentence_fn *add,
                         void *counts)
{
    struct texts t = { 0 };
    int got = -1;

    if (texts_open(&t, eval) < 0)
        goto out;
    while ((got = texts_next(&t)) > 0)
        add(counts, t.line[0], t.line + 1, t.count - 1);
    if (got == 0 && t.in[0].number == 0)
        got = error("%s has no lines: nothing to score", t.in[0].name);
out:
    texts_release(&t);
    return got;
}

/* --- the metrics --- */

static void add_bleu(void *counts, struct bleu_text hyp,
                     const struct bleu_text *refs, int n_refs)
{
    bleu_add_multi(counts, hyp, refs, n_refs);
}

/* sacreBLEU's line, and behind it what has been scored. */
static void print_bleu(const struct bleu *b, const struct bleu_score *s,
                       const struct eval *eval)
{
    printf("BLEU = %.*f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f "
           "hyp_len = %ld ref_len = %ld) tokens as given, smoothing %s\n",
           eval->width, s->score, s->precision[0], s->precision[1],
           s->precision[2], s->precision[3], s->brevity, s->ratio, b->hyp_len,
           b->ref_len, bleu_smooth_names[eval->smooth]);
}

static int eval_bleu(const struct eval *eval)
{
    struct bleu b = { 0 };
    double value = eval->smooth_value;

    if (value < 0)
        value = bleu_smooth_value(eval->smooth);
    if (each_sentence(eval, add_bleu, &b) < 0)
        return -1;
    struct bleu_score s = bleu_score(&b, eval->smooth, value);
    if (eval->score_only)
        printf("%.*f\n", eval->width, s.score);
    else
        print_bleu(&b, &s, eval);
    return 0;
}

static const struct metric {
    const char *name, *help;
    int (*eval)(const struct eval *);
} metrics[] = {
    { "bleu", "n-gram precisions with brevity penalty, 0 to 100", eval_bleu },
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

static void print_help(void)
{
    printf("usage: attn-eval METRIC [OPTION...] REFERENCE... < HYPOTHESES\n"
           "\n"
           "Scores translations, a sentence a line, against one or more "
           "reference\ntranslations with as many lines. Text is scored as it "
           "is: tokens are what blanks\nseparate. FILE may be gzip; '-' is "
           "stdin.\n\nmetrics:\n");
    for (int i = 0; i < METRICS; i++)
        printf("  %-8s %s\n", metrics[i].name, metrics[i].help);
    printf("\n"
           "options:\n"
           "  -i, --hypothesis FILE   the translations (default: stdin)\n"
           "  -b, --score-only        print the score and nothing else\n"
           "  -w, --width N           digits behind the point, 0 to 15 "
           "(default: 2)\n"
           "      --smooth-method M   bleu: for orders without a match: exp "
           "(default), floor,\n"
           "                          add-k, none\n"
           "      --smooth-value X    bleu: value for floor (default: 0.1) and "
           "add-k (1)\n"
           "      --help              show this and end\n"
           "      --version           show the version and end\n");
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

static int parse_number(const char *option, const char *text, double max,
                        double *value)
{
    char *end;

    errno = 0;
    *value = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !isfinite(*value) ||
        *value < 0 || *value > max)
        return error("%s: '%s' is not a number from 0 to %g", option, text,
                     max);
    return 0;
}

static int parse_width(struct eval *eval, const char *text)
{
    double value;

    if (parse_number("--width", text, 15, &value) < 0)
        return -1;
    eval->width = (int)value;
    return eval->width == value ? 0 : error("--width: '%s' is not whole", text);
}

enum { OPTION_HELP = 256, OPTION_VERSION, OPTION_SMOOTH, OPTION_VALUE };

static const struct option options[] = {
    { "hypothesis", required_argument, NULL, 'i' },
    { "score-only", no_argument, NULL, 'b' },
    { "width", required_argument, NULL, 'w' },
    { "smooth-method", required_argument, NULL, OPTION_SMOOTH },
    { "smooth-value", required_argument, NULL, OPTION_VALUE },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { NULL, 0, NULL, 0 },
};

/* 1: go on; 0: all done (--help); -1: reported. */
static int parse_option(struct eval *eval, int option)
{
    switch (option) {
    case 'i':
        eval->hypothesis = optarg;
        return 1;
    case 'b':
        eval->score_only = true;
        return 1;
    case 'w':
        return parse_width(eval, optarg) < 0 ? -1 : 1;
    case OPTION_SMOOTH:
        return parse_smooth(eval, optarg) < 0 ? -1 : 1;
    case OPTION_VALUE:
        return parse_number("--smooth-value", optarg, 1e6,
                            &eval->smooth_value) < 0
                   ? -1
                   : 1;
    case OPTION_HELP:
        print_help();
        return 0;
    case OPTION_VERSION:
        puts("attn-eval " ATTN_VERSION);
        return 0;
    default:
        return error("see attn-eval --help");
    }
}

static int parse_options(struct eval *eval, int argc, char **argv)
{
    for (;;) {
        int option = getopt_long(argc, argv, "i:bw:", options, NULL);
        if (option == -1)
            return 1;
        int more = parse_option(eval, option);
        if (more <= 0)
            return more;
    }
}

static int run(int argc, char **argv)
{
    struct eval eval = {
        .hypothesis = "-",
        .width = 2,
        .smooth = BLEU_SMOOTH_EXP,
        .smooth_value = -1,
    };
    int more = parse_options(&eval, argc, argv);

    if (more <= 0)
        return more;
    if (optind == argc)
        return error("which metric? usage: attn-eval METRIC REFERENCE... < "
                     "HYPOTHESES (see --help)");
    const struct metric *metric = metric_find(argv[optind]);
    if (metric == NULL)
        return -1;
    eval.references = argv + optind + 1;
    eval.n_references = argc - optind - 1;
    if (eval.n_references == 0)
        return error("%s: a file with reference translations is needed",
                     metric->name);
    return metric->eval(&eval);
}

int main(int argc, char **argv)
{
    report_program("attn-eval");
    if (run(argc, argv) < 0 || output_finish() < 0)
        return report_status();
    return EXIT_DONE;
}
