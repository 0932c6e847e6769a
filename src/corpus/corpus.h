/* A parallel corpus in memory, as ids.
 *
 * Both sentences of a pair end in EOS, which their lengths count. Memory: two
 * bytes a token when neither vocabulary has more than 65,536 entries, else
 * four, and nine a pair (EOS takes none). Read-only once read, and then thread
 * safe. */
#ifndef ATTN_CORPUS_CORPUS_H
#define ATTN_CORPUS_CORPUS_H

#include <stddef.h>
#include <stdint.h>

#include "corpus/sentences.h"

struct vocab;

#define CORPUS_LIMIT ((size_t)UINT32_MAX) /* pairs */

enum corpus_side { CORPUS_SOURCE, CORPUS_TARGET };

struct corpus {
    size_t pairs;
    size_t tokens[2];  /* source, target; EOS not counted */
    size_t unknown[2]; /* those of them that are UNK */

    size_t empty;      /* pairs left out: both sides blank, */
    size_t half_empty; /* one side blank, */
    size_t too_long;   /* more than max_length tokens on a side */

    /* private */
    size_t first;               /* pair of sentences that is pair 0 here */
    struct sentences sentences; /* source, target, source, …; without EOS */
};

/* Reads two files, line i of the one being the translation of line i of the
 * other. Pairs with a blank side, and those with more than max_length tokens
 * (without EOS; 0: no limit) on a side, are left out, counted and noted. 0, or
 * -1 after reporting: a file cannot be read, is not UTF-8 (file, line, byte),
 * has not as many lines as the other, or no pair is left. Warns when more than
 * 30 % of the words of a side are unknown. */
int corpus_read(struct corpus *c, const char *source, const char *target,
                const struct vocab *source_vocab,
                const struct vocab *target_vocab, int max_length);

/* The same for those who need an answer to every line: no pair is left out,
 * whatever is blank, and lines of more than max_length words are cut there, with
 * a warning. No pairs at all are fine. */
int corpus_read_all(struct corpus *c, const char *source, const char *target,
                    const struct vocab *source_vocab,
                    const struct vocab *target_vocab, int max_length);

/* The length of a side of pair i, and its ids written into ids[length]. */
int corpus_length(const struct corpus *c, enum corpus_side side, size_t i);
void corpus_ids(const struct corpus *c, enum corpus_side side, size_t i,
                int32_t *ids);

/* `pairs` pairs from pair `from` on, as a corpus that borrows from c: it needs
 * no release, and its counts of words are not set. */
struct corpus corpus_slice(const struct corpus *c, size_t from, size_t pairs);

/* The same pairs in an order that is a function of the seed; release it, too. */
struct corpus corpus_shuffled(const struct corpus *c, uint64_t seed);

/* A number that (nearly surely) differs when the ids or their order differ. */
uint64_t corpus_hash(const struct corpus *c);

size_t corpus_bytes(const struct corpus *c); /* of memory */

void corpus_release(struct corpus *c);

#endif
