/* Which words a translation may have: of a large vocabulary, the most frequent
 * ones and those that translate a word of the sentence (Jean et al. 2015, sec.
 * 3.3).
 *
 *     struct shortlist *s = shortlist_read(path, source, target, &config);
 *     int n = shortlist_words(s, ids, len, &arena, &words);
 *     shortlist_free(s);
 *
 * The file is a lexical translation table as fast_align, Marian and
 * attn-lexicon have it, plain or gzip: lines "TARGET SOURCE PROBABILITY", in
 * any order. A list depends on its sentence alone. Read-only once read, and
 * then thread safe. */
#ifndef ATTN_SEARCH_SHORTLIST_H
#define ATTN_SEARCH_SHORTLIST_H

struct arena;
struct shortlist;
struct vocab;

struct shortlist_config {
    int first; /* of the target vocabulary: in every list */
    int best;  /* most translations of a source word */
};

/* Lines with a word that its vocabulary has not, and those of the empty word
 * NULL, are passed over, counted and noted. NULL after reporting file and line:
 * it cannot be read, a line is not of this form, or no line is left. */
struct shortlist *shortlist_read(const char *path, const struct vocab *source,
                                 const struct vocab *target,
                                 const struct shortlist_config *config);
void shortlist_free(struct shortlist *s);

/* The list of a sentence, source[len]: writes its words, rising, without
 * repetition, where *words then points in the arena; returns how many. The
 * three control words are always in it, so they are words 0, 1 and 2 of it. */
int shortlist_words(const struct shortlist *s, const int *source, int len,
                    struct arena *arena, const int **words);

#endif
