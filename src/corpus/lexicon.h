/* Which word is translated by which: a table of probabilities t(f | e) of a
 * target word f, given a source word e, estimated from sentence pairs by IBM
 * Model 1 (Brown et al. 1993, "The Mathematics of Statistical Machine
 * Translation", sec. 4.1) with a null word, by expectation maximisation.
 *
 *     lexicon_estimate(&l, &corpus, &config, workers);
 *     lexicon_prune(&l, 100, 0.001);
 *     lexicon_write(&l, &source, &target, stdout);
 *     lexicon_release(&l);
 *
 * Every pair of words that occurs in a sentence pair has an entry; a row is a
 * source word's entries. The row of id BOS is the null word's, that of UNK
 * stands for all unknown words: they take part, but are not written, as
 * unknown target words are not. Memory: 16 bytes an entry, and 4 a source word
 * of the text while the table is made. The bits of the result do not depend on
 * the number of threads: counts are whole numbers, in parts of 2^-32. */
#ifndef ATTN_CORPUS_LEXICON_H
#define ATTN_CORPUS_LEXICON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct corpus;
struct vocab;
struct workers;

struct lexicon_config {
    int source_size, target_size; /* entries of the vocabularies */
    int iterations;               /* 1 or more */
};

struct lexicon {
    int rows;           /* source words */
    size_t *start;      // [rows + 1] of a row's entries
    int32_t *target;    // [start[rows]] rising in a row, until pruned
    float *probability; // [start[rows]] t(target | row)
    uint64_t *count;    // [start[rows]] of an iteration; NULL at the end
};

/* Estimates t; tells of each iteration (note, progress). Nothing else runs on
 * the workers meanwhile. */
void lexicon_estimate(struct lexicon *l, const struct corpus *corpus,
                      const struct lexicon_config *config,
                      struct workers *workers);

/* t(target | source) of a table that is not pruned; 0 without an entry. */
float lexicon_probability(const struct lexicon *l, int source, int target);

/* Keeps, in the row of each known word, the `best` entries of known words whose
 * probability is at least `threshold`, by falling probability, ties by id. */
void lexicon_prune(struct lexicon *l, int best, double threshold);

/* The entries of a pruned table, a line "TARGET SOURCE PROBABILITY" each, by
 * source id. Errors of the stream are the caller's. */
void lexicon_write(const struct lexicon *l, const struct vocab *source,
                   const struct vocab *target, FILE *out);

size_t lexicon_entries(const struct lexicon *l);

/* A zeroed struct can be released. */
void lexicon_release(struct lexicon *l);

#endif
