#include "scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/arena.h"

static struct {
    char *folder;
    pid_t owner;
    struct arena arena;
    int stderr_copy;
    char *captured;
} scratch;

static void remove_all(void)
{
    if (getpid() != scratch.owner)
        return; /* a child of the test */
    DIR *dir = opendir(scratch.folder);
    if (dir != NULL) {
        for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
            if (unlinkat(dirfd(dir), e->d_name, 0) < 0)
                unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
        closedir(dir);
    }
    rmdir(scratch.folder);
    free(scratch.folder);
    free(scratch.captured);
    arena_release(&scratch.arena);
}

static const char *folder(void)
{
    if (scratch.folder == NULL) {
        const char *tmp = getenv("TMPDIR");
        scratch.folder = xasprintf("%s/attn-test-XXXXXX", tmp ? tmp : "/tmp");
        assert_non_null(mkdtemp(scratch.folder));
        scratch.owner = getpid();
        atexit(remove_all);
    }
    return scratch.folder;
}

static char *keep(const char *bytes, size_t len)
{
    char *copy = arena_alloc(&scratch.arena, len + 1);
    if (len > 0)
        memcpy(copy, bytes, len);
    copy[len] = '\0';
    return copy;
}

const char *scratch_path(const char *name)
{
    char *path = xasprintf("%s/%s", folder(), name);
    const char *kept = keep(path, strlen(path));
    free(path);
    return kept;
}

const char *scratch_file(const char *name, const char *bytes, size_t len)
{
    const char *path = scratch_path(name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    return path;
}

const char *scratch_text(const char *name, const char *text)
{
    return scratch_file(name, text, strlen(text));
}

size_t scratch_deflate(const char *bytes, size_t len, char **out)
{
    z_stream z = { 0 };
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 9,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    size_t room = deflateBound(&z, len) + 64;
    *out = xmalloc(room);
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = (uInt)len;
    z.next_out = (Bytef *)*out;
    z.avail_out = (uInt)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return room - z.avail_out;
}

const char *scratch_gzip(const char *name, const char *bytes, size_t len)
{
    char *packed;
    size_t packed_len = scratch_deflate(bytes, len, &packed);
    const char *path = scratch_file(name, packed, packed_len);
    free(packed);
    return path;
}

static char *slurp(FILE *f, size_t *len)
{
    size_t cap = 4096;
    char *bytes = xmalloc(cap);
    *len = 0;
    for (;;) {
        size_t n = fread(bytes + *len, 1, cap - *len - 1, f);
        *len += n;
        if (n == 0)
            break;
        cap *= 2;
        bytes = xrealloc(bytes, cap);
    }
    bytes[*len] = '\0';
    return bytes;
}

const char *scratch_read(const char *path, size_t *len)
{
    size_t n;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return NULL;
    char *bytes = slurp(f, &n);
    fclose(f);
    const char *kept = keep(bytes, n);
    free(bytes);
    if (len != NULL)
        *len = n;
    return kept;
}

int scratch_count(void)
{
    int n = 0;
    DIR *dir = opendir(folder());
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

void capture_start(void)
{
    const char *path = scratch_path("stderr");
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    scratch.stderr_copy = dup(STDERR_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}

const char *capture_stop(void)
{
    size_t len;
    const char *path = scratch_path("stderr");
    dup2(scratch.stderr_copy, STDERR_FILENO);
    close(scratch.stderr_copy);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    free(scratch.captured);
    scratch.captured = slurp(f, &len);
    fclose(f);
    unlink(path);
    return scratch.captured;
}

void scratch_assert_holds(const char *text, const char *word, const char *file,
                          int line)
{
    if (strstr(text, word) == NULL) {
        print_error("'%s' does not hold '%s'\n", text, word);
        _fail(file, line);
    }
}
