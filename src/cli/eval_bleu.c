/* attn-eval bleu */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/report.h"
#include "cli/eval.h"
#include "cli/texts.h"

/* The hypotheses first, then the references. */
static int open_texts(struct texts *t, const struct eval *eval)
{
    int n = 1 + eval->n_operands;
    const char **paths = ARRAY_ALLOC(paths, (size_t)n);

    paths[0] = eval->hypothesis;
    for (int i = 1; i < n; i++)
        paths[i] = eval->operands[i - 1];
    int got = texts_open(t, paths, n);
    free(paths);
    return got;
}

static int count(const struct eval *eval, struct bleu *b)
{
    struct texts t = { 0 };
    int got = open_texts(&t, eval);

    if (got == 0)
        got = 1;
    while (got > 0) {
        got = texts_next(&t);
        if (got > 0)
            bleu_add_multi(b, t.line[0], t.line + 1, t.count - 1);
    }
    if (got == 0 && texts_lines(&t) == 0)
        got = error("%s has no lines: nothing to score", eval->hypothesis);
    texts_release(&t);
    return got;
}

/* sacreBLEU's line, and behind it what has been scored. */
static void print_line(const struct bleu *b, const struct bleu_score *s,
                       int width, enum bleu_smooth smooth)
{
    printf("BLEU = %.*f %.1f/%.1f/%.1f/%.1f (BP = %.3f ratio = %.3f "
           "hyp_len = %ld ref_len = %ld) tokens as given, smoothing %s\n",
           width, s->score, s->precision[0], s->precision[1], s->precision[2],
           s->precision[3], s->brevity, s->ratio, b->hyp_len, b->ref_len,
           bleu_smooth_names[smooth]);
}

int eval_bleu(const struct eval *eval)
{
    struct bleu b = { 0 };
    int width = eval->width < 0 ? 2 : eval->width;
    double value = eval->smooth_value;

    if (value < 0)
        value = bleu_smooth_value(eval->smooth);
    if (count(eval, &b) < 0)
        return -1;
    struct bleu_score s = bleu_score(&b, eval->smooth, value);
    if (eval->score_only)
        printf("%.*f\n", width, s.score);
    else
        print_line(&b, &s, width, eval->smooth);
    return 0;
}
