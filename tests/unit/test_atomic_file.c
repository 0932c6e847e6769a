/* Files that appear whole or not at all. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/output.h"
#include "base/report.h"
#include "scratch.h"

static bool there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static void assert_content(const char *path, const char *wanted)
{
    const char *content = scratch_read(path, NULL);
    assert_non_null(content);
    assert_string_equal(content, wanted);
}

static void test_appears_at_the_commit(void **state)
{
    struct atomic_file f;
    const char *path = scratch_path("new");
    (void)state;
    FILE *out = atomic_file_open(&f, path);
    assert_non_null(out);
    assert_ptr_equal(out, f.file);
    fputs("content\n", out);
    fflush(out);
    assert_false(there(path));
    assert_true(there(f.temporary));
    assert_int_equal(atomic_file_commit(&f), 0);
    assert_content(path, "content\n");
    assert_int_equal(scratch_count(), 1); /* and nothing else */
    unlink(path);
}

static void test_old_one_lives_until_then(void **state)
{
    struct atomic_file f;
    const char *path = scratch_text("f", "old");
    (void)state;
    fputs("new", atomic_file_open(&f, path));
    fflush(f.file);
    assert_content(path, "old");
    assert_int_equal(atomic_file_commit(&f), 0);
    assert_content(path, "new");
    assert_int_equal(scratch_count(), 1);
    unlink(path);
}

static void test_abort(void **state)
{
    struct atomic_file f, zeroed = { 0 };
    const char *path = scratch_text("f", "old");
    (void)state;
    fputs("new", atomic_file_open(&f, path));
    atomic_file_abort(&f);
    atomic_file_abort(&f);
    atomic_file_abort(&zeroed);
    assert_content(path, "old");
    assert_int_equal(scratch_count(), 1);
    unlink(path);
}

static void test_name_without_folder(void **state)
{
    struct atomic_file f;
    char *old = getcwd(NULL, 0);
    (void)state;
    assert_int_equal(chdir(scratch_path(".")), 0);
    fputs("x", atomic_file_open(&f, "bare"));
    assert_int_equal(atomic_file_commit(&f), 0);
    assert_content("bare", "x");
    assert_int_equal(scratch_count(), 1);
    unlink("bare");
    assert_int_equal(chdir(old), 0);
    free(old);
}

static void test_longest_name(void **state)
{
    struct atomic_file f;
    char name[256];
    (void)state;
    memset(name, 'n', 255);
    name[255] = '\0';
    const char *path = scratch_path(name);
    fputs("x", atomic_file_open(&f, path));
    assert_int_equal(atomic_file_commit(&f), 0);
    assert_content(path, "x");
    unlink(path);
}

static void test_umask_is_honoured(void **state)
{
    struct atomic_file f;
    struct stat st;
    const char *path = scratch_path("f");
    mode_t old = umask(027);
    (void)state;
    atomic_file_open(&f, path);
    assert_int_equal(atomic_file_commit(&f), 0);
    umask(old);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    unlink(path);
}

static void test_two_at_once(void **state)
{
    struct atomic_file a, b;
    const char *path = scratch_path("f");
    (void)state;
    fputs("a", atomic_file_open(&a, path));
    fputs("b", atomic_file_open(&b, path));
    assert_string_not_equal(a.temporary, b.temporary);
    assert_int_equal(atomic_file_commit(&b), 0);
    assert_content(path, "b");
    assert_int_equal(atomic_file_commit(&a), 0);
    assert_content(path, "a");
    assert_int_equal(scratch_count(), 1);
    unlink(path);
}

static void check_refused(const char *path, const char *why)
{
    struct atomic_file f;
    capture_start();
    assert_null(atomic_file_open(&f, path));
    assert_null(atomic_file_temporary(path));
    const char *said = capture_stop();
    assert_holds(said, why);
    assert_null(f.file);
    atomic_file_abort(&f);
}

static void test_refused(void **state)
{
    const char *folder = scratch_path("folder");
    (void)state;
    mkdir(folder, 0700);
    check_refused(folder, "is a folder");
    check_refused(scratch_path("folder/"), "is not the name of a file");
    check_refused("", "is not the name of a file");
    check_refused(scratch_path("no/such/f"), "its folder does not exist");
    check_refused(scratch_path("file/f"), "its folder does not exist");
    const char *file = scratch_text("file", "x");
    check_refused(scratch_path("file/f"), "Not a directory");
    unlink(file);
    if (geteuid() != 0) {
        chmod(folder, 0500);
        check_refused(scratch_path("folder/f"), "Permission denied");
    }
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(scratch_count(), 0);
}

/* ---- failing writes ----------------------------------------------------------- */

/* In a child: a limit of 64 KiB, then writing `bytes` bytes, in small or in one
 * large piece. Exits with 10 if the commit failed as it should. */
static void write_beyond_limit(const char *path, size_t bytes, bool pieces)
{
    struct rlimit limit = { 65536, 65536 };
    struct atomic_file f;
    char *data = xcalloc(1, bytes);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    FILE *out = atomic_file_open(&f, path);
    if (out == NULL)
        _exit(11);
    if (pieces)
        for (size_t i = 0; i < bytes; i++)
            putc('x', out);
    else
        fwrite(data, 1, bytes, out);
    free(data);
    if (atomic_file_commit(&f) == 0)
        _exit(12);
    _exit(report_status() == EXIT_FAILED ? 10 : 13);
}

static void test_file_too_large(void **state)
{
    static const size_t sizes[] = { 65537, 70000, 200000 };
    const char *path = scratch_text("f", "old");
    (void)state;
    for (int i = 0; i < 6; i++) {
        capture_start();
        pid_t child = fork();
        if (child == 0)
            write_beyond_limit(path, sizes[i / 2], i % 2);
        int status;
        waitpid(child, &status, 0);
        const char *said = capture_stop();
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 10);
        assert_holds(said, "f: cannot write");
        assert_holds(said, "File too large");
        assert_content(path, "old");
        assert_int_equal(scratch_count(), 1);
    }
    unlink(path);
}

static void test_stream_that_is_gone(void **state)
{
    struct atomic_file f;
    const char *path = scratch_text("f", "old");
    (void)state;
    fputs("new", atomic_file_open(&f, path));
    int other = open("/dev/null", O_RDONLY); /* cannot be written to */
    dup2(other, fileno(f.file));
    close(other);
    capture_start();
    assert_int_equal(atomic_file_commit(&f), -1);
    assert_holds(capture_stop(),
                 "f: cannot write 3 bytes: Bad file descriptor");
    assert_content(path, "old");
    assert_int_equal(scratch_count(), 1);
    unlink(path);
}

static void test_target_became_a_folder(void **state)
{
    struct atomic_file f;
    const char *path = scratch_path("f");
    (void)state;
    fputs("new", atomic_file_open(&f, path));
    mkdir(path, 0700);
    capture_start();
    assert_int_equal(atomic_file_commit(&f), -1);
    assert_holds(capture_stop(), "cannot put the new file into place");
    assert_int_equal(scratch_count(), 1);
    rmdir(path);
}

/* ---- no regular files ----------------------------------------------------------- */

static void *read_pipe(void *path)
{
    return (void *)(uintptr_t)scratch_read(path, NULL);
}

static void test_pipe_is_written_as_it_is(void **state)
{
    struct atomic_file f;
    struct stat st;
    char *path = (char *)(uintptr_t)scratch_path("pipe");
    pthread_t thread;
    void *content;
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    pthread_create(&thread, NULL, read_pipe, path);
    fputs("through", atomic_file_open(&f, path));
    assert_null(f.temporary);
    assert_int_equal(atomic_file_commit(&f), 0);
    pthread_join(thread, &content);
    assert_string_equal(content, "through");
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));

    capture_start();
    assert_null(atomic_file_temporary(path));
    assert_holds(capture_stop(), "not a regular file");
    unlink(path);
}

static void test_full_device(void **state)
{
    struct atomic_file f;
    const char *link = scratch_path("full"); /* never touch the device itself */
    (void)state;
    if (!there("/dev/full") || symlink("/dev/full", link) < 0)
        skip();
    fputs("x", atomic_file_open(&f, link));
    capture_start();
    assert_int_equal(atomic_file_commit(&f), -1);
    assert_holds(capture_stop(), "full: cannot write");
    assert_true(there("/dev/full"));
    unlink(link);
}

/* ---- files written by others ------------------------------------------------------ */

static void test_publish(void **state)
{
    const char *path = scratch_text("f", "old");
    (void)state;
    char *temporary = atomic_file_temporary(path);
    assert_non_null(temporary);
    assert_true(there(temporary));
    FILE *out = fopen(temporary, "w");
    fputs("new", out);
    fclose(out);
    assert_content(path, "old");
    assert_int_equal(atomic_file_publish(temporary, path), 0);
    assert_content(path, "new");
    assert_int_equal(scratch_count(), 1);

    capture_start();
    assert_int_equal(atomic_file_publish(temporary, path), -1); /* it is gone */
    assert_holds(capture_stop(), "f: cannot write: No such file");
    assert_content(path, "new");
    free(temporary);
    unlink(path);
}

/* ---- cleaning ----------------------------------------------------------------------- */

/* A process that has ended, so that its number is nobody's. */
static long dead_process(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return (long)child;
}

static const char *leave(const char *before, long pid, const char *after)
{
    char name[100];
    snprintf(name, sizeof name, "%s%ld%s", before, pid, after);
    return scratch_text(name, "x");
}

static void test_clean(void **state)
{
    long dead = dead_process(), living = (long)getppid(), me = (long)getpid();
    (void)state;
    const char *gone[] = {
        leave(".best.npz.tmp-", dead, "-0"),
        leave(".best.npz.tmp-", dead, "-12"),
        leave(".best.npz.tmp-", dead, "-0.aBcDeF"), /* libzip adds this */
        leave(".a.tmp-b.tmp-", dead, "-0"),
        leave(".best.npz.tmp-", me, "-0"), /* one of an earlier life */
    };
    const char *kept[] = {
        leave(".best.npz.tmp-", living, "-0"),
        leave("best.npz.tmp-", dead, "-0"), /* not hidden: not ours */
        leave(".best.npz.tmp-", dead, ""),
        leave(".best.npz.tmp-x", dead, "-0"),
        leave(".best.npz.tmp-", dead, "x-0"),
        leave(".best.npz.", dead, "-0"),
        scratch_text(".tmp-", "x"),
        scratch_text("best.npz", "x"),
    };
    atomic_file_clean(scratch_path("."));
    atomic_file_clean(scratch_path("missing"));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (there(gone[i]))
            fail_msg("'%s' is still there", gone[i]);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        if (!there(kept[i]))
            fail_msg("'%s' is gone", kept[i]);
        unlink(kept[i]);
    }
}

/* Killed at a random moment: old or new, whole; then nothing is left over. */
static void test_killed(void **state)
{
    const char *path = scratch_text("f", "");
    char wanted[4001];
    (void)state;
    for (int round = 0; round < 60; round++) {
        pid_t child = fork();
        if (child == 0) {
            for (int i = 0;; i++) {
                struct atomic_file f;
                FILE *out = atomic_file_open(&f, path);
                for (int k = 0; k < 4000; k++)
                    putc('a' + i % 26, out);
                atomic_file_commit(&f);
            }
        }
        usleep((useconds_t)(500 + 977 * round % 5000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        size_t len;
        const char *content = scratch_read(path, &len);
        if (len > 0) {
            memset(wanted, content[0], 4000);
            wanted[4000] = '\0';
            assert_string_equal(content, wanted);
        }
        atomic_file_clean(scratch_path("."));
        assert_int_equal(scratch_count(), 1);
    }
    unlink(path);
}

/* ---- stdout ---------------------------------------------------------------------------- */

/* The exit status of a child that writes to `path` as its stdout. */
static int status_of_writing(const char *path, int flags, const char *words)
{
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, flags | O_CREAT, 0600);
        dup2(fd, STDOUT_FILENO);
        fputs(words, stdout);
        _exit(output_finish() < 0 ? report_status() : EXIT_DONE);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_output(void **state)
{
    const char *path = scratch_path("out");
    (void)state;
    fflush(stdout); /* a child would write it again */
    assert_int_equal(status_of_writing(path, O_WRONLY, "words\n"), EXIT_DONE);
    assert_content(path, "words\n");
    capture_start();
    assert_int_equal(status_of_writing(path, O_RDONLY, "words\n"), EXIT_FAILED);
    assert_holds(capture_stop(),
                 "stdout: not everything was written: Bad file");
    unlink(path);
    if (there("/dev/full")) {
        capture_start();
        assert_int_equal(status_of_writing("/dev/full", O_WRONLY, "x"),
                         EXIT_FAILED);
        assert_holds(capture_stop(), "No space left");
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_file_too_large),      /* these two ask for the status */
        cmocka_unit_test(test_output), /* of what is reported first    */
        cmocka_unit_test(test_appears_at_the_commit),
        cmocka_unit_test(test_old_one_lives_until_then),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_name_without_folder),
        cmocka_unit_test(test_longest_name),
        cmocka_unit_test(test_umask_is_honoured),
        cmocka_unit_test(test_two_at_once),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_stream_that_is_gone),
        cmocka_unit_test(test_target_became_a_folder),
        cmocka_unit_test(test_pipe_is_written_as_it_is),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_publish),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
