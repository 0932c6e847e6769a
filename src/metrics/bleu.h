/* BLEU (Papineni et al. 2002) of tokenised text, as sacreBLEU 2 computes it
 * with the tokeniser 'none'.
 *
 *     struct bleu b = {0};
 *     for each sentence
 *         bleu_add(&b, hypothesis, reference);
 *     printf("%.2f\n", bleu_score(&b, BLEU_SMOOTH_EXP,
 *                                 bleu_smooth_value(BLEU_SMOOTH_EXP)).score);
 *
 * The counts of all sentences together make the score, so the order in which
 * sentences are added does not matter. Tokens are compared byte by byte and
 * split on 0x20 and 0x09 only (sacreBLEU splits on all Unicode white space).
 * With several references an n-gram may match as often as it occurs in the one
 * which has it most often, and the length nearest to the hypothesis' counts
 * (of two equally near ones the shorter). Orders without an n-gram are not
 * left out ("effective order" is off, as usual for corpora).
 *
 * Memory of a call of bleu_add() is some 100 bytes a token of its sentence and
 * references; none stays. Different structs may be used by different threads. */
#ifndef ATTN_METRICS_BLEU_H
#define ATTN_METRICS_BLEU_H

#include <stddef.h>

enum { BLEU_ORDER = 4 };

struct bleu {
    long match[BLEU_ORDER], total[BLEU_ORDER]; /* n-grams by n - 1 */
    long hyp_len, ref_len;                     /* tokens */
};

/* What stands in for the precision of an order without a match (add-k: 'value'
 * is added to the counts of all orders but the first). */
enum bleu_smooth {
    BLEU_SMOOTH_NONE,  /* 0, and so is the score */
    BLEU_SMOOTH_FLOOR, /* 'value' matches */
    BLEU_SMOOTH_ADD_K,
    BLEU_SMOOTH_EXP, /* 1/2, 1/4, … match; the usual method */
};

/* "none", "floor", "add-k", "exp"; NULL behind them. */
extern const char *const bleu_smooth_names[];

/* The method's usual 'value': 0.1 for floor, 1 for add-k; else unused. */
double bleu_smooth_value(enum bleu_smooth method);

/* Text of a sentence: borrowed. */
struct bleu_text {
    const char *s;
    size_t len;
};

void bleu_add(struct bleu *b, struct bleu_text hyp, struct bleu_text ref);
void bleu_add_multi(struct bleu *b, struct bleu_text hyp,
                    const struct bleu_text *refs, int n_refs); /* at least 1 */

struct bleu_score {
    double score;                 /* 0 to 100 */
    double precision[BLEU_ORDER]; /* 0 to 100, smoothed */
    double brevity;               /* penalty, 0 to 1 */
    double ratio;                 /* hyp_len / ref_len, 0 without references */
};

/* Never NaN: 0 when there is nothing to score, or nothing matches. */
struct bleu_score bleu_score(const struct bleu *b, enum bleu_smooth method,
                             double value);

#endif
