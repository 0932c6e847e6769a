/* attn-model: looks into model files and converts them. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/output.h"
#include "base/report.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/option.h"
#include "model/model.h"
#include "model/model_file.h"
#include "train/position.h"

static const char help[] =
    "usage: attn-model info [--arrays] MODEL\n"
    "       attn-model convert --precision fp32|bf16|int8 MODEL OUT\n"
    "\n"
    "info prints what a model file holds: its size and precision, the number of\n"
    "its parameters, its vocabularies' sizes, how long it was trained, and the\n"
    "keys of its configuration that shape it.\n"
    "convert stores a model anew, without the state of the training that a\n"
    "checkpoint holds: in bf16 in about half as many bytes, in int8 in a quarter.\n"
    "\n"
    "      --arrays       list every array, too: name, type, shape\n"
    "      --precision P  fp32, bf16 or int8\n"
    "  -q, --quiet        say nothing but warnings and errors\n"
    "      --help         print this text\n"
    "      --version      print the version\n"
    "\n"
    "Exit status: 0 done, 1 reading or writing failed, 2 wrong usage or model\n"
    "file.\n";

static const char training_prefix[] = "training/";

struct options {
    bool arrays, help, version;
    int precision; /* enum precision; -1: not given */
    const char *const *operands;
    int operand_count;
};

/* --- what both begin with ----------------------------------------------- */

/* A model that has been read and checked, and its file, still open. */
struct opened {
    struct model_file file;
    struct npz_reader *reader;
    int training_arrays;
};

static void opened_release(struct opened *m)
{
    npz_close(m->reader);
    model_file_release(&m->file);
}

static int count_training(const struct npz_reader *r)
{
    int n = 0;
    bool is_array;

    for (int i = 0; i < npz_count(r); i++)
        n += strncmp(npz_name(r, i, &is_array), training_prefix,
                     strlen(training_prefix)) == 0;
    return n;
}

static int opened_read(struct opened *m, const char *path)
{
    *m = (struct opened){ 0 };
    if (model_file_read(&m->file, path, 0, &m->reader) < 0 ||
        npz_finish(m->reader, training_prefix) < 0)
        return -1;
    m->training_arrays = count_training(m->reader);
    return 0;
}

static long long file_size(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (long long)st.st_size : 0;
}

/* --- info --------------------------------------------------------------- */

static size_t count_parameters(const struct params *p)
{
    size_t n = 0;

    for (int i = 0; i < p->count; i++)
        n += (size_t)p->list[i].rows * (size_t)p->list[i].cols;
    return n;
}

static int print_progress(const struct opened *m, const char *path)
{
    struct position p = { 0 };

    if (m->file.progress_len == 0) /* a model of attn-bench */
        return 0;
    if (position_parse(&p, path, m->file.progress, m->file.progress_len) < 0)
        return -1;
    printf("updates: %llu\n", (unsigned long long)p.update);
    if (p.validations > 0)
        printf("validation_perplexity: %.4f\n", p.perplexity);
    return 0;
}

static void print_config(const struct config *cfg)
{
    static const char *const keys[] = {
        "model.type",
        "model.output",
        "model.embedding",
        "model.bridge",
        "model.tied_embeddings",
        "encoder.cell",
        "encoder.layers",
        "encoder.hidden",
        "encoder.bidirectional",
        "encoder.self_attention",
        "decoder.style",
        "decoder.cell",
        "decoder.layers",
        "decoder.hidden",
        "attention.kind",
        "attention.score",
        "attention.heads",
    };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct text value = { 0 };
        config_get(cfg, keys[i], &value);
        printf("%s: %s\n", keys[i], value.s);
        text_release(&value);
    }
}

static int print_array(struct npz_reader *r, const char *name)
{
    enum npz_type type;
    int dims[NPZ_DIMS], n = npz_shape(r, name, &type, dims);

    if (n < 0)
        return -1;
    printf("%s\t%s\t[", name, npz_type_name(type));
    for (int i = 0; i < n; i++)
        printf(i > 0 ? ",%d" : "%d", dims[i]);
    puts("]");
    return 0;
}

static int print_arrays(struct npz_reader *r)
{
    for (int i = 0; i < npz_count(r); i++) {
        bool is_array;
        const char *name = npz_name(r, i, &is_array);
        if (is_array && print_array(r, name) < 0)
            return -1;
    }
    return 0;
}

static int print_info(const struct options *o, const struct opened *m)
{
    const char *path = o->operands[0];
    const struct model *model = m->file.model;

    printf("file: %s\nsize: %lld\n", path, file_size(path));
    printf("precision: %s\n", precision_names[m->file.precision]);
    printf("parameters: %zu\n", count_parameters(&model->params));
    printf("source_words: %d\ntarget_words: %d\n", model->source_size,
           model->target_size);
    printf("training_arrays: %d\n", m->training_arrays);
    if (print_progress(m, path) < 0)
        return -1;
    print_config(&m->file.config);
    return o->arrays ? print_arrays(m->reader) : 0;
}

static int info(const struct options *o)
{
    struct opened m;
    int got = opened_read(&m, o->operands[0]);

    if (got == 0)
        got = print_info(o, &m);
    opened_release(&m);
    return got;
}

/* --- convert ------------------------------------------------------------ */

static int save(const struct opened *m, const struct model_texts *texts,
                enum precision precision, const char *path)
{
    struct npz_writer *w = npz_create(path);

    if (w == NULL)
        return -1;
    if (model_file_put_texts(w, texts) == 0 &&
        model_file_put_rounded(w, &m->file.model->params, precision) == 0)
        return npz_commit(w);
    npz_abort(w);
    return -1;
}

static int convert_opened(const struct options *o, const struct opened *m)
{
    const char *from = o->operands[0], *to = o->operands[1];
    enum precision precision = (enum precision)o->precision;
    struct model_texts texts = { 0 };
    long long before = file_size(from);
    int got = model_file_get_texts(m->reader, &texts);

    if (got == 0)
        got = save(m, &texts, precision, to);
    model_texts_release(&texts);
    if (got < 0)
        return -1;
    if (m->training_arrays > 0)
        note("the state of the training (%d arrays) is left out: attn-train "
             "goes on from '%s' only",
             m->training_arrays, from);
    note("%s, %lld bytes, to %s, %lld bytes",
         precision_names[m->file.precision], before, precision_names[precision],
         file_size(to));
    return 0;
}

static int convert(const struct options *o)
{
    struct opened m;

    if (o->precision < 0)
        return error("convert to what? give --precision fp32, bf16 or int8");
    int got = opened_read(&m, o->operands[0]);
    if (got == 0)
        got = convert_opened(o, &m);
    opened_release(&m);
    return got;
}

/* --- the command line --------------------------------------------------- */

static const struct command {
    const char *name;
    int (*run)(const struct options *o);
    int operand_count;
    const char *operands;   /* for messages */
    bool arrays, precision; /* which options it has */
} commands[] = {
    { "info", info, 1, "MODEL", .arrays = true },
    { "convert", convert, 2, "MODEL OUT", .precision = true },
};

enum { OPTION_ARRAYS = 256, OPTION_PRECISION, OPTION_HELP, OPTION_VERSION };

static const struct option long_options[] = {
    { "arrays", no_argument, NULL, OPTION_ARRAYS },
    { "precision", required_argument, NULL, OPTION_PRECISION },
    { "quiet", no_argument, NULL, 'q' },
    { "help", no_argument, NULL, OPTION_HELP },
    { "version", no_argument, NULL, OPTION_VERSION },
    { 0 },
};

static int read_precision(struct options *o, const char *name)
{
    for (int i = 0; i < PRECISIONS; i++)
        if (strcmp(precision_names[i], name) == 0) {
            o->precision = i;
            return 0;
        }
    return error("--precision: '%.100s' is none of fp32, bf16, int8", name);
}

static int read_option(struct options *o, int option)
{
    switch (option) {
    case OPTION_ARRAYS:
        o->arrays = true;
        return 0;
    case OPTION_PRECISION:
        return read_precision(o, optarg);
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
        return option_hint("attn-model");
    }
}

static int read_options(struct options *o, int argc, char **argv)
{
    int option;

    while ((option = getopt_long(argc, argv, "q", long_options, NULL)) != -1)
        if (read_option(o, option) < 0)
            return -1;
    o->operands = (const char *const *)argv + optind;
    o->operand_count = argc - optind;
    return 0;
}

static const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    error("'%.100s' is neither info nor convert", name);
    return NULL;
}

static int run_command(struct options *o)
{
    if (o->operand_count == 0)
        return error("info or convert? usage: attn-model info MODEL, "
                     "attn-model convert --precision P MODEL OUT");
    const struct command *c = command_find(o->operands[0]);
    if (c == NULL)
        return -1;
    o->operands++;
    o->operand_count--;
    if (o->operand_count != c->operand_count)
        return error("%s takes %s, but %d %s given (see attn-model --help)",
                     c->name, c->operands, o->operand_count,
                     o->operand_count == 1 ? "file is" : "files are");
    if ((o->arrays && !c->arrays) || (o->precision >= 0 && !c->precision))
        return error("--%s is not an option of %s",
                     o->arrays && !c->arrays ? "arrays" : "precision", c->name);
    return c->run(o);
}

static int run(struct options *o)
{
    if (o->help)
        fputs(help, stdout);
    else if (o->version)
        puts("attn-model " ATTN_VERSION);
    else if (run_command(o) < 0)
        return -1;
    return output_finish();
}

int main(int argc, char **argv)
{
    static char name[] = "attn-model";
    struct options options = { .precision = -1 };

    report_program(name);
    argv[0] = name; /* what getopt_long() puts before its messages */
    option_signals();
    if (read_options(&options, argc, argv) < 0)
        return EXIT_USAGE;
    return run(&options) < 0 ? report_status() : EXIT_DONE;
}
