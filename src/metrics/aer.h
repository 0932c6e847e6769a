/* Alignment error rate (Och and Ney 2003) against gold alignments.
 *
 *     struct aer a = { 0 };
 *     for each pair of sentences
 *         aer_add(&a, &gold, &links);
 *     printf("%.4f\n", aer_score(&a).rate);
 *
 * With A the links that are judged, S the sure ones of the gold alignment, P
 * its sure and possible ones, all over the whole corpus:
 *
 *     AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)
 *     precision = |A and P| / |A|,   recall = |A and S| / |S|
 *
 * Whether a link of A is written as a possible one makes no difference. */
#ifndef ATTN_METRICS_AER_H
#define ATTN_METRICS_AER_H

struct links;

struct aer {
    long links, sure, possible;      /* |A|, |S|, |P| */
    long links_sure, links_possible; /* |A and S|, |A and P| */
};

void aer_add(struct aer *a, const struct links *gold,
             const struct links *links);

struct aer_score {
    double rate, precision, recall; /* 0 to 1 */
};

/* Never NaN: what would be 0 / 0 is 0. */
struct aer_score aer_score(const struct aer *a);

#endif
