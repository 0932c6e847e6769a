/* The parallel corpus: rules 1 to 6 of odd input, what is left out, what is
 * refused. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/text.h"
#include "corpus/corpus.h"
#include "corpus/vocab.h"
#include "scratch.h"

#define HEAD "<unk>\n<s>\n</s>\n"

/* The two vocabularies: of letters to ids 3 … and of capitals. */
static struct vocab lower, upper;

static int make_vocabularies(void **state)
{
    (void)state;
    return vocab_parse(&lower, "lower", BYTES(HEAD "a\nb\nc\nd\n")) < 0 ||
           vocab_parse(&upper, "upper", BYTES(HEAD "A\nB\nC\nD\nE\n")) < 0;
}

static int release_vocabularies(void **state)
{
    (void)state;
    vocab_release(&lower);
    vocab_release(&upper);
    return 0;
}

/* The ids of a side of pair i, to be freed. */
static int32_t *ids_of(const struct corpus *c, enum corpus_side side, size_t i,
                       int *len)
{
    *len = corpus_length(c, side, i);
    int32_t *ids = ARRAY_ALLOC(ids, (size_t)*len);
    corpus_ids(c, side, i, ids);
    return ids;
}

static void add_side(struct text *t, const struct vocab *v,
                     const struct corpus *c, enum corpus_side side, size_t pair)
{
    int len;
    int32_t *ids = ids_of(c, side, pair, &len);
    for (int i = 0; i < len; i++)
        text_addf(t, "%s%s", i > 0 ? " " : "", vocab_token(v, ids[i]));
    free(ids);
}

/* The corpus as "a b </s> = A </s>; …", to be freed. */
static char *corpus_words(const struct corpus *c)
{
    struct text t = { 0 };
    text_adds(&t, "");
    for (size_t i = 0; i < c->pairs; i++) {
        text_adds(&t, i > 0 ? "; " : "");
        add_side(&t, &lower, c, CORPUS_SOURCE, i);
        text_adds(&t, " = ");
        add_side(&t, &upper, c, CORPUS_TARGET, i);
    }
    return t.s;
}

static int read_files(struct corpus *c, const char *source, size_t source_len,
                      const char *target, size_t target_len, int max_length)
{
    return corpus_read(c, scratch_file("x.src", source, source_len),
                       scratch_file("x.tgt", target, target_len), &lower,
                       &upper, max_length);
}

/* Reads the two texts; what it says has to hold `word` ("": it is silent). */
static void check(const char *source, size_t source_len, const char *target,
                  size_t target_len, int max_length, const char *wanted,
                  const char *word)
{
    struct corpus c;
    capture_start();
    int ret = read_files(&c, source, source_len, target, target_len,
                         max_length);
    const char *said = capture_stop();
    assert_int_equal(ret, 0);
    if (word[0] == '\0')
        assert_string_equal(said, "");
    assert_holds(said, word);
    char *words = corpus_words(&c);
    assert_string_equal(words, wanted);
    free(words);
    corpus_release(&c);
}

static void check_refused(const char *source, size_t source_len,
                          const char *target, size_t target_len,
                          const char *word)
{
    struct corpus c;
    capture_start();
    int ret = read_files(&c, source, source_len, target, target_len, 10);
    const char *said = capture_stop();
    assert_int_equal(ret, -1);
    assert_holds(said, word);
    assert_int_equal(c.pairs, 0);
    assert_null(c.sentences.block);
    corpus_release(&c);
}

static void test_plain(void **state)
{
    (void)state;
    check(BYTES("a b\nc\n"), BYTES("A\nB C D\n"), 0,
          "a b </s> = A </s>; c </s> = B C D </s>", "");
    check(BYTES("a"), BYTES("A"), 0, "a </s> = A </s>", "");
}

/* ---- rules 1 to 3: the clean text and all its dresses are one corpus ----------- */

static void test_line_ends_and_blanks(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } dresses[] = {
        { BYTES("a b\nc\n") },
        { BYTES("a b\nc") },
        { BYTES("a b\r\nc\r\n") },
        { BYTES("a b\r\nc") },
        { BYTES("\xef\xbb\xbf"
                "a b\nc\n") },
        { BYTES("\xef\xbb\xbf"
                "a b\r\nc\r\n") },
        { BYTES("  a \t b  \n\tc\t\n") },
        { BYTES("a  b \nc ") },
    };
    struct corpus first;
    (void)state;
    assert_int_equal(read_files(&first, BYTES("a b\nc\n"), BYTES("A\nB\n"), 0),
                     0);
    for (size_t i = 0; i < sizeof dresses / sizeof *dresses; i++) {
        struct corpus c;
        assert_int_equal(read_files(&c, dresses[i].bytes, dresses[i].len,
                                    BYTES("A\nB\n"), 0),
                         0);
        assert_int_equal(corpus_hash(&c), corpus_hash(&first));
        char *words = corpus_words(&c);
        assert_string_equal(words, "a b </s> = A </s>; c </s> = B </s>");
        free(words);
        corpus_release(&c);
    }
    corpus_release(&first);
}

static void test_other_separators_are_text(void **state)
{
    (void)state;
    /* one line each, the words unknown as they hold more than the letter */
    check(BYTES("a\xe2\x80\xa8 b\n\xc2\x85 a\vb\n"),
          BYTES("A\nA\xc2\xa0"
                "B C\n"),
          0, "<unk> b </s> = A </s>; <unk> <unk> </s> = <unk> C </s>", "%");
    check(BYTES("a\rb a\n"), BYTES("A B C D\n"), 0,
          "<unk> a </s> = A B C D </s>", "%"); /* a lone CR is text */
    check(BYTES("a b c\n\xef\xbb\xbf"
                "a b c d\n"),
          BYTES("A\nA\n"), 0, "a b c </s> = A </s>; <unk> b c d </s> = A </s>",
          "");
}

/* ---- rule 4 -------------------------------------------------------------------- */

static void test_not_utf8(void **state)
{
    (void)state;
    check_refused(BYTES("a\nb \xe9\n"), BYTES("A\nA\n"),
                  "x.src:2: byte offset 2 (4 in the file): not UTF-8");
    check_refused(BYTES("a\nb\n"), BYTES("A\nA \xc0\x80\n"),
                  "x.tgt:2: byte offset 2 (4 in the file): not UTF-8");
    check_refused(BYTES("a\nb\n"), BYTES("A\nA\xe2\x82"),
                  "x.tgt:2: byte offset 1 (3 in the file): not UTF-8");
    check_refused(BYTES("a \0 b\nc\n"), BYTES("A\nA\n"),
                  "x.src:1: byte offset 2 (2 in the file): a NUL byte");
    check_refused(BYTES("a\n\xed\xa0\x80\n"), BYTES("A\nA\n"),
                  "x.src:2: byte offset 0");
    check_refused(BYTES("a\n\xf5\x80\x80\x80\n"), BYTES("A\nA\n"),
                  "x.src:2: byte offset 0");
    check_refused(BYTES("\xff\xfe"
                        "a\0\n\0"),
                  BYTES("A\nA\n"),
                  "x.src:1: byte offset 0: not UTF-8 but UTF-16");
    /* even in a pair that would be left out */
    check_refused(BYTES("a\nb a b a b a b a b a b a b \xe9\n"), BYTES("A\nA\n"),
                  "x.src:2: byte offset 26");
}

/* ---- rule 6 -------------------------------------------------------------------- */

static void test_spelled_controls_are_unknown(void **state)
{
    struct corpus c;
    int len;
    (void)state;
    capture_start();
    assert_int_equal(read_files(&c, BYTES("<s> a </s> <unk>\n"),
                                BYTES("A </s> A\n"), 0),
                     0);
    capture_stop();
    int32_t *ids = ids_of(&c, CORPUS_SOURCE, 0, &len);
    const int32_t wanted[] = { UNK, 3, UNK, UNK, EOS };
    assert_int_equal(len, 5);
    assert_memory_equal(ids, wanted, sizeof wanted);
    assert_int_equal(c.unknown[0], 3);
    free(ids);
    ids = ids_of(&c, CORPUS_TARGET, 0, &len);
    assert_int_equal(len, 4);
    assert_int_equal(ids[1], UNK);
    assert_int_equal(ids[3], EOS);
    free(ids);
    corpus_release(&c);
}

/* ---- what is left out -------------------------------------------------------------- */

static void test_empty_pairs(void **state)
{
    (void)state;
    check(BYTES("a\n\n   \nb\n"), BYTES("A\n\n \t\nB\n"), 0,
          "a </s> = A </s>; b </s> = B </s>", "x.src: 2 empty pairs skipped");
    check(BYTES("a\n\n"), BYTES("A\n\r\n"), 0, "a </s> = A </s>",
          "1 empty pair skipped");
    check(BYTES("\na\n b\n"), BYTES("B\n\nC\n"), 0, "b </s> = C </s>",
          "2 pairs with one side empty skipped");
}

static void test_long_pairs(void **state)
{
    (void)state;
    check(BYTES("a b c\na\na\n"), BYTES("A\nA B C\nA\n"), 2, "a </s> = A </s>",
          "x.src: 2 pairs longer than 2 tokens skipped");
    /* the limit itself is no fault; </s> does not count */
    check(BYTES("a b c\na\n"), BYTES("A\nA B C\n"), 3,
          "a b c </s> = A </s>; a </s> = A B C </s>", "");
    check(BYTES("a b c\n"), BYTES("A\n"), 0, "a b c </s> = A </s>", "");
}

static void test_counts(void **state)
{
    struct corpus c;
    (void)state;
    capture_start();
    int ret = read_files(&c, BYTES("a b x\n\n\n a b c d\na\n"),
                         BYTES("A\n\nB\nA\nY Z\n"), 3);
    capture_stop();
    assert_int_equal(ret, 0);
    assert_int_equal(c.pairs, 2);
    assert_int_equal(c.empty, 1);
    assert_int_equal(c.half_empty, 1);
    assert_int_equal(c.too_long, 1);
    assert_int_equal(c.tokens[0], 4);
    assert_int_equal(c.tokens[1], 3);
    assert_int_equal(c.unknown[0], 1);
    assert_int_equal(c.unknown[1], 2);
    corpus_release(&c);
}

static void test_many_unknown_words(void **state)
{
    (void)state;
    /* 3 of 10 is not above 30 %, 4 of 10 is */
    check(BYTES("a a a a a a a x x x\n"), BYTES("A\n"), 0,
          "a a a a a a a <unk> <unk> <unk> </s> = A </s>", "");
    check(BYTES("a a a a a a x x x x\n"), BYTES("A\n"), 0,
          "a a a a a a <unk> <unk> <unk> <unk> </s> = A </s>",
          "x.src: 40 % of the words are not in the vocabulary");
    check(BYTES("a\n"), BYTES("x\n"), 0, "a </s> = <unk> </s>",
          "x.tgt: 100 % of the words are not in the vocabulary");
}

/* For those who need an answer to every line. */
static void test_all_pairs(void **state)
{
    struct corpus c;
    (void)state;
    const char *source = scratch_text("s", "a b c\n\n\t\na\n");
    const char *target = scratch_text("t", "A\nB\n\nA B C D\n");
    capture_start();
    assert_int_equal(corpus_read_all(&c, source, target, &lower, &upper, 3), 0);
    const char *said = capture_stop();
    assert_holds(said, "t:4: more than 3 words");
    assert_null(strstr(said, "s:1:"));
    char *words = corpus_words(&c);
    assert_string_equal(words, "a b c </s> = A </s>; </s> = B </s>; "
                               "</s> = </s>; a </s> = A B C </s>");
    free(words);
    assert_int_equal(c.tokens[0], 4);
    assert_int_equal(c.tokens[1], 5);
    corpus_release(&c);

    source = scratch_text("s", "");
    target = scratch_text("t", "");
    assert_int_equal(corpus_read_all(&c, source, target, &lower, &upper, 3), 0);
    assert_int_equal(c.pairs, 0);
    assert_int_equal(corpus_hash(&c), corpus_hash(&c));
    corpus_release(&c);

    target = scratch_text("t", "A\n");
    capture_start();
    assert_int_equal(corpus_read_all(&c, source, target, &lower, &upper, 3),
                     -1);
    assert_holds(capture_stop(), "t' has 1");
}

/* ---- what is refused ------------------------------------------------------------------ */

static void test_line_counts_differ(void **state)
{
    (void)state;
    check_refused(BYTES("a\na\na\n"), BYTES("A\nA\n"),
                  "x.src' has 3 lines but '");
    check_refused(BYTES("a\na\na\n"), BYTES("A\nA\n"), "x.tgt' has 2");
    check_refused(BYTES("a\na\n"), BYTES("A\nA\nA\nA\nA"),
                  "x.src' has 2 lines but '");
    check_refused(BYTES("a\na\n"), BYTES("A\nA\nA\nA\nA"), "x.tgt' has 5");
    check_refused(BYTES("a\n"), BYTES("A\n\n"), "x.tgt' has 2");
    check_refused(BYTES(""), BYTES("A\n"), "x.src' has 0 lines");
    check_refused(BYTES("a\n"), BYTES(""), "x.tgt' has 0");
}

static void test_nothing_usable(void **state)
{
    (void)state;
    check_refused(BYTES(""), BYTES(""), "no usable pairs");
    check_refused(BYTES("\xef\xbb\xbf"), BYTES(""), "no usable pairs");
    check_refused(BYTES("\n"), BYTES("\n"), "no usable pairs");
    check_refused(BYTES("a\n\n"), BYTES("\nA\n"), "no usable pairs");
    check_refused(BYTES("a a a a a a a a a a a\n"), BYTES("A\n"),
                  "no usable pairs");
}

static void check_files_refused(const char *source, const char *target,
                                const char *word)
{
    struct corpus c;
    capture_start();
    assert_int_equal(corpus_read(&c, source, target, &lower, &upper, 0), -1);
    assert_holds(capture_stop(), word);
    corpus_release(&c);
}

static void test_files_that_cannot_be_read(void **state)
{
    const char *good = scratch_text("good", "a\n");
    (void)state;
    check_files_refused(scratch_path("missing"), good,
                        "missing: cannot open: No such file");
    check_files_refused(good, scratch_path("missing"),
                        "missing: cannot open: No such file");
    check_files_refused(scratch_path("."), good, "is a folder");
    check_files_refused(good, scratch_path("."), "is a folder");
    if (geteuid() != 0) {
        const char *locked = scratch_text("locked", "a\n");
        chmod(locked, 0);
        check_files_refused(locked, good,
                            "locked: cannot open: Permission denied");
    }
}

static void test_gzip(void **state)
{
    struct corpus c;
    const char *source = scratch_gzip("s.gz", BYTES("a b\nc\n"));
    const char *target = scratch_gzip("t", BYTES("A\nB\n"));
    (void)state;
    assert_int_equal(corpus_read(&c, source, target, &lower, &upper, 0), 0);
    char *words = corpus_words(&c);
    assert_string_equal(words, "a b </s> = A </s>; c </s> = B </s>");
    free(words);
    corpus_release(&c);

    char *packed;
    size_t len = scratch_deflate(BYTES("a b\nc\n"), &packed);
    for (size_t n = 0; n < len; n++)
        check_files_refused(scratch_file("cut.gz", packed, n), target,
                            "cut.gz: the gzip data is cut short");
    free(packed);
}

struct writer {
    const char *path, *text;
};

static void *write_pipe(void *arg)
{
    struct writer *w = arg;
    FILE *f = fopen(w->path, "w");
    fputs(w->text, f);
    fclose(f);
    return NULL;
}

static void test_pipes(void **state)
{
    struct writer w[2] = { { scratch_path("p.src"), "a b\nc\n" },
                           { scratch_path("p.tgt"), "A\nB\n" } };
    pthread_t thread[2];
    struct corpus c;
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mkfifo(w[i].path, 0600), 0);
        pthread_create(&thread[i], NULL, write_pipe, &w[i]);
    }
    assert_int_equal(corpus_read(&c, w[0].path, w[1].path, &lower, &upper, 0),
                     0);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    char *words = corpus_words(&c);
    assert_string_equal(words, "a b </s> = A </s>; c </s> = B </s>");
    free(words);
    corpus_release(&c);
}

/* ---- the line that is too long ------------------------------------------------------------ */

static void test_endless_line(void **state)
{
    struct corpus c;
    char *zeros = xmalloc((size_t)80 << 20), *packed;
    (void)state;
    memset(zeros, 'a', (size_t)80 << 20);
    memcpy(zeros + ((size_t)80 << 20) - 3, "\na\n", 3);
    size_t len = scratch_deflate(zeros, (size_t)80 << 20, &packed);
    const char *source = scratch_file("long.gz", packed, len);
    free(zeros);
    free(packed);
    capture_start();
    int ret = corpus_read(&c, source, scratch_text("t", "A\nB\n"), &lower,
                          &upper, 0);
    const char *said = capture_stop();
    assert_int_equal(ret, 0);
    assert_holds(said, "long.gz:1: a line longer than 67108864 bytes");
    assert_holds(said, "1 pair with a line that is too long skipped");
    char *words = corpus_words(&c);
    assert_string_equal(words, "a </s> = B </s>");
    free(words);
    corpus_release(&c);
}

/* ---- the hash ---------------------------------------------------------------------------- */

static uint64_t hash_of(const char *source, const char *target)
{
    struct corpus c;
    capture_start();
    int ret = read_files(&c, source, strlen(source), target, strlen(target), 0);
    capture_stop();
    assert_int_equal(ret, 0);
    uint64_t hash = corpus_hash(&c);
    corpus_release(&c);
    return hash;
}

static void test_hash(void **state)
{
    uint64_t hash = hash_of("a b\nc\n", "A\nB\n");
    (void)state;
    /* checkpoints hold it; computed in Python of 3 4 2 3 2 5 2 4 2 */
    assert_int_equal(hash, UINT64_C(0x7ba2866682ae96d1));
    assert_int_equal(hash, hash_of("a b\nc\n", "A\nB\n"));
    assert_int_equal(hash,
                     hash_of("a b\n\nc\n", "A\n\nB\n")); /* of what is used */
    assert_int_not_equal(hash, hash_of("b a\nc\n", "A\nB\n"));
    assert_int_not_equal(hash, hash_of("a b\nd\n", "A\nB\n"));
    assert_int_not_equal(hash, hash_of("a\nb c\n", "A\nB\n"));
    assert_int_not_equal(hash, hash_of("a b\nc\n", "A B\nB\n"));
    assert_int_not_equal(hash, hash_of("a b\n", "A\n"));
    assert_int_not_equal(hash, hash_of("c\na b\n", "B\nA\n")); /* order */
    assert_int_not_equal(hash, hash_of("a b\nc\n", "B\nA\n"));
}

/* ---- memory ------------------------------------------------------------------------------ */

/* A vocabulary of so many entries: the words 3 …, the spelling of their ids. */
static void make_vocab(struct vocab *v, int size)
{
    struct text t = { 0 };
    text_adds(&t, HEAD);
    for (int id = VOCAB_CONTROLS; id < size; id++)
        text_addf(&t, "%d\n", id);
    assert_int_equal(vocab_parse(v, "numbers", t.s, t.len), 0);
    text_release(&t);
}

/* A corpus whose one source sentence has every word of such a vocabulary once:
 * its bytes. */
static size_t bytes_of(int size)
{
    struct text s = { 0 };
    struct vocab v;
    struct corpus c;
    int len;
    for (int id = VOCAB_CONTROLS; id < size; id++)
        text_addf(&s, "%d ", id);
    make_vocab(&v, size);
    assert_int_equal(corpus_read(&c, scratch_file("s", s.s, s.len),
                                 scratch_text("t", "A\n"), &v, &upper, 0),
                     0);
    int32_t *ids = ids_of(&c, CORPUS_SOURCE, 0, &len);
    assert_int_equal(len, size - VOCAB_CONTROLS + 1);
    for (int i = 0; i + 1 < len; i++)
        assert_int_equal(ids[i], i + VOCAB_CONTROLS);
    assert_int_equal(ids[len - 1], EOS);
    size_t bytes = corpus_bytes(&c);
    free(ids);
    corpus_release(&c);
    vocab_release(&v);
    text_release(&s);
    return bytes;
}

static void test_bytes_an_id(void **state)
{
    (void)state;
    assert_in_range(bytes_of(65536), 2 * 65536 - 6, 2 * 65536 + 500);
    assert_in_range(bytes_of(65537), 4 * 65537 - 12, 4 * 65537 + 500);
}

static void test_slice(void **state)
{
    struct corpus c;
    (void)state;
    assert_int_equal(read_files(&c, BYTES("a\nb\nc\nd\n"),
                                BYTES("A\nB B\nC\nD\n"), 0),
                     0);
    struct corpus two = corpus_slice(&c, 1, 3);
    two = corpus_slice(&two, 0, 2);
    char *words = corpus_words(&two);
    assert_string_equal(words, "b </s> = B B </s>; c </s> = C </s>");
    free(words);
    corpus_release(&c);
}

/* Pairs stay together, none is lost, and the order depends on the seed. */
static void test_shuffled(void **state)
{
    enum { PAIRS = 4, SEEDS = 20 };
    struct corpus c;
    int moved = 0;
    (void)state;
    assert_int_equal(read_files(&c, BYTES("a\nb\nc\nd\n"),
                                BYTES("A\nB\nC\nD\n"), 0),
                     0);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct corpus other = corpus_shuffled(&c, seed);
        char *words = corpus_words(&other);
        assert_int_equal(other.pairs, PAIRS);
        assert_int_equal(other.tokens[0], PAIRS);
        assert_non_null(strstr(words, "a </s> = A </s>"));
        assert_non_null(strstr(words, "b </s> = B </s>"));
        assert_non_null(strstr(words, "c </s> = C </s>"));
        assert_non_null(strstr(words, "d </s> = D </s>"));
        moved += corpus_hash(&other) != corpus_hash(&c);
        free(words);
        corpus_release(&other);
    }
    assert_true(moved > SEEDS / 2);
    corpus_release(&c);
}

/* ---- a larger one: nothing is lost -------------------------------------------------------- */

static void test_every_pair_is_there(void **state)
{
    enum { PAIRS = 20000 };
    struct text s = { 0 }, t = { 0 };
    struct corpus c;
    (void)state;
    for (uint64_t i = 0; i < PAIRS; i++) {
        uint64_t x = rng_bits(1, RNG_DEMO, 0, i);
        for (uint64_t k = 0; k <= x % 13; k++)
            text_addf(&s, "%c ", (int)('a' + (x >> k) % 4));
        for (uint64_t k = 0; k <= x % 7; k++)
            text_addf(&t, " %c", (int)('A' + (x >> k) % 5));
        text_adds(&s, "\n");
        text_adds(&t, "\n");
    }
    assert_int_equal(read_files(&c, s.s, s.len, t.s, t.len, 0), 0);
    assert_int_equal(c.pairs, PAIRS);
    for (uint64_t i = 0; i < PAIRS; i++) {
        uint64_t x = rng_bits(1, RNG_DEMO, 0, i);
        int len;
        int32_t *ids = ids_of(&c, CORPUS_SOURCE, i, &len);
        assert_int_equal(len, x % 13 + 2);
        for (uint64_t k = 0; k <= x % 13; k++)
            assert_int_equal(ids[k], 3 + (x >> k) % 4);
        assert_int_equal(ids[len - 1], EOS);
        free(ids);
        ids = ids_of(&c, CORPUS_TARGET, i, &len);
        assert_int_equal(len, x % 7 + 2);
        for (uint64_t k = 0; k <= x % 7; k++)
            assert_int_equal(ids[k], 3 + (x >> k) % 5);
        assert_int_equal(ids[len - 1], EOS);
        free(ids);
    }
    corpus_release(&c);
    text_release(&s);
    text_release(&t);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_line_ends_and_blanks),
        cmocka_unit_test(test_other_separators_are_text),
        cmocka_unit_test(test_not_utf8),
        cmocka_unit_test(test_spelled_controls_are_unknown),
        cmocka_unit_test(test_empty_pairs),
        cmocka_unit_test(test_long_pairs),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_many_unknown_words),
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_line_counts_differ),
        cmocka_unit_test(test_nothing_usable),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_pipes),
        cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_bytes_an_id),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_shuffled),
        cmocka_unit_test(test_every_pair_is_there),
    };
    return cmocka_run_group_tests(tests, make_vocabularies,
                                  release_vocabularies);
}
