/* A vocabulary: words and their numbers.
 *
 * The file has a word a line; the line number, from 0, is the id. The first
 * three are <unk>, <s> and </s>. They are ids, not text: the same spelling in
 * a text is an unknown word. Words are UTF-8 without blanks, 1 … VOCAB_WORD
 * bytes; at most VOCAB_LIMIT lines. (A word that ends in 0x0D is written with
 * one more before the 0x0A, which the line reader drops again.)
 *
 * A zeroed struct can be released. Lookups are thread safe. */
#ifndef ATTN_CORPUS_VOCAB_H
#define ATTN_CORPUS_VOCAB_H

#include <stddef.h>
#include <stdio.h>

#include "base/map.h"

enum { UNK = 0, BOS = 1, EOS = 2, VOCAB_CONTROLS = 3 };

#define VOCAB_LIMIT 10000000
#define VOCAB_WORD 4096

struct vocab {
    int size;       /* entries, with the three; 0: not made yet */
    struct map map; /* entry e is id e + VOCAB_CONTROLS */
};

/* Reads a vocabulary file. 0, or -1 after reporting file and line. */
int vocab_load(struct vocab *v, const char *path);

/* Reads one from memory (out of a model file, say); `name` is for messages. */
int vocab_parse(struct vocab *v, const char *name, const char *text,
                size_t len);

/* Counts the words of the files ("-": stdin) and numbers those seen at least
 * min_frequency times by falling count, ties by byte order. max_size, if not
 * 0, is the most entries, with the three. Words longer than VOCAB_WORD are
 * left out. 0, or -1 after reporting what cannot be read or is no UTF-8. */
int vocab_build(struct vocab *v, const char *const *paths, int n, int max_size,
                int min_frequency);

/* Writes the file whole or not at all. 0, or -1 after reporting. */
int vocab_save(const struct vocab *v, const char *path);

/* Writes the lines to a stream, whose errors are the caller's. */
void vocab_write(const struct vocab *v, FILE *out);

/* The bytes of the file, ended by '\0', owned by the caller. */
char *vocab_text(const struct vocab *v, size_t *len);

/* The id of a word of a text: UNK when it is unknown, never BOS or EOS. */
int vocab_lookup(const struct vocab *v, const char *word, size_t len);

/* The ids of the words of a line, </s> not included: writes at most `limit`
 * of them, returns how many words there are. */
int vocab_encode(const struct vocab *v, const char *line, size_t len, int *ids,
                 int limit);

/* The spelling of an id; borrowed, ends in '\0'. */
const char *vocab_token(const struct vocab *v, int id);

void vocab_release(struct vocab *v);

#endif
