/* BLEU against values worked out by tests/reference_bleu.py, which is also run
 * here, on text that is made up on the spot, when there is a Python. */
#include "metrics/bleu.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define METHODS 4
#define LINES 6

struct set {
    const char *name;
    const char *hyp[LINES], *ref[2][LINES]; /* NULL behind the last */
    double score[METHODS]; /* in the order of enum bleu_smooth */
    long hyp_len, ref_len;
};

static const struct set sets[] = {
    { .name = "one reference",
      .hyp = { "the small boat sails over the lake",
               "we eat bread and and cheese", "nobody knows it" },
      .ref = { { "the little boat sails over the lake",
                 "we eat bread and cheese", "nobody knows it yet" } },
      .score = { 64.50001140844255, 64.50001140844255, 68.38911999336902,
                 64.50001140844255 },
      .hyp_len = 16,
      .ref_len = 16 },
    { .name = "two references",
      .hyp = { "the small boat sails over the lake",
               "we eat bread and and cheese", "nobody knows it" },
      .ref = { { "the little boat sails over the lake",
                 "we eat bread and cheese", "nobody knows it yet" },
               { "a small boat sails across the lake",
                 "bread and butter and cheese", "it is not known" } },
      .score = { 70.98108717509045, 70.98108717509045, 74.71884141493915,
                 70.98108717509045 },
      .hyp_len = 16,
      .ref_len = 16 },
    { .name = "no match of four, short hypotheses",
      .hyp = { "red green blue", "one two  three\tfive" },
      .ref = { { "red green yellow blue white",
                 "one two three four five six" } },
      .score = { 0, 21.236807163443192, 36.0822749899763, 31.75643370888486 },
      .hyp_len = 7,
      .ref_len = 11 },
    { .name = "equal",
      .hyp = { "a b c d e", "f g h i" },
      .ref = { { "a b c d e", "f g h i" } },
      .score = { 100, 100, 100, 100 },
      .hyp_len = 9,
      .ref_len = 9 },
    { .name = "nothing matches",
      .hyp = { "a b c d e" },
      .ref = { { "f g h i j" } },
      .hyp_len = 5,
      .ref_len = 5 },
    { .name = "equal, but less than four tokens",
      .hyp = { "a b" },
      .ref = { { "a b" } },
      .score = { 0, 0, 100, 0 },
      .hyp_len = 2,
      .ref_len = 2 },
    { .name = "empty hypothesis",
      .hyp = { "" },
      .ref = { { "a b c" } },
      .ref_len = 3 },
    { .name = "empty reference",
      .hyp = { "a b" },
      .ref = { { " " } },
      .hyp_len = 2 },
    { .name = "both empty", .hyp = { "" }, .ref = { { "" } } },
    { .name = "no sentence", .hyp = { NULL } },
};

static struct bleu_text text(const char *s)
{
    return (struct bleu_text){ s, strlen(s) };
}

static struct bleu count(const struct set *set)
{
    struct bleu b = { 0 };
    for (int i = 0; set->hyp[i] != NULL; i++) {
        struct bleu_text refs[] = { text(set->ref[0][i]), { NULL, 0 } };
        if (set->ref[1][i] == NULL) {
            bleu_add(&b, text(set->hyp[i]), refs[0]);
            continue;
        }
        refs[1] = text(set->ref[1][i]);
        bleu_add_multi(&b, text(set->hyp[i]), refs, 2);
    }
    return b;
}

static void assert_near(double is, double wanted, const char *what)
{
    if (!(fabs(is - wanted) < 1e-9))
        fail_msg("%s: %.15g, expected %.15g", what, is, wanted);
}

static void test_known_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct bleu b = count(&sets[i]);
        assert_int_equal(b.hyp_len, sets[i].hyp_len);
        assert_int_equal(b.ref_len, sets[i].ref_len);
        for (enum bleu_smooth m = BLEU_SMOOTH_NONE; m < METHODS; m++) {
            struct bleu_score s = bleu_score(&b, m, bleu_smooth_value(m));
            assert_near(s.score, sets[i].score[m], sets[i].name);
            assert_true(isfinite(s.ratio) && isfinite(s.brevity));
        }
    }
}

/* By hand: 7 tokens, of which 6 are right; pairs 4 of 6; and so on. */
static void test_counts(void **state)
{
    struct bleu b = { 0 };
    (void)state;
    bleu_add(&b, text("the small boat sails over the lake"),
             text("the little boat sails over the lake"));
    const long match[] = { 6, 4, 3, 2 }, total[] = { 7, 6, 5, 4 };
    for (int i = 0; i < BLEU_ORDER; i++) {
        assert_int_equal(b.match[i], match[i]);
        assert_int_equal(b.total[i], total[i]);
    }
    struct bleu_score s = bleu_score(&b, BLEU_SMOOTH_EXP, 0);
    assert_near(s.precision[1], 400 / 6.0, "precision of pairs");
    assert_near(s.ratio, 1, "ratio");

    /* Only as often as the reference has it. */
    b = (struct bleu){ 0 };
    bleu_add(&b, text("the the the the"), text("the cat and the dog"));
    assert_int_equal(b.match[0], 2);
    assert_int_equal(b.match[1], 0);
    s = bleu_score(&b, BLEU_SMOOTH_EXP, 0);
    assert_near(s.brevity, exp(1 - 5 / 4.0), "brevity penalty");
    assert_near(s.precision[1], 100 / 2.0 / 3, "first order without a match");
    assert_near(s.precision[2], 100 / 4.0 / 2, "second order without a match");
}

/* Nearest reference length; of two equally near ones the shorter. */
static void test_reference_length(void **state)
{
    struct bleu_text refs[] = { text("1 2 3 4 5 6"), text("1 2"),
                                text("1 2 3 4"), text("1 2 3 4 5 6 7 8 9") };
    struct bleu b = { 0 };
    (void)state;
    bleu_add_multi(&b, text("1 2 3 4 5"), refs, 4); /* 4 and 6 are near */
    assert_int_equal(b.ref_len, 4);
    bleu_add_multi(&b, text("1 2 3 4 5 6 7"), refs, 2);
    assert_int_equal(b.ref_len, 4 + 6);
}

/* Only blanks and tabs split; bytes are compared as they are. */
static void test_tokens(void **state)
{
    struct bleu b = { 0 };
    (void)state;
    bleu_add(&b,
             text("  a\xc2\xa0"
                  "b \t c\v "),
             text("a\xc2\xa0"
                  "b c\v"));
    assert_int_equal(b.hyp_len, 2);
    assert_int_equal(b.match[0], 2);
    bleu_add(&b, (struct bleu_text){ "a\0b", 3 },
             (struct bleu_text){ "a\0c", 3 });
    assert_int_equal(b.hyp_len, 3);
    assert_int_equal(b.match[0], 2);
}

/* --- the same as Python, on text without sense --- */

static const char *word(uint32_t *seed)
{
    static const char *const words[] = { "a", "b", "c", "d", "\xc3\xa9", "ab" };
    *seed = *seed * 1664525u + 1013904223u;
    return words[(*seed >> 16) % (sizeof words / sizeof *words)];
}

static void write_text(const char *path, uint32_t seed, int lines)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < lines; i++) {
        int tokens = (i * 7 + (int)(seed % 3)) % 12; /* some lines are empty */
        for (int t = 0; t < tokens; t++)
            fprintf(f, "%s%s", t > 0 ? " " : "", word(&seed));
        fprintf(f, "\n");
    }
    fclose(f);
}

static struct bleu count_files(const char folder[], int n_refs)
{
    struct bleu b = { 0 };
    FILE *f[4];
    char line[4][256];
    for (int i = 0; i <= n_refs; i++) {
        snprintf(line[i], sizeof line[i], "%s/%d", folder, i);
        f[i] = fopen(line[i], "r");
        assert_non_null(f[i]);
    }
    while (fgets(line[0], sizeof line[0], f[0]) != NULL) {
        struct bleu_text texts[4];
        for (int i = 0; i <= n_refs; i++) {
            if (i > 0)
                assert_non_null(fgets(line[i], sizeof line[i], f[i]));
            texts[i] = (struct bleu_text){ line[i], strcspn(line[i], "\n") };
        }
        bleu_add_multi(&b, texts[0], texts + 1, n_refs);
    }
    for (int i = 0; i <= n_refs; i++)
        fclose(f[i]);
    return b;
}

/* Compares with the lines that Python prints; how many it printed. */
static int compare(FILE *python, const struct bleu *b)
{
    int lines = 0;
    double want[6];
    long hyp, ref;
    char name[16];
    while (fscanf(python, "%15s %lf %lf %lf %lf %lf %lf %ld %ld", name,
                  &want[0], &want[1], &want[2], &want[3], &want[4], &want[5],
                  &hyp, &ref) == 9) {
        enum bleu_smooth m = BLEU_SMOOTH_NONE;
        while (strcmp(bleu_smooth_names[m], name) != 0)
            m++;
        struct bleu_score s = bleu_score(b, m, bleu_smooth_value(m));
        assert_near(s.score, want[0], name);
        for (int i = 0; i < BLEU_ORDER; i++)
            assert_near(s.precision[i], want[1 + i], "precision");
        assert_near(s.brevity, want[5], "brevity penalty");
        assert_int_equal(b->hyp_len, hyp);
        assert_int_equal(b->ref_len, ref);
        lines++;
    }
    return lines;
}

static void test_python_agrees(void **state)
{
    char folder[] = "/tmp/attn-test-bleu-XXXXXX", path[64], command[512];
    char root[256];
    const char *python = getenv("PYTHON");
    (void)state;
    if (python == NULL || *python == '\0')
        python = "python3";
    snprintf(command, sizeof command, "'%s' -c '' 2>/dev/null", python);
    if (system(command) != 0) {
        print_message("# no Python here\n");
        return;
    }
    assert_non_null(getcwd(root, sizeof root));
    assert_non_null(mkdtemp(folder));
    for (uint32_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%u", folder, i);
        write_text(path, 1 + 17 * i, 50);
    }
    for (int n_refs = 1; n_refs <= 3; n_refs++) {
        struct bleu b = count_files(folder, n_refs);
        snprintf(command, sizeof command,
                 "cd '%s' && '%s' '%s/tests/reference_bleu.py' 0 1 %s %s",
                 folder, python, root, n_refs > 1 ? "2" : "",
                 n_refs > 2 ? "3" : "");
        FILE *out = popen(command, "r");
        assert_int_equal(compare(out, &b), METHODS);
        assert_int_equal(pclose(out), 0);
    }
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),     cmocka_unit_test(test_counts),
        cmocka_unit_test(test_reference_length), cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_python_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
