#include "search/translator.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/progress.h"
#include "base/report.h"
#include "base/text.h"
#include "base/workers.h"
#include "search/window.h"

/* A window holds this many batches for each thread. */
enum { WINDOW_BATCHES = 16 };

enum { UNENDED_WARNINGS = 5 };

/* An input line; its words point into text. */
struct input {
    long number; /* of the line, from 1 */
    struct text text;
    int *ids; // [words + 1], with </s>
    int words;
    size_t cap;
};

struct translator {
    struct translator_config config;
    const struct vocab *source, *target;
    struct workers *workers;
    struct window *window;
    struct input *input; // [size]
    struct window_sentence *sentence;
    struct window_result *result;
    int size, filled;
    struct translator_counts counts;
    struct alignment_writer alignments;
};

struct translator *translator_new(const struct model *model,
                                  const struct vocab *source,
                                  const struct vocab *target,
                                  struct workers *workers,
                                  const struct translator_config *config)
{
    struct translator *t = xcalloc(1, sizeof(*t));
    t->config = *config;
    t->source = source;
    t->target = target;
    t->workers = workers;
    t->window = window_new(model, workers);
    t->size = config->mini_batch * WINDOW_BATCHES * workers_count(workers);
    ARRAY_ZERO(t->input, (size_t)t->size);
    ARRAY_ZERO(t->sentence, (size_t)t->size);
    ARRAY_ZERO(t->result, (size_t)t->size);
    return t;
}

void translator_free(struct translator *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->size; i++) {
        text_release(&t->input[i].text);
        free(t->input[i].ids);
    }
    free(t->input);
    free(t->sentence);
    free(t->result);
    window_free(t->window);
    free(t);
}

const struct translator_counts *translator_counts(const struct translator *t)
{
    return &t->counts;
}

/* Ids of the words, cut at the limit, and </s>. */
static void encode(struct translator *t, struct input *in)
{
    int limit = t->config.max_length;
    ARRAY_GROW(in->ids, in->text.len / 2 + 2, in->cap);
    int most = (int)(in->text.len / 2 + 1 < (size_t)limit ? in->text.len / 2 + 1
                                                          : (size_t)limit);
    int words = vocab_encode(t->source, in->text.s ? in->text.s : "",
                             in->text.len, in->ids, most);
    if (words > limit)
        warn("line %ld has %d words; it is translated up to word %d "
             "(--max-length)",
             in->number, words, limit);
    in->words = words < limit ? words : limit;
    in->ids[in->words] = EOS;
}

static void take_line(struct translator *t, long number, const char *line,
                      size_t len)
{
    struct input *in = &t->input[t->filled];
    in->number = number;
    text_reset(&in->text);
    size_t replaced = utf8_repair(&in->text, line, len);
    if (replaced > 0)
        warn("line %ld holds %zu ill-formed UTF-8 or NUL byte sequences; "
             "U+FFFD stands in their place",
             number, replaced);
    encode(t, in);
    t->sentence[t->filled] = (struct window_sentence){
        in->ids, in->words > 0 ? in->words + 1 : 0
    };
    t->filled++;
}

/* Waits for a line, then takes what is there. 1, 0 at the end, -1 on error. */
static int fill(struct translator *t, struct lines *in)
{
    char *line;
    size_t len;
    int got = 1;
    t->filled = 0;
    do {
        got = lines_next(in, &line, &len);
        if (got > 0)
            take_line(t, (long)in->number, line, len);
    } while (got > 0 && t->filled < t->size && lines_ready(in, 0));
    return got;
}

static void print_words(const struct translator *t, const struct hypothesis *h,
                        FILE *out)
{
    for (int i = 0; i < h->len; i++) {
        if (i > 0)
            fputc(' ', out);
        fputs(vocab_token(t->target, h->ids[i]), out);
    }
}

/* Marian's line: number ||| words ||| F0= log p ||| score */
static void print_n_best(const struct translator *t, long number,
                         const struct window_result *r, FILE *out)
{
    static const struct hypothesis nothing = { .ended = true };
    int count = r->count < t->config.n_best ? r->count : t->config.n_best;
    for (int k = 0; k < (count > 0 ? count : 1); k++) {
        const struct hypothesis *h = count > 0 ? &r->best[k] : &nothing;
        fprintf(out, "%ld ||| ", number - 1);
        print_words(t, h, out);
        fprintf(out, " ||| F0= %.9g ||| %.9g\n", h->log_probability, h->score);
    }
}

/* The words of the line as strings; NULs are written behind them. */
static const char **source_words(struct input *in, bool eos)
{
    const char **words = ARRAY_ALLOC(words, (size_t)in->words + 1);
    split_tokens(in->text.s, in->text.len, words, in->words);
    if (eos)
        words[in->words] = "</s>";
    return words;
}

static const char **target_words(const struct translator *t,
                                 const struct hypothesis *h, bool eos)
{
    const char **words = ARRAY_ALLOC(words, (size_t)h->len + 1);
    for (int i = 0; i < h->len; i++)
        words[i] = vocab_token(t->target, h->ids[i]);
    if (eos)
        words[h->len] = "</s>";
    return words;
}

static void print_one_alignment(struct translator *t, const struct input *in,
                                const char *const *source,
                                const struct hypothesis *h, int number)
{
    bool keep = t->config.alignment_eos;
    int S = in->words + keep, T = h->len + (keep && h->ended);
    const char **target = target_words(t, h, keep && h->ended);
    float *weights = ARRAY_ZERO(weights, (size_t)S * (size_t)T + 1);
    for (int i = 0; i < T && h->weights; i++)
        memcpy(weights + (size_t)i * S, h->weights[i],
               (size_t)S * sizeof(*weights));
    struct alignment a = { .sentence = in->number - 1,
                           .hypothesis = number,
                           .sources = S,
                           .targets = T,
                           .source_eos = keep,
                           .target_eos = keep && h->ended,
                           .source = source,
                           .target = target,
                           .weights = weights,
                           .colour = t->config.colour };
    alignment_writer_print(&t->alignments, &a);
    free(weights);
    free(target);
}

static void print_alignments(struct translator *t, struct input *in,
                             const struct window_result *r)
{
    static const struct alignment nothing = { .sources = 0 };
    int count = t->config.n_best > 0 ? t->config.n_best : 1;
    bool numbered = t->config.n_best > 0;
    if (r->count == 0) {
        struct alignment a = nothing;
        a.sentence = in->number - 1;
        a.hypothesis = numbered ? 0 : -1;
        alignment_writer_print(&t->alignments, &a);
        return;
    }
    const char **source = source_words(in, t->config.alignment_eos);
    for (int k = 0; k < r->count && k < count; k++)
        print_one_alignment(t, in, source, &r->best[k], numbered ? k : -1);
    free(source);
}

/* The first ones by their lines, the others by their number at the end. */
static void warn_unended(struct translator *t, const struct input *in,
                         const struct hypothesis *h)
{
    if (++t->counts.unended <= UNENDED_WARNINGS)
        warn("line %ld: no end of the translation was found within %d words; "
             "it stops there (--max-length-factor)",
             in->number, h->len);
}

static void warn_all_unended(const struct translator *t)
{
    if (t->counts.unended > UNENDED_WARNINGS)
        warn("%ld translations in all have no end", t->counts.unended);
}

static void print_results(struct translator *t, FILE *out)
{
    for (int i = 0; i < t->filled; i++) {
        const struct window_result *r = &t->result[i];
        if (t->config.n_best > 0) {
            print_n_best(t, t->input[i].number, r, out);
        } else {
            if (r->count > 0)
                print_words(t, &r->best[0], out);
            fputc('\n', out);
        }
        if (t->config.alignment)
            print_alignments(t, &t->input[i], r);
        if (r->count > 0 && !r->best[0].ended)
            warn_unended(t, &t->input[i], &r->best[0]);
        t->counts.lines++;
        t->counts.words_in += t->input[i].words;
        t->counts.words_out += r->count > 0 ? r->best[0].len : 0;
    }
    fflush(out);
}

static void search(struct translator *t, int n)
{
    struct beam_config beam = t->config.beam;
    double start = clock_seconds();
    beam.weights = t->config.alignment != NULL;
    window_search(t->window, t->sentence, n, t->config.mini_batch, &beam,
                  t->result);
    t->counts.seconds += clock_seconds() - start;
    t->counts.peak = window_peak(t->window);
}

int translator_run(struct translator *t, struct lines *in, FILE *out)
{
    struct progress progress;
    int got;
    progress_init(&progress, PROGRESS_NOTHING);
    t->alignments = (struct alignment_writer){
        .format = t->config.format,
        .out = t->config.alignment,
        .numbered = t->config.n_best > 0,
    };
    if (t->config.alignment)
        alignment_writer_begin(&t->alignments);
    do {
        got = fill(t, in);
        search(t, t->filled);
        print_results(t, out);
        progress_show(&progress, "%ld lines translated", t->counts.lines);
    } while (got > 0 && !ferror(out));
    progress_end(&progress);
    if (t->config.alignment)
        alignment_writer_end(&t->alignments);
    warn_all_unended(t);
    return got < 0 ? -1 : 0;
}

void translator_corpus(struct translator *t, const struct corpus *corpus,
                       translator_take_fn *take, void *arg)
{
    for (size_t from = 0; from < corpus->pairs; from += (size_t)t->size) {
        int n = 0;
        for (; n < t->size && from + (size_t)n < corpus->pairs; n++) {
            struct input *in = &t->input[n];
            int len = corpus_length(corpus, CORPUS_SOURCE, from + (size_t)n);
            ARRAY_GROW(in->ids, (size_t)len, in->cap);
            corpus_ids(corpus, CORPUS_SOURCE, from + (size_t)n, in->ids);
            t->sentence[n] = (struct window_sentence){ in->ids, len };
        }
        search(t, n);
        for (int i = 0; i < n; i++)
            take(arg, from + (size_t)i, &t->result[i].best[0]);
    }
}
