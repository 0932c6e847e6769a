/* A parallel corpus in memory, as ids.
 *
 * Both sentences of a pair end in EOS, which their lengths count. Memory: four
 * bytes a token and 16 a pair. Read-only once read, and then thread safe. */
#ifndef ATTN_CORPUS_CORPUS_H
#define ATTN_CORPUS_CORPUS_H

#include <stddef.h>
#include <stdint.h>

struct vocab;

#define CORPUS_LIMIT ((size_t)UINT32_MAX) /* pairs */

struct corpus_pair {
    size_t start;           /* of the source in ids; the target follows it */
    int32_t source, target; /* lengths, with EOS */
};

struct corpus {
    size_t pairs;
    size_t tokens[2];  /* source, target; EOS not counted */
    size_t unknown[2]; /* those of them that are UNK */

    size_t empty;      /* pairs left out: both sides blank, */
    size_t half_empty; /* one side blank, */
    size_t too_long;   /* more than max_length tokens on a side */

    /* private */
    int32_t *ids;
    size_t ids_len, ids_cap;
    struct corpus_pair *pair;
    size_t pair_cap;
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

/* The ids of pair i, length in *len; borrowed. */
const int32_t *corpus_source(const struct corpus *c, size_t i, int *len);
const int32_t *corpus_target(const struct corpus *c, size_t i, int *len);

/* `pairs` pairs from pair `from` on, as a corpus that borrows from c: it needs
 * no release, and its counts of words are not set. */
struct corpus corpus_slice(const struct corpus *c, size_t from, size_t pairs);

/* A number that (nearly surely) differs when the ids or their order differ. */
uint64_t corpus_hash(const struct corpus *c);

void corpus_release(struct corpus *c);

#endif
