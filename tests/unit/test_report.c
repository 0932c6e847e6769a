/* Messages: their form, their order among threads, the status they give. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/progress.h"
#include "base/report.h"
#include "scratch.h"

static void test_prefix_and_newline(void **state)
{
    (void)state;
    capture_start();
    assert_int_equal(error("%s:%d: bad", "file", 3), -1);
    assert_string_equal(capture_stop(), "attn: file:3: bad\n");

    report_program("attn-test");
    capture_start();
    assert_int_equal(failure("disk full"), -1);
    warn("odd");
    assert_string_equal(capture_stop(),
                        "attn-test: disk full\nattn-test: odd\n");
    report_program("attn");
}

static void test_verbosity(void **state)
{
    static const struct {
        enum verbosity level;
        const char *said;
    } cases[] = {
        { QUIET, "attn: w\n" },
        { NORMAL, "attn: w\nattn: n\n" },
        { VERBOSE, "attn: w\nattn: n\nattn: d\n" },
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        report_verbosity(cases[i].level);
        assert_int_equal(report_level(), cases[i].level);
        capture_start();
        warn("w");
        note("n");
        detail("d");
        assert_string_equal(capture_stop(), cases[i].said);
    }
    report_verbosity(NORMAL);
}

static void test_controls_are_masked(void **state)
{
    (void)state;
    capture_start();
    error("a\033[2Jb\rc\177d\te \xc3\xa9");
    assert_string_equal(capture_stop(), "attn: a?[2Jb?c?d\te \xc3\xa9\n");
}

static void test_long_message_is_whole(void **state)
{
    (void)state;
    /* around the size of the buffer on the stack, and far beyond */
    static const int sizes[] = { 0,    1,    1789, 1790, 1791,
                                 1792, 1793, 2047, 2048, 100000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = xmalloc((size_t)sizes[i] + 1);
        memset(text, 'x', (size_t)sizes[i]);
        text[sizes[i]] = '\0';
        char *wanted = xasprintf("attn: %s\n", text);
        capture_start();
        warn("%s", text);
        assert_string_equal(capture_stop(), wanted);
        free(wanted);
        free(text);
    }
}

static void test_long_program_name_is_cut(void **state)
{
    char name[1001];
    (void)state;
    memset(name, 'p', sizeof name - 1);
    name[1000] = '\0';
    report_program(name);
    capture_start();
    warn("w");
    const char *said = capture_stop();
    report_program("attn");
    assert_int_equal(strlen(said), 200 + strlen(": w\n"));
}

/* The status of the first thing reported counts, so each case is a process. */
static int status_of(const char *calls)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(STDERR_FILENO);
        for (; *calls != '\0'; calls++) {
            if (*calls == 'e')
                error("e");
            else if (*calls == 'f')
                failure("f");
            else
                warn("w");
        }
        _exit(report_status());
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_status(void **state)
{
    (void)state;
    assert_int_equal(status_of(""), EXIT_DONE);
    assert_int_equal(status_of("w"), EXIT_DONE);
    assert_int_equal(status_of("we"), EXIT_USAGE);
    assert_int_equal(status_of("f"), EXIT_FAILED);
    assert_int_equal(status_of("ef"), EXIT_USAGE);
    assert_int_equal(status_of("fe"), EXIT_FAILED);
}

enum { THREADS = 4, MESSAGES = 200 };

static void *chatter(void *arg)
{
    for (int i = 0; i < MESSAGES; i++)
        warn("%c %060d", *(char *)arg, i);
    return NULL;
}

static void test_threads_do_not_mix(void **state)
{
    pthread_t thread[THREADS];
    char letters[THREADS] = "abcd";
    int lines = 0;
    (void)state;
    capture_start();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, chatter, &letters[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    const char *said = capture_stop();
    for (const char *s = said; *s != '\0'; lines++) {
        const char *end = strchr(s, '\n');
        assert_non_null(end);
        assert_int_equal(end - s, strlen("attn: a ") + 60);
        assert_memory_equal(s, "attn: ", 6);
        s = end + 1;
    }
    assert_int_equal(lines, THREADS * MESSAGES);
}

static void test_transient_line_gives_way(void **state)
{
    (void)state;
    capture_start();
    report_transient("10 %");
    report_transient("20 %");
    warn("w");
    warn("v");
    report_transient("30 %");
    report_transient(NULL);
    warn("u");
    assert_string_equal(capture_stop(),
                        "10 %\r\033[K20 %\r\033[Kattn: w\nattn: v\n"
                        "30 %\r\033[Kattn: u\n");
}

static void test_progress_off_a_terminal(void **state)
{
    struct progress p;
    (void)state;
    capture_start();
    progress_init(&p, PROGRESS_NOTHING);
    progress_show(&p, "%d", 1);
    progress_end(&p);
    progress_init(&p, PROGRESS_LINES);
    progress_show(&p, "%d of 3", 2);
    progress_show(&p, "%d of 3", 3);
    progress_end(&p);
    assert_string_equal(capture_stop(), "attn: 2 of 3\nattn: 3 of 3\n");
}

/* In a child, as it ends the program. */
static void ends_with_message(void (*fn)(void), const char *word)
{
    capture_start();
    pid_t child = fork();
    if (child == 0) {
        fn();
        _exit(77);
    }
    int status;
    waitpid(child, &status, 0);
    const char *said = capture_stop();
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EXIT_FAILED);
    assert_holds(said, "out of memory");
    assert_holds(said, word);
}

static void overflow(void)
{
    char(*p)[16] = NULL;
    ARRAY_ALLOC(p, SIZE_MAX / 8);
}

static void overflow_zero(void)
{
    char(*p)[16] = NULL;
    ARRAY_ZERO(p, SIZE_MAX / 8);
}

static void overflow_grow(void)
{
    char(*p)[16] = NULL;
    size_t cap = 0;
    ARRAY_GROW(p, SIZE_MAX / 8, cap);
}

static void overflow_aligned(void)
{
    xaligned(SIZE_MAX - 10);
}

static void test_memory_that_is_not_there(void **state)
{
    (void)state;
    ends_with_message(overflow, "2305843009213693951 times 16 bytes");
    ends_with_message(overflow_zero, "times 16 bytes");
    ends_with_message(overflow_grow, "times 16 bytes");
    ends_with_message(overflow_aligned, "18446744073709551605 bytes");
}

static void test_array_macros(void **state)
{
    (void)state;
    int *ids = ARRAY_ALLOC(ids, 3);
    ids[2] = 7;
    free(ids);
    ARRAY_ZERO(ids, 5);
    for (int i = 0; i < 5; i++)
        assert_int_equal(ids[i], 0);
    free(ids);

    ids = NULL;
    size_t cap = 0, grown = 0;
    for (size_t n = 0; n < 10000; n++) {
        size_t before = cap;
        ARRAY_GROW(ids, n + 1, cap);
        grown += cap != before;
        assert_true(cap > n);
        ids[n] = (int)n;
    }
    for (size_t n = 0; n < 10000; n++)
        assert_int_equal(ids[n], n);
    assert_true(grown < 30); /* by half each time, not one by one */
    free(ids);

    void *p = xaligned(1);
    assert_int_equal((uintptr_t)p % 64, 0);
    free(p);
    p = xmalloc(0);
    assert_non_null(p);
    free(p);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status), /* first: before anything is reported */
        cmocka_unit_test(test_prefix_and_newline),
        cmocka_unit_test(test_verbosity),
        cmocka_unit_test(test_controls_are_masked),
        cmocka_unit_test(test_long_message_is_whole),
        cmocka_unit_test(test_long_program_name_is_cut),
        cmocka_unit_test(test_threads_do_not_mix),
        cmocka_unit_test(test_transient_line_gives_way),
        cmocka_unit_test(test_progress_off_a_terminal),
        cmocka_unit_test(test_memory_that_is_not_there),
        cmocka_unit_test(test_array_macros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
