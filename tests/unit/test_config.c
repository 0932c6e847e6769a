/* Configurations: what is read, what is refused and where, what is printed. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "config/config.h"
#include "config/key.h"
#include "config/scalar.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- what goes to stderr ------------------------------------------------- */

struct capture {
    int stderr_copy;
    FILE *file;
};

static struct capture capture_start(void)
{
    struct capture c = { .stderr_copy = dup(STDERR_FILENO), .file = tmpfile() };
    assert_non_null(c.file);
    dup2(fileno(c.file), STDERR_FILENO);
    return c;
}

static char *slurp(FILE *file)
{
    struct text text = { 0 };
    char block[512];
    rewind(file);
    for (size_t n = 1; n > 0;) {
        n = fread(block, 1, sizeof(block), file);
        text_add(&text, block, n);
    }
    fclose(file);
    return text.s ? text.s : xstrdup("");
}

/* What was written to stderr meanwhile; the caller frees it. */
static char *capture_end(struct capture c)
{
    dup2(c.stderr_copy, STDERR_FILENO);
    close(c.stderr_copy);
    return slurp(c.file);
}

static void assert_contains(const char *text, const char *fragment)
{
    if (!strstr(text, fragment))
        fail_msg("'%s' is not in: %s", fragment, text);
}

/* One message, which starts with `place` and says `fragment`. */
static void assert_message(char *message, const char *place,
                           const char *fragment)
{
    char *start = xasprintf("attn: %s", place);
    if (strncmp(message, start, strlen(start)) != 0)
        fail_msg("expected '%s' at the start of: %s", start, message);
    assert_contains(message, fragment);
    assert_string_equal(strchr(message, '\n'), "\n");
    free(start);
    free(message);
}

/* --- short ways ---------------------------------------------------------- */

static int parse(struct config *cfg, const char *text)
{
    return config_parse(cfg, "run.yaml", text, strlen(text));
}

static void assert_parses(struct config *cfg, const char *text)
{
    struct capture c = capture_start();
    int ret = parse(cfg, text);
    char *message = capture_end(c);
    if (ret != 0 || *message)
        fail_msg("refused: %s\n%s", text, message);
    free(message);
}

static void assert_refused(const char *text, size_t len, const char *place,
                           const char *fragment)
{
    struct config cfg;
    config_init(&cfg);
    struct capture c = capture_start();
    int ret = config_parse(&cfg, "run.yaml", text, len);
    char *message = capture_end(c);
    config_release(&cfg);
    if (ret != -1)
        fail_msg("accepted: %s", text);
    assert_message(message, place, fragment);
}

static void assert_set_refused(const char *key, const char *value,
                               const char *fragment)
{
    struct config cfg;
    config_init(&cfg);
    struct capture c = capture_start();
    int ret = config_set(&cfg, key, value);
    char *message = capture_end(c);
    config_release(&cfg);
    if (ret != -1)
        fail_msg("accepted: %s %s", key, value);
    char *place = xasprintf("--%s: ", key);
    assert_message(message, place, fragment);
    free(place);
}

static char *dump(const struct config *cfg, bool sources)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    config_dump(cfg, file, sources);
    return slurp(file);
}

static void assert_same(const struct config *a, const struct config *b)
{
    const char *difference = config_difference(a, b, NULL);
    if (difference)
        fail_msg("%s differs", difference);
}

static void assert_get(const struct config *cfg, const char *key,
                       const char *expected)
{
    struct text text = { 0 };
    config_get(cfg, key, &text);
    assert_string_equal(text.s ? text.s : "", expected);
    text_release(&text);
}

/* --- tables -------------------------------------------------------------- */

static void test_defaults_are_in_range(void **state)
{
    (void)state;
    for (int i = 0; i < KEY_COUNT; i++) {
        const struct key *key = &config_keys[i];
        assert_true(config_is_key(key->dotted));
        assert_ptr_equal(key_find(key->dotted), key);
        assert_true(*key->help != '\0' && !strchr(key->help, '\n'));
        if (key->type == KEY_STRING || key->type == KEY_NAME) {
            assert_non_null(key->text);
            continue;
        }
        if (key->type == KEY_BOOL)
            continue;
        assert_true(key->min < key->max);
        assert_true(key->min <= key->number && key->number <= key->max);
        if (key->type == KEY_INT) {
            assert_true(key->min >= INT32_MIN && key->max <= INT32_MAX);
            assert_true(key->number == floor(key->number));
        }
    }
    assert_false(config_is_key("training"));
    assert_false(config_is_key("training."));
    assert_false(config_is_key("dropout"));
    assert_false(config_is_key(""));
}

static void test_init_and_release(void **state)
{
    (void)state;
    struct config cfg = { 0 };
    config_release(&cfg);
    config_init(&cfg);
    assert_int_equal(cfg.training.batch_size, 64);
    assert_true(cfg.training.learning_rate == 0.001);
    assert_true(cfg.encoder.bidirectional);
    assert_string_equal(cfg.encoder.cell, "gru");
    assert_string_equal(cfg.data.source, "");
    config_release(&cfg);
    config_release(&cfg);
}

/* --- good files ---------------------------------------------------------- */

static void test_empty_documents(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "\n\n",
        "# only a comment\n",
        "---\n",
        "{}\n",
        "---\n...\n",
        "%YAML 1.1\n---\n",
        "\xEF\xBB\xBF",
        "data:\n",
        "data: {}\n",
        "\r\n",
        "data:\n\ntraining:\n",
    };
    struct config defaults;
    config_init(&defaults);
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct config cfg;
        config_init(&cfg);
        assert_parses(&cfg, texts[i]);
        assert_same(&cfg, &defaults);
        config_release(&cfg);
    }
    config_release(&defaults);
}

static void test_every_type(void **state)
{
    (void)state;
    struct config cfg;
    config_init(&cfg);
    assert_parses(&cfg, "\xEF\xBB\xBF# with a byte order mark\n"
                        "training:\n"
                        "  batch_size: 32\n"
                        "  dropout: 0.25   # a comment\n"
                        "  optimizer: sgd\n"
                        "encoder: {bidirectional: no, \"cell\": 'lstm'}\n"
                        "data:\r\n"
                        "  source: train.de.gz\r\n"
                        "  target: \"a \\\"b\\\"\\n\\u00e9\"\r\n");
    assert_int_equal(cfg.training.batch_size, 32);
    assert_true(cfg.training.dropout == 0.25);
    assert_string_equal(cfg.training.optimizer, "sgd");
    assert_false(cfg.encoder.bidirectional);
    assert_string_equal(cfg.encoder.cell, "lstm");
    assert_string_equal(cfg.data.source, "train.de.gz");
    assert_string_equal(cfg.data.target, "a \"b\"\n\xC3\xA9");
    config_release(&cfg);
}

static void test_text_stays_text(void **state)
{
    (void)state;
    static const struct {
        const char *written, *value;
    } cases[] = {
        { "1e3", "1e3" },
        { "null", "null" },
        { "~", "~" },
        { "no", "no" },
        { "true", "true" },
        { "0x10", "0x10" },
        { "010", "010" },
        { "2024-01-01", "2024-01-01" },
        { ".inf", ".inf" },
        { "", "" },
        { "''", "" },
        { "\"\"", "" },
        { "'it''s'", "it's" },
        { "a b  c", "a b  c" },
        { "a\n    b", "a b" },
        { "|\n    a\n    b\n", "a\nb\n" },
        { ">-\n    a\n    b\n", "a b" },
        { "\"\\x41\\u00df\\U0001F600\"", "A\xC3\x9F\xF0\x9F\x98\x80" },
        { "C:/x#y", "C:/x#y" },
        { "a:b", "a:b" },
        { "a%TAG", "a%TAG" },
        { "\xE2\x82\xAC", "\xE2\x82\xAC" },
        { "\xC2\xA0", "\xC2\xA0" },
        { "a\xEF\xBB\xBF", "a\xEF\xBB\xBF" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct config cfg;
        config_init(&cfg);
        char *text = xasprintf("data:\n  source: %s\n", cases[i].written);
        assert_parses(&cfg, text);
        assert_string_equal(cfg.data.source, cases[i].value);
        free(text);
        config_release(&cfg);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *written;
        double value;
    } cases[] = {
        { "0.001", 0.001 },   { "1e-3", 0.001 },
        { "1.0e-3", 0.001 },  { ".001", 0.001 },
        { "+1E-3", 0.001 },   { "1.e-3", 0.001 },
        { "1", 1 },           { "100", 100 },
        { "0", 0 },           { "-0", 0 },
        { "-0.0e5", 0 },      { "0e999", 0 },
        { "1e-300", 1e-300 }, { "5e-324", 5e-324 },
        { "007.5", 7.5 },     { "0.1000000000000000055511151231257827", 0.1 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct config cfg;
        config_init(&cfg);
        char *text = xasprintf("training: {learning_rate: %s}",
                               cases[i].written);
        assert_parses(&cfg, text);
        assert_true(cfg.training.learning_rate == cases[i].value);
        assert_false(signbit(cfg.training.learning_rate));
        assert_int_equal(config_set(&cfg, "training.learning_rate",
                                    cases[i].written),
                         0);
        assert_true(cfg.training.learning_rate == cases[i].value);
        free(text);
        config_release(&cfg);
    }
}

static void test_whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *written;
        int value;
    } cases[] = {
        { "0", 0 },
        { "-0", 0 },
        { "+7", 7 },
        { "010", 10 },
        { "2147483647", 2147483647 },
        { "0000000000000000001", 1 },
    };
    struct config cfg;
    config_init(&cfg);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(config_set(&cfg, "training.seed", cases[i].written),
                         0);
        assert_int_equal(cfg.training.seed, cases[i].value);
    }
    config_release(&cfg);
}

static void test_truths(void **state)
{
    (void)state;
    static const char *const words[] = {
        "true",  "True",  "TRUE",  "yes", "Yes", "YES", "on",  "On",  "ON",
        "false", "False", "FALSE", "no",  "No",  "NO",  "off", "Off", "OFF",
    };
    struct config cfg;
    config_init(&cfg);
    for (size_t i = 0; i < COUNT(words); i++) {
        char *text = xasprintf("encoder: {residual: %s}", words[i]);
        assert_parses(&cfg, text);
        assert_int_equal(cfg.encoder.residual, i < COUNT(words) / 2);
        assert_int_equal(config_set(&cfg, "decoder.residual", words[i]), 0);
        assert_int_equal(cfg.decoder.residual, i < COUNT(words) / 2);
        free(text);
    }
    config_release(&cfg);
}

static void test_later_wins(void **state)
{
    (void)state;
    struct config cfg;
    config_init(&cfg);
    assert_parses(&cfg, "training: {epochs: 3, seed: 5}");
    assert_parses(&cfg, "training: {epochs: 4}");
    assert_int_equal(config_set(&cfg, "training.seed", "6"), 0);
    assert_int_equal(config_set(&cfg, "training.seed", "7"), 0);
    assert_int_equal(cfg.training.epochs, 4);
    assert_int_equal(cfg.training.seed, 7);
    config_release(&cfg);
}

/* Runs a shell command, which it frees. */
static void run(char *command)
{
    assert_int_equal(system(command), 0);
    free(command);
}

/* Makes numbers be written with a comma; false when that is not possible. */
static bool enter_comma_locale(const char *folder)
{
    run(xasprintf("cd %s && exec >/dev/null 2>&1;"
                  "printf 'LC_NUMERIC\\ndecimal_point \",\"\\n"
                  "thousands_sep \".\"\\ngrouping 3\\nEND LC_NUMERIC\\n' >def;"
                  "localedef -c -i def -f ANSI_X3.4-1968 ./comma; true",
                  folder));
    setenv("LOCPATH", folder, 1);
    bool entered = setlocale(LC_NUMERIC, "comma") != NULL;
    unsetenv("LOCPATH");
    return entered;
}

static void test_locale(void **state)
{
    (void)state;
    char folder[] = "/tmp/test_config.XXXXXX";
    assert_non_null(mkdtemp(folder));
    if (!enter_comma_locale(folder))
        print_message("# no locale with a comma can be made here\n");
    struct config cfg;
    config_init(&cfg);
    assert_parses(&cfg, "training: {dropout: 0.25}");
    assert_true(cfg.training.dropout == 0.25);
    assert_get(&cfg, "training.dropout", "0.25");
    assert_set_refused("training.dropout", "0,25", "is not a number");
    setlocale(LC_NUMERIC, "C");
    config_release(&cfg);
    run(xasprintf("rm -r %s", folder));
}

/* --- bad files ----------------------------------------------------------- */

static const struct {
    const char *text, *place, *fragment;
} bad[] = {
    /* unknown */
    { "trainig: {seed: 1}", "1:1",
      "unknown section 'trainig'; did you mean 'training'?" },
    { "# x\n\n  trainig:\n    seed: 1\n", "3:3", "'trainig'" },
    { "nonsense: 1", "1:1", "unknown section 'nonsense'\n" },
    { "dropout: 0.1", "1:1", "did you mean 'training.dropout'?" },
    { "dropuot: 0.1", "1:1", "did you mean 'training.dropout'?" },
    { "training.dropout: 0.1", "1:1", "write 'dropout' below 'training:'" },
    { "Training: {}", "1:1", "did you mean 'training'?" },
    { "'': {}", "1:1", "unknown section ''" },
    { "~: {}", "1:1", "unknown section '~'" },
    { "<<: {}", "1:1", "unknown section '<<'" },
    { "? trainig\n: {}", "1:3", "unknown section 'trainig'" },
    { "training:\n  droput: 0.1", "2:3",
      "unknown key 'droput' in section 'training'; did you mean 'training.dropout'?" },
    { "model:\n  dropout: 0.1", "2:3", "did you mean 'training.dropout'?" },
    { "model:\n  layers: 1", "2:3",
      "did you mean 'encoder.layers' or 'decoder.layers'?" },
    { "model:\n  learning_rat: 1", "2:3",
      "did you mean 'training.learning_rate'?" },
    { "model:\n  qqqqqqqq: 1", "2:3",
      "unknown key 'qqqqqqqq' in section 'model'\n" },
    { "training:\n  training.seed: 1", "2:3",
      "write 'seed' below 'training:'" },
    { "training:\n  <<: {seed: 1}", "2:3", "unknown key '<<'" },
    { "training:\n  \"a\\nb\": 1", "2:3", "unknown key 'a?b'" },
    { "training: {seed: 1, sed: 2}", "1:21", "did you mean 'training.seed'?" },
    { "training: {\xC3\xA9\xC3\xA9: 1, sed: 2}", "1:12",
      "unknown key '\xC3\xA9\xC3\xA9'" },
    { "training: {aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 1}",
      "1:12", "aaaa\xE2\x80\xA6' in section 'training'\n" },

    { "a\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
      "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
      "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
      "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9: 1",
      "1:1", "\xC3\xA9\xE2\x80\xA6'\n" },

    /* twice */
    { "training: {}\ntraining: {}", "2:1",
      "duplicate section 'training', first in line 1\n" },
    { "training:\ndata:\ntraining:\n", "3:1", "duplicate section 'training'" },
    { "training:\n  seed: 1\n  epochs: 2\n  seed: 1", "4:3",
      "duplicate key 'training.seed', first in line 2" },
    { "training: {seed: 1, \"seed\": 1}", "1:21", "duplicate key" },
    { "training: {seed: 1, ? 'seed' : 1}", "1:23", "duplicate key" },

    /* whole numbers */
    { "training:\n  seed: x", "2:9",
      "training.seed: 'x' is not a whole number" },
    { "training:\n  seed: 1.5", "2:9", "'1.5' is not a whole number" },
    { "training:\n  seed: 1.0", "2:9", "is not a whole number" },
    { "training:\n  seed: 1e3", "2:9", "is not a whole number" },
    { "training:\n  seed: 0x10", "2:9", "is not a whole number" },
    { "training:\n  seed: 0o10", "2:9", "is not a whole number" },
    { "training:\n  seed: 1_000", "2:9", "is not a whole number" },
    { "training:\n  seed: 1,000", "2:9", "is not a whole number" },
    { "training:\n  seed: 1:30", "2:9", "is not a whole number" },
    { "training:\n  seed: +", "2:9", "is not a whole number" },
    { "training:\n  seed: - 1", "2:9", "block sequence" },
    { "training:\n  seed: null", "2:9", "'null' is not a whole number" },
    { "training:\n  seed: ~", "2:9", "is not a whole number" },
    { "training:\n  seed:\n", "2:8",
      "training.seed: '' is not a whole number" },
    { "training:\n  seed: true", "2:9", "is not a whole number" },
    { "training:\n  seed: \"1\"", "2:9", "in quotes" },
    { "training:\n  seed: '1'", "2:9", "in quotes" },
    { "training:\n  seed: |\n    1\n", "2:9", "in quotes" },
    { "training:\n  seed: 1 2", "2:9", "'1 2' is not a whole number" },
    { "training:\n  seed: \xD9\xA1", "2:9", "is not a whole number" },

    /* ranges */
    { "training:\n  seed: -1", "2:9", "'-1' is out of range, 0 to 2147483647" },
    { "training:\n  seed: 2147483648", "2:9", "is out of range" },
    { "training:\n  seed: 99999999999999999999", "2:9", "is out of range" },
    { "training:\n  seed: -99999999999999999999", "2:9", "is out of range" },
    { "training:\n  batch_size: 0", "2:15", "is out of range, 1 to 100000" },
    { "training: {dropout: 0.96}", "1:21",
      "'0.96' is out of range, 0 to 0.95" },
    { "training: {dropout: -1e-9}", "1:21", "is out of range" },
    { "training: {dropout: 1e999}", "1:21", "is out of range" },
    { "training: {learning_rate: 1e-999}", "1:27", "nearer to 0" },
    { "training: {average: 1}", "1:21", "is out of range, 0 to 0.9999999" },

    /* numbers */
    { "training: {dropout: x}", "1:21", "'x' is not a number" },
    { "training: {dropout: 1e-3x}", "1:21", "'1e-3x' is not a number" },
    { "training: {dropout: 0,1}", "1:23", "unknown key '1'" },
    { "training: {dropout: .}", "1:21", "is not a number" },
    { "training: {dropout: 1e}", "1:21", "is not a number" },
    { "training: {dropout: e1}", "1:21", "is not a number" },
    { "training: {dropout: --1}", "1:21", "is not a number" },
    { "training: {dropout: .nan}", "1:21", "is not a number" },
    { "training: {dropout: nan}", "1:21", "is not a number" },
    { "training: {dropout: .inf}", "1:21", "is not a number" },
    { "training: {dropout: inf}", "1:21", "is not a number" },
    { "training: {dropout: 0x1p-4}", "1:21", "is not a number" },
    { "training: {dropout: \"0.1\"}", "1:21", "in quotes, not a number" },
    { "training: {dropout: 10%}", "1:21", "is not a number" },
    { "training: {dropout: }", "1:21", "is not a number" },

    /* truths */
    { "encoder: {residual: 1}", "1:21", "'1' is neither true nor false" },
    { "encoder: {residual: y}", "1:21", "is neither" },
    { "encoder: {residual: tRUE}", "1:21", "is neither" },
    { "encoder: {residual: null}", "1:21", "is neither" },
    { "encoder: {residual: 'true'}", "1:21", "in quotes" },

    /* not one value */
    { "data: {source: [a, b]}", "1:16",
      "data.source: needs one value, not a list" },
    { "data:\n  source:\n    - a\n", "3:5", "needs one value" },
    { "data:\n  source:\n    a: b\n", "3:5", "not a list of keys" },
    { "data: {source: {a: b}}", "1:16", "not a list of keys" },
    { "training: {seed: []}", "1:18", "needs one value" },
    { "training: 5", "1:11", "'training' is a section" },
    { "training: ''", "1:11", "'training' is a section" },
    { "training: ~", "1:11", "'training' is a section" },
    { "training: [seed]", "1:11", "'training' is a section" },
    { "training:\n- seed: 1\n", "2:1", "'training' is a section" },
    { "training:\nseed: 1\n", "2:1", "did you mean 'training.seed'?" },
    { "? [a]\n: b", "1:3", "the name of a section is needed here" },
    { "training: {? {a: b} : 1}", "1:14", "the name of a key is needed here" },
    { "training: {[a]: 1}", "1:12", "the name of a key is needed here" },

    /* not a mapping of sections */
    { "5", "1:1", "is sections with keys" },
    { "text\n", "1:1", "sections with keys" },
    { "''", "1:1", "sections with keys" },
    { "\n\n- a\n- b\n", "3:1", "sections with keys" },
    { "[]", "1:1", "sections with keys" },
    { "--- 5\n", "1:5", "sections with keys" },
    { "training = 5", "1:1", "sections with keys" },

    /* anchors, aliases, tags, documents, directives */
    { "training: &a {seed: 1}", "1:11", "anchors (&)" },
    { "training: {seed: &a 1}", "1:18", "anchors (&)" },
    { "&a training: {seed: 1}", "1:1", "anchors (&)" },
    { "data: {source: &a [b]}", "1:16", "anchors (&)" },
    { "training: {seed: *a}", "1:18", "aliases (*)" },
    { "training: *a", "1:11", "aliases (*)" },
    { "*a : 1", "1:1", "aliases (*)" },
    { "training: {seed: !!int 1}", "1:18", "tags (!)" },
    { "training: {seed: ! 1}", "1:18", "tags (!)" },
    { "data: {source: !x y}", "1:16", "tags (!)" },
    { "training: !!map {}", "1:11", "tags (!)" },
    { "!x\ntraining: {}", "1:1", "tags (!)" },
    { "data: {source: !!seq []}", "1:16", "tags (!)" },
    { "training: {seed: !u!x 1}", "1:18", "undefined tag handle" },
    { "%TAG ! tag:x,2000:\n---\ntraining: {}", "1:1", "tags (%TAG)" },
    { "training: {}\n...\n%TAG ! x\n---\n", "3:1", "tags (%TAG)" },
    { "#\xE2\x80\xA8%TAG ! x\n---\n", "1:3", "tags (%TAG)" },
    { "%YAML 3.0\n---\ntraining: {}", "1:1", "incompatible" },
    { "%YAML 1.1\n%YAML 1.1\n---\n", "2:1", "%YAML" },
    { "training: {}\n---\ntraining: {}", "2:1", "a second document" },
    { "training: {}\n---\n", "2:1", "a second document" },
    { "--- {}\n...\n---\n{}\n", "3:1", "a second document" },
    { "---\n---\n", "2:1", "a second document" },

    /* syntax */
    { "training:\n\tseed: 1", "2:1", "cannot start any token" },
    { "training: {seed: 1", "1:19", "flow mapping" },
    { "training:\n  seed: 1\n   epochs: 2\n", "2:9", "'1 epochs' is not" },
    { "training:\n  seed: 1\n epochs: 2\n", "3:2", "block mapping" },
    { "data: {source: \"a", "1:18", "quoted scalar" },
    { "data: {source: 'a", "1:18", "quoted scalar" },
    { "data: {source: \"\\q\"}", "1:17", "escape" },
    { "data: {source: \"\\uD800\"}", "1:19", "Unicode" },
    { "data: {source: @x}", "1:16", "cannot start any token" },
    { "data: {source: `x}", "1:16", "cannot start any token" },
    { "data: a: b", "1:7", "is a section" },
    { "data:\n  source\n", "2:3", "'data' is a section" },
    { "}", "1:1", "node content" },
    { "\xC2\x85\xE2\x80\xA8 data: a: b", "1:10", "'data' is a section" },

    /* bytes */
    { "data:\n  source: a\xFF\n", "2:12", "not UTF-8 (byte 0xff)" },
    { "\xFF\xFE"
      "d",
      "1:1", "not UTF-8" },
    { "data: {source: \xC3\xA9\xC3}", "1:17", "not UTF-8 (byte 0xc3)" },
    { "# \xED\xA0\x80\n", "1:3", "not UTF-8" },
    { "# \xC0\x80\n", "1:3", "not UTF-8" },
    { "\x1F\x8B\x08", "1:2", "not UTF-8" },
    { "data: {source: a\x01}", "1:17", "control characters" },
    { "\xEF\xBB\xBF"
      "data:\n  source: \x1B",
      "2:11", "control characters" },
    { "\xC3\xA9\x7F", "1:2", "control characters" },
    { "# \xEF\xBF\xBE", "1:3", "control characters" },
    { "data: {source: \"\\0\"}", "1:16", "NUL" },
    { "data: {\"source\\0x\": a}", "1:8", "NUL" },
    { "\"data\\0x\": {source: a}", "1:1", "NUL" },
};

static void test_bad_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        char *place = xasprintf("run.yaml:%s: ", bad[i].place);
        assert_refused(bad[i].text, strlen(bad[i].text), place,
                       bad[i].fragment);
        free(place);
    }
}

static void test_nul_in_file(void **state)
{
    (void)state;
    assert_refused("data: {}\n\0", 10, "run.yaml:2:1: ", "NUL");
    assert_refused("\0", 1, "run.yaml:1:1: ", "NUL");
    assert_refused("d\0a\0", 4, "run.yaml:1:2: ", "NUL");
}

/* --- limits -------------------------------------------------------------- */

static void test_limits(void **state)
{
    (void)state;
    char *text = xmalloc(CONFIG_FILE_LIMIT + 2);
    memset(text, '\n', CONFIG_FILE_LIMIT + 1);
    text[CONFIG_FILE_LIMIT + 1] = '\0';
    assert_refused(text, CONFIG_FILE_LIMIT + 1, "run.yaml: ", "1048576 bytes");
    struct config cfg;
    config_init(&cfg);
    assert_int_equal(config_parse(&cfg, "x", text, CONFIG_FILE_LIMIT), 0);

    memset(text, 'a', CONFIG_VALUE_LIMIT + 1);
    text[CONFIG_VALUE_LIMIT + 1] = '\0';
    assert_set_refused("data.source", text, "4097 bytes, limit is 4096");
    text[CONFIG_VALUE_LIMIT] = '\0';
    assert_int_equal(config_set(&cfg, "data.source", text), 0);

    memset(text, '[', CONFIG_FILE_LIMIT);
    assert_refused(text, CONFIG_FILE_LIMIT, "run.yaml:1:1: ", "sections");
    free(text);
    config_release(&cfg);
}

/* The longest values, written with the longest escapes, can be read again. */
static void test_longest_dump(void **state)
{
    (void)state;
    struct config a, b;
    char value[CONFIG_VALUE_LIMIT + 1];
    memset(value, 1, CONFIG_VALUE_LIMIT);
    value[CONFIG_VALUE_LIMIT] = '\0';
    config_init(&a);
    config_init(&b);
    for (int i = 0; i < KEY_COUNT; i++)
        if (config_keys[i].type >= KEY_STRING)
            config_set(&a, config_keys[i].dotted, value);
    size_t len;
    char *text = config_text(&a, &len);
    assert_true(len < CONFIG_FILE_LIMIT);
    assert_int_equal(config_parse(&b, "x", text, len), 0);
    assert_same(&a, &b);
    free(text);
    config_release(&a);
    config_release(&b);
}

/* --- files --------------------------------------------------------------- */

static int load(const char *path, char **message)
{
    struct config cfg;
    config_init(&cfg);
    struct capture c = capture_start();
    int ret = config_load(&cfg, path);
    *message = capture_end(c);
    config_release(&cfg);
    return ret;
}

static void test_load(void **state)
{
    (void)state;
    char path[] = "/tmp/test_config.XXXXXX", *message;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    static const char text[] = "training:\n  seed: 9\n  sede: 1\n";
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    assert_int_equal(load(path, &message), -1);
    char *place = xasprintf("%s:3:3: ", path);
    assert_message(message, place, "did you mean 'training.seed'?");
    free(place);

    assert_int_equal(truncate(path, 20), 0);
    assert_int_equal(load(path, &message), 0);
    assert_string_equal(message, "");
    free(message);

    assert_non_null(freopen(path, "r", stdin));
    assert_int_equal(load("-", &message), 0);
    free(message);
    assert_int_equal(truncate(path, 21), 0);
    assert_non_null(freopen(path, "r", stdin));
    assert_int_equal(load("-", &message), -1);
    assert_message(message, "stdin:3:1: ", "NUL is not text");

    assert_int_equal(truncate(path, CONFIG_FILE_LIMIT + 5), 0);
    assert_int_equal(load(path, &message), -1);
    assert_message(message, path, "longer than 1048576 bytes");
    unlink(path);

    assert_int_equal(load(path, &message), -1);
    assert_message(message, "cannot read '/tmp/test_config.", "No such file");
    assert_int_equal(load("/tmp", &message), -1);
    assert_message(message, "cannot read '/tmp': ", "directory");
    assert_int_equal(load("/dev/zero", &message), -1);
    assert_message(message, "/dev/zero: ", "longer than");
}

/* --- the command line ---------------------------------------------------- */

static void test_set_refuses(void **state)
{
    (void)state;
    assert_set_refused("training.dropout", "x", "'x' is not a number\n");
    assert_set_refused("training.dropout", "", "'' is not a number");
    assert_set_refused("training.dropout", " 0.1", "is not a number");
    assert_set_refused("training.dropout", "0.1 ", "is not a number");
    assert_set_refused("training.dropout", "1", "out of range, 0 to 0.95");
    assert_set_refused("training.dropout", NULL, "needs a value");
    assert_set_refused("training.seed", "1.5", "is not a whole number");
    assert_set_refused("encoder.residual", "1", "is neither");
    assert_set_refused("data.source", "\xFF", "UTF-8");
    assert_set_refused("training.droput", "1",
                       "did you mean 'training.dropout'?");
    assert_set_refused("trainig.dropout", "1",
                       "did you mean 'training.dropout'?");
    assert_set_refused("trainig.droput", "1",
                       "did you mean 'training.dropout'?");
    assert_set_refused("encodr.layers", "1", "did you mean 'encoder.layers'?");
    assert_set_refused("model.dropout", "1",
                       "did you mean 'training.dropout'?");
    assert_set_refused("nonsense.dropout", "1", "'training.dropout'?");
    assert_set_refused("dropout", "1", "did you mean 'training.dropout'?");
    assert_set_refused("nonsense.nonsense", "1", "unknown key\n");
    assert_set_refused("training", "1", "unknown key");
    assert_set_refused("training.", "1", "unknown key");
    assert_set_refused(".dropout", "1", "unknown key");
    assert_set_refused("", "1", "unknown key");
    assert_set_refused(".", "1", "unknown key");
}

/* --- complaints of others ------------------------------------------------ */

static void assert_error_place(const struct config *cfg, const char *key,
                               const char *place)
{
    struct capture c = capture_start();
    assert_int_equal(config_error(cfg, key, "needs %d more", 3), -1);
    assert_message(capture_end(c), place, ": needs 3 more\n");
}

static void test_config_error(void **state)
{
    (void)state;
    struct config cfg;
    config_init(&cfg);
    assert_parses(&cfg, "training: {seed: 3,\n  dropout: 0.5}");
    assert_int_equal(config_set(&cfg, "training.epochs", "9"), 0);
    assert_error_place(&cfg, "training.seed", "run.yaml:1:18: training.seed: ");
    assert_error_place(&cfg, "training.dropout",
                       "run.yaml:2:12: training.dropout: ");
    assert_error_place(&cfg, "training.epochs", "--training.epochs: ");
    assert_error_place(&cfg, "model.path", "model.path (default): ");
    config_release(&cfg);
}

static void test_config_name(void **state)
{
    (void)state;
    static const char *const cells[] = { "gru", "lstm" };
    struct config cfg;
    config_init(&cfg);
    assert_int_equal(config_name(&cfg, "encoder.cell", cells, 2), 0);
    assert_parses(&cfg, "encoder: {cell: lstm}\ndecoder: {cell: lstn}");
    assert_int_equal(config_name(&cfg, "encoder.cell", cells, 2), 1);
    struct capture c = capture_start();
    assert_int_equal(config_name(&cfg, "decoder.cell", cells, 2), -1);
    assert_message(capture_end(c), "run.yaml:2:17: decoder.cell: ",
                   "'lstn' is not one of gru, lstm; did you mean 'lstm'?\n");
    assert_int_equal(config_set(&cfg, "decoder.cell", "rnn-of-mine"), 0);
    c = capture_start();
    assert_int_equal(config_name(&cfg, "decoder.cell", cells, 2), -1);
    assert_message(capture_end(c), "--decoder.cell: ",
                   "'rnn-of-mine' is not one of gru, lstm\n");
    config_release(&cfg);
}

/* --- asking -------------------------------------------------------------- */

static void test_get(void **state)
{
    (void)state;
    struct config cfg;
    config_init(&cfg);
    assert_int_equal(config_set(&cfg, "data.source", "a \"b\""), 0);
    assert_int_equal(config_set(&cfg, "validation.every", "2000000000"), 0);
    assert_int_equal(config_set(&cfg, "training.minutes", "123456.789"), 0);
    assert_get(&cfg, "data.source", "a \"b\"");
    assert_get(&cfg, "data.target", "");
    assert_get(&cfg, "validation.every", "2000000000");
    assert_get(&cfg, "training.minutes", "123456.789");
    assert_get(&cfg, "training.epsilon", "1e-8");
    assert_get(&cfg, "training.average", "0");
    assert_get(&cfg, "training.clip_norm", "1");
    assert_get(&cfg, "encoder.residual", "false");
    config_release(&cfg);
}

static void test_difference(void **state)
{
    (void)state;
    static const char *const key[] = { "training.epochs", NULL };
    static const char *const section[] = { "data", "training", NULL };
    struct config a, b;
    config_init(&a);
    config_init(&b);
    assert_null(config_difference(&a, &b, NULL));
    config_set(&b, "training.epochs", "3");
    assert_string_equal(config_difference(&a, &b, NULL), "training.epochs");
    assert_null(config_difference(&a, &b, key));
    config_set(&b, "training.dropout", "0.5");
    assert_string_equal(config_difference(&a, &b, key), "training.dropout");
    assert_null(config_difference(&a, &b, section));
    config_set(&b, "encoder.cell", "lstm");
    assert_string_equal(config_difference(&a, &b, section), "encoder.cell");
    config_set(&a, "encoder.cell", "lstm");
    assert_null(config_difference(&a, &b, section));
    config_set(&a, "encoder.residual", "true");
    assert_string_equal(config_difference(&a, &b, section), "encoder.residual");
    config_release(&a);
    config_release(&b);
}

/* --- printing ------------------------------------------------------------ */

static void test_dump(void **state)
{
    (void)state;
    struct config cfg;
    config_init(&cfg);
    assert_parses(&cfg, "data: {source: ../de.gz, target: no}");
    char *text = dump(&cfg, false);
    size_t len;
    char *again = config_text(&cfg, &len);
    assert_string_equal(text, again);
    assert_int_equal(len, strlen(text));
    assert_int_equal(strncmp(text,
                             "data:\n  source: ../de.gz\n"
                             "  target: \"no\"\n"
                             "  valid_source: \"\"\n",
                             30),
                     0);
    assert_contains(text, "\ntraining:\n  seed: 1\n");
    assert_contains(text, "\n  bidirectional: true\n");
    assert_contains(text, "\n  epsilon: 1e-8\n");
    assert_contains(text, "\n  path: models/run\n");
    assert_null(strchr(text, '#'));
    free(text);
    free(again);
    config_release(&cfg);
}

static void test_dump_sources(void **state)
{
    (void)state;
    static const char text[] = "data: {source: x,\n  target: y}";
    struct config a, b;
    config_init(&a);
    config_init(&b);
    assert_int_equal(config_parse(&a, "my\n \xFF.yaml", text, strlen(text)), 0);
    assert_parses(&a, "training: {seed: 3}");
    config_set(&a, "model.path", "p");
    char *dumped = dump(&a, true);
    assert_contains(dumped,
                    "  source: x  # \"my\\n \xEF\xBF\xBD.yaml\":1:16\n");
    assert_contains(dumped,
                    "  target: \"y\"  # \"my\\n \xEF\xBF\xBD.yaml\":2:11\n");
    assert_contains(dumped, "  seed: 3  # run.yaml:1:18\n");
    assert_contains(dumped, "  path: p  # --model.path\n");
    assert_contains(dumped, "  epochs: 20  # default\n");
    assert_parses(&b, dumped);
    assert_same(&a, &b);
    free(dumped);
    config_release(&a);
    config_release(&b);
}

static void test_dump_quotes(void **state)
{
    (void)state;
    static const struct {
        const char *value, *written;
    } cases[] = {
        { "", "\"\"" },
        { "a", "a" },
        { "/x/y-1.gz", "/x/y-1.gz" },
        { "./x", "./x" },
        { "../../x", "\"../../x\"" },
        { "..", "\"..\"" },
        { ".inf", "\".inf\"" },
        { "1e3", "\"1e3\"" },
        { "null", "\"null\"" },
        { "Yes", "\"Yes\"" },
        { "y", "\"y\"" },
        { "~", "\"~\"" },
        { "a b", "\"a b\"" },
        { "a: b", "\"a: b\"" },
        { "a #b", "\"a #b\"" },
        { "'", "\"'\"" },
        { "\"\\", "\"\\\"\\\\\"" },
        { "a\n\tb\r", "\"a\\n\\tb\\r\"" },
        { "\x01\x7F", "\"\\x01\\x7F\"" },
        { "\xC3\xA9", "\"\xC3\xA9\"" },
        { "\xC2\x85\xC2\xA0", "\"\\x85\xC2\xA0\"" },
        { "\xE2\x80\xA8\xEF\xBB\xBF\xEF\xBF\xBF", "\"\\u2028\\uFEFF\\uFFFF\"" },
        { "\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\"" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text text = { 0 };
        scalar_add_string(&text, cases[i].value);
        assert_string_equal(text.s, cases[i].written);
        text_release(&text);
    }
}

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Any character but NUL and surrogates, odd ones more often. */
static void add_random_character(struct text *text)
{
    static const char *const odd[] = {
        "\"",
        "\\",
        "\n",
        "\r",
        "\t",
        " ",
        "#",
        ":",
        "'",
        "-",
        "?",
        "{",
        "]",
        ",",
        "&",
        "*",
        "!",
        "|",
        ">",
        "%",
        "@",
        "`",
        "\x01",
        "\x1B",
        "\x7F",
        "\xC2\x80",
        "\xC2\x85",
        "\xC2\x9F",
        "\xC2\xA0",
        "\xE2\x80\xA8",
        "\xE2\x80\xA9",
        "\xEF\xBB\xBF",
        "\xEF\xBF\xBE",
        "\xEF\xBF\xBF",
        "\xF4\x8F\xBF\xBF",
        "\xC3\xA9",
        "\xE6\x97\xA5",
        "a",
        "0",
        ".",
        "e",
    };
    text_adds(text, odd[random_bits() % COUNT(odd)]);
}

static double random_number(const struct key *key)
{
    switch (random_bits() % 4) {
    case 0:
        return key->min;
    case 1:
        return key->max;
    case 2:
        return key->min + (key->max - key->min) *
                              ((double)(random_bits() >> 11) * 0x1p-53);
    default:
        return key->min +
               (key->max - key->min) * exp2(-(double)(random_bits() % 1000));
    }
}

static void set_random(struct config *cfg, const struct key *key)
{
    struct text text = { 0 };
    if (key->type == KEY_INT)
        text_addf(&text, "%.0f", floor(random_number(key)));
    else if (key->type == KEY_FLOAT)
        text_addf(&text, "%.17g", random_number(key));
    else if (key->type == KEY_BOOL)
        text_adds(&text, random_bits() % 2 ? "true" : "false");
    else
        for (uint64_t n = random_bits() % 12; n > 0; n--)
            add_random_character(&text);
    assert_int_equal(config_set(cfg, key->dotted, text.s ? text.s : ""), 0);
    text_release(&text);
}

static void test_round_trip(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct config a, b, c;
        config_init(&a);
        config_init(&b);
        config_init(&c);
        for (int i = 0; i < KEY_COUNT; i++)
            set_random(&a, &config_keys[i]);
        char *text = dump(&a, round % 2);
        assert_parses(&b, text);
        assert_same(&a, &b);
        for (int i = 0; i < KEY_COUNT; i++) {
            struct text value = { 0 };
            config_get(&a, config_keys[i].dotted, &value);
            config_set(&c, config_keys[i].dotted, value.s ? value.s : "");
            text_release(&value);
        }
        assert_same(&a, &c);
        free(text);
        config_release(&a);
        config_release(&b);
        config_release(&c);
    }
}

static void test_number_text(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        { 0.1, "0.1" },     { 1.0 / 3, "0.3333333333333333" },
        { 1e6, "1000000" }, { 1e20, "1e20" },
        { 1e-5, "1e-5" },   { 5e-324, "4.94065646e-324" },
        { 0.25, "0.25" },   { DBL_MAX, "1.7976931348623157e308" },
        { 0, "0" },         { 0.1 + 0.2, "0.30000000000000004" },
        { -2.5, "-2.5" },   { 1e100, "1e100" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text text = { 0 };
        scalar_add_number(&text, cases[i].value);
        assert_string_equal(text.s, cases[i].text);
        text_release(&text);
    }
}

static const char *choices(const char *dotted)
{
    return strstr(dotted, ".cell") ? "gru, lstm" : NULL;
}

static void test_example(void **state)
{
    (void)state;
    struct config defaults, cfg;
    config_init(&defaults);
    config_init(&cfg);
    config_set(&cfg, "training.seed", "77");
    FILE *file = tmpfile();
    config_example(file, choices);
    char *text = slurp(file);
    assert_parses(&cfg, text);
    assert_same(&cfg, &defaults);
    assert_contains(text, "  # recurrent cell (gru, lstm)\n  cell: gru\n");
    assert_contains(text, "(0 to 100)\n  learning_rate: 0.001\n");
    free(text);
    file = tmpfile();
    config_example(file, NULL);
    text = slurp(file);
    assert_contains(text, "  # recurrent cell\n  cell: gru\n");
    free(text);
    config_release(&defaults);
    config_release(&cfg);
}

static void test_help(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    config_help(file, choices);
    char *text = slurp(file);
    for (int i = 0; i < KEY_COUNT; i++) {
        char *option = xasprintf("\n  --%s ", config_keys[i].dotted);
        assert_contains(text, option);
        free(option);
    }
    assert_contains(text, "  --encoder.cell NAME           recurrent cell "
                          "(gru, lstm; default gru)\n");
    assert_contains(text, "(0 to 0.95;");
    for (const char *line = text; *line; line = strchr(line, '\n') + 1)
        assert_true(strchr(line, '\n') - line <= 79);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_in_range),
        cmocka_unit_test(test_init_and_release),
        cmocka_unit_test(test_empty_documents),
        cmocka_unit_test(test_every_type),
        cmocka_unit_test(test_text_stays_text),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_truths),
        cmocka_unit_test(test_later_wins),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_nul_in_file),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_longest_dump),
        cmocka_unit_test(test_load),
        cmocka_unit_test(test_set_refuses),
        cmocka_unit_test(test_config_error),
        cmocka_unit_test(test_config_name),
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_difference),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_dump_sources),
        cmocka_unit_test(test_dump_quotes),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_number_text),
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
