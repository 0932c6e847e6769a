/* attn-eval aer, attn-eval symmetrize */
#include <stdio.h>
#include <string.h>

#include "base/lines.h"
#include "base/report.h"
#include "base/text.h"
#include "cli/eval.h"
#include "cli/texts.h"
#include "metrics/aer.h"
#include "metrics/links.h"
#include "metrics/symmetrize.h"

/* --- two files of links, side by side, with the texts if they are given --- */

enum { FIRST, SECOND, FILES };

struct pairs {
    struct texts texts; /* the links come first */
    struct links_reader reader[FILES];
    struct links links[FILES];
    int source, target; /* places of the texts; 0: not given */
};

static void pairs_release(struct pairs *p)
{
    for (int i = 0; i < FILES; i++)
        links_release(&p->links[i]);
    texts_release(&p->texts);
}

static int pairs_open(struct pairs *p, const struct eval *eval,
                      const char *const paths[FILES])
{
    static const char *const options[FILES] = { "--base", "--hyp-base" };
    const char *all[FILES + 2] = { paths[FIRST], paths[SECOND] };
    int n = FILES;

    if (eval->source != NULL) {
        p->source = n;
        all[n++] = eval->source;
    }
    if (eval->target != NULL) {
        p->target = n;
        all[n++] = eval->target;
    }
    if (texts_open(&p->texts, all, n) < 0)
        return -1;
    for (int i = 0; i < FILES; i++)
        p->reader[i] = (struct links_reader){
            .in = &p->texts.in[i],
            .base = eval->base[i],
            .option = options[i],
            .reversed = i == SECOND && eval->reversed,
        };
    return 0;
}

static int count_words(const struct texts *t, int i)
{
    const char *cursor = t->line[i].s, *end = cursor + t->line[i].len;
    size_t len;
    int words = 0;

    if (i == 0)
        return -1;
    while (next_token(&cursor, end, &len) != NULL)
        words++;
    return words;
}

/* The links of the next sentences: 1, 0 at the end, -1 after reporting. */
static int pairs_next(struct pairs *p)
{
    int got = texts_next(&p->texts);

    if (got <= 0)
        return got;
    int sources = count_words(&p->texts, p->source);
    int targets = count_words(&p->texts, p->target);
    for (int i = 0; i < FILES; i++) {
        struct bleu_text line = p->texts.line[i];
        if (links_parse(&p->links[i], &p->reader[i], line.s, line.len) < 0 ||
            links_check(&p->links[i], &p->reader[i], sources, targets) < 0)
            return -1;
    }
    return 1;
}

/* Calls fn(arg, first, second) for the links of each pair of sentences. */
typedef void pair_fn(void *arg, const struct links *first,
                     const struct links *second);

static int each_pair(const struct eval *eval, const char *const paths[FILES],
                     pair_fn *fn, void *arg)
{
    struct pairs p = { 0 };
    int got = pairs_open(&p, eval, paths);

    if (got == 0)
        got = 1;
    while (got > 0) {
        got = pairs_next(&p);
        if (got > 0)
            fn(arg, &p.links[FIRST], &p.links[SECOND]);
    }
    for (int i = 0; i < FILES && got == 0; i++)
        links_hint(&p.reader[i]);
    pairs_release(&p);
    return got;
}

/* --- aer --- */

static void add(void *arg, const struct links *gold, const struct links *links)
{
    aer_add(arg, gold, links);
}

static void print_line(const struct aer *a, const struct aer_score *s,
                       int width)
{
    printf("AER = %.*f (precision = %.*f recall = %.*f links = %ld sure = %ld "
           "possible = %ld)\n",
           width, s->rate, width, s->precision, width, s->recall, a->links,
           a->sure, a->possible);
}

int eval_aer(const struct eval *eval)
{
    struct aer a = { 0 };
    int width = eval->width < 0 ? 4 : eval->width;

    if (each_pair(eval, eval->operands, add, &a) < 0)
        return -1;
    if (a.links + a.possible == 0)
        return error("neither %s nor %s has a link: nothing to score",
                     eval->operands[FIRST], eval->operands[SECOND]);
    struct aer_score s = aer_score(&a);
    if (eval->score_only)
        printf("%.*f\n", width, s.rate);
    else
        print_line(&a, &s, width);
    return 0;
}

/* --- symmetrize --- */

struct symmetrizing {
    const struct symmetrization *how;
    struct links links;
};

static void print_one(void *arg, const struct links *forward,
                      const struct links *backward)
{
    struct symmetrizing *s = arg;

    symmetrize(s->how, forward, backward, &s->links);
    links_print(&s->links, stdout);
}

int eval_symmetrize(const struct eval *eval)
{
    struct symmetrizing s = { symmetrization_named(eval->operands[0]), { 0 } };

    if (s.how == NULL)
        return -1;
    int got = each_pair(eval, eval->operands + 1, print_one, &s);
    links_release(&s.links);
    return got;
}
