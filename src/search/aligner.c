#include "search/aligner.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/lines.h"
#include "base/report.h"
#include "base/text.h"
#include "corpus/corpus.h"
#include "search/alignment.h"
#include "search/scorer.h"

/* The words of a side, </s> last: a file read for the second time. */
struct words {
    struct lines in;
    const char **word;
    size_t cap;
};

static void words_release(struct words *w)
{
    lines_release(&w->in);
    free(w->word);
}

/* The next line has `count` words and </s>. */
static int words_next(struct words *w, int count)
{
    char *line;
    size_t len;
    int got = lines_next(&w->in, &line, &len);

    if (got < 0)
        return -1;
    ARRAY_GROW(w->word, (size_t)count + 1, w->cap);
    if (got == 0 || split_tokens(line, len, w->word, count) < count)
        return failure("%s has changed while it was read", w->in.name);
    w->word[count] = "</s>";
    return 0;
}

/* The matrix without its last row and column: in place. */
static void drop_eos(float *weights, int targets, int sources)
{
    int kept = sources - 1;

    for (int t = 0; t < targets - 1; t++)
        for (int s = 0; s < kept; s++)
            weights[(size_t)t * (size_t)kept + (size_t)s] =
                weights[(size_t)t * (size_t)sources + (size_t)s];
}

/* Lengths are with </s>: 1 is a blank line. */
static void print_pair(const struct aligner *a, size_t pair,
                       const struct words side[2], const int length[2],
                       float *weights)
{
    bool blank = length[0] == 1 && length[1] == 1;
    struct alignment one = {
        .sentence = (long)pair,
        .hypothesis = -1,
        .sources = length[0] - !a->eos,
        .targets = length[1] - !a->eos,
        .source_eos = a->eos,
        .target_eos = a->eos,
        .source = side[0].word,
        .target = side[1].word,
        .weights = weights,
        .colour = a->colour,
    };

    if (blank)
        one = (struct alignment){ .sentence = (long)pair, .hypothesis = -1 };
    else if (!a->eos)
        drop_eos(weights, length[1], length[0]);
    alignment_writer_print(a->writer, &one);
}

static int print_window(const struct aligner *a, const struct corpus *corpus,
                        size_t from, size_t n, struct words side[2],
                        float **weights)
{
    for (size_t i = 0; i < n; i++) {
        int length[2] = {
            corpus_length(corpus, CORPUS_SOURCE, from + i),
            corpus_length(corpus, CORPUS_TARGET, from + i),
        };
        if (words_next(&side[0], length[0] - 1) < 0 ||
            words_next(&side[1], length[1] - 1) < 0)
            return -1;
        print_pair(a, from + i, side, length, weights[i]);
    }
    return 0;
}

/* Aligns and prints n pairs. */
static int align_window(const struct aligner *a, const struct corpus *corpus,
                        size_t from, size_t n, struct words side[2],
                        double *nll)
{
    struct corpus part = corpus_slice(corpus, from, n);
    float **weights = ARRAY_ZERO(weights, n);

    scorer_align(a->scorer, &part, a->mini_batch, nll + from, weights);
    int got = print_window(a, corpus, from, n, side, weights);
    for (size_t i = 0; i < n; i++)
        free(weights[i]);
    free(weights);
    return got;
}

int align_corpus(const struct aligner *a, const struct corpus *corpus,
                 double *nll)
{
    struct words side[2] = { 0 };
    size_t window = (size_t)a->window, n;
    int got = 0;

    if (lines_open(&side[0].in, a->source) < 0 ||
        lines_open(&side[1].in, a->target) < 0)
        got = -1;
    alignment_writer_begin(a->writer);
    for (size_t from = 0; got == 0 && from < corpus->pairs; from += n) {
        n = corpus->pairs - from < window ? corpus->pairs - from : window;
        got = align_window(a, corpus, from, n, side, nll);
    }
    alignment_writer_end(a->writer);
    words_release(&side[0]);
    words_release(&side[1]);
    return got;
}
