#include "base/atomic_file.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/report.h"

#define MARK ".tmp-" /* between the name and the process that writes */

/* ---- names ------------------------------------------------------------ */

/* The last part of a path, as a pointer into it. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The folder of a path, owned by the caller. */
static char *folder_of(const char *path)
{
    int len = (int)(last_part(path) - path);
    return len > 0 ? xasprintf("%.*s", len, path) : xstrdup(".");
}

/* Folder and last part of a temporary name. Names may have 255 bytes, so of a
 * long one only the beginning is taken. */
static char *temporary_name(const char *path, int n)
{
    const char *name = last_part(path);
    return xasprintf("%.*s.%.200s" MARK "%ld-%d", (int)(name - path), path,
                     name, (long)getpid(), n);
}

/* The process that a temporary name says is writing it; 0 when the name is
 * none of ours. Libraries may have put something behind the name. */
static long writer_of(const char *name)
{
    const char *mark = NULL;
    if (name[0] != '.')
        return 0;
    for (const char *s = strstr(name, MARK); s != NULL; s = strstr(s + 1, MARK))
        mark = s;
    if (mark == NULL || !isdigit((unsigned char)mark[strlen(MARK)]))
        return 0;
    char *end;
    long pid = strtol(mark + strlen(MARK), &end, 10);
    return end[0] == '-' && isdigit((unsigned char)end[1]) ? pid : 0;
}

static bool is_running(long pid)
{
    return pid != (long)getpid() &&
           (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

void atomic_file_clean(const char *folder)
{
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return;
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        long pid = writer_of(e->d_name);
        if (pid > 0 && !is_running(pid) &&
            unlinkat(dirfd(dir), e->d_name, 0) == 0)
            detail("%s/%s: left by a killed program, removed", folder,
                   e->d_name);
    }
    closedir(dir);
}

/* ---- opening ---------------------------------------------------------- */

static bool is_usage_error(int err)
{
    return err == ENOENT || err == ENOTDIR || err == EISDIR || err == EACCES ||
           err == EPERM || err == ELOOP || err == ENAMETOOLONG || err == EROFS;
}

static int open_error(const char *path)
{
    int err = errno;
    if (err == ENOENT)
        return error("%s: cannot write: its folder does not exist", path);
    if (is_usage_error(err))
        return error("%s: cannot write: %s", path, strerror(err));
    return failure("%s: cannot write: %s", path, strerror(err));
}

/* Creates the first temporary file that is not there yet: its descriptor, its
 * name in *name; or -1 after reporting. */
static int create_temporary(const char *path, char **name)
{
    for (int n = 0;; n++) {
        *name = temporary_name(path, n);
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0)
            return fd;
        free(*name);
        *name = NULL;
        if (errno != EEXIST)
            return open_error(path);
    }
}

/* Refuses what no rename could bring into place; a folder, an empty name. */
static int check_target(const char *path, bool *as_it_is)
{
    struct stat st;
    *as_it_is = false;
    if (last_part(path)[0] == '\0')
        return error("'%s': is not the name of a file", path);
    if (stat(path, &st) < 0)
        return 0;
    if (S_ISDIR(st.st_mode))
        return error("%s: is a folder, give the name of a file", path);
    *as_it_is = !S_ISREG(st.st_mode);
    return 0;
}

FILE *atomic_file_open(struct atomic_file *f, const char *path)
{
    bool as_it_is;
    char *temporary = NULL;

    *f = (struct atomic_file){ 0 };
    if (check_target(path, &as_it_is) < 0)
        return NULL;
    int fd = as_it_is ? open(path, O_WRONLY | O_CLOEXEC)
                      : create_temporary(path, &temporary);
    if (fd < 0 && as_it_is)
        open_error(path);
    if (fd < 0)
        return NULL;
    f->path = xstrdup(path);
    f->temporary = temporary;
    f->file = fdopen(fd, "w");
    if (f->file == NULL) {
        failure("%s: cannot write: %s", path, strerror(errno));
        close(fd);
        atomic_file_abort(f);
    }
    return f->file;
}

char *atomic_file_temporary(const char *path)
{
    bool as_it_is;
    char *name;
    if (check_target(path, &as_it_is) < 0)
        return NULL;
    if (as_it_is) {
        error("%s: not a regular file, give another name", path);
        return NULL;
    }
    int fd = create_temporary(path, &name);
    if (fd < 0)
        return NULL;
    close(fd);
    return name;
}

/* ---- closing ---------------------------------------------------------- */

static void discard(struct atomic_file *f)
{
    free(f->path);
    free(f->temporary);
    *f = (struct atomic_file){ 0 };
}

void atomic_file_abort(struct atomic_file *f)
{
    if (f->file != NULL)
        fclose(f->file);
    if (f->temporary != NULL)
        unlink(f->temporary);
    discard(f);
}

static int sync_descriptor(int fd)
{
    while (fsync(fd) < 0) {
        if (errno == EINVAL || errno == ENOTSUP || errno == EROFS)
            return 0; /* a pipe, or a file system that has no such thing */
        if (errno != EINTR)
            return -1;
    }
    return 0;
}

static int sync_path(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0)
        return -1;
    int ret = sync_descriptor(fd);
    int err = errno;
    close(fd);
    errno = err;
    return ret;
}

static int rename_durably(const char *temporary, const char *path)
{
    if (rename(temporary, path) < 0)
        return failure("%s: cannot put the new file into place: %s", path,
                       strerror(errno));
    char *folder = folder_of(path);
    int ret = sync_path(folder, O_DIRECTORY);
    if (ret < 0 && errno == EACCES)
        ret = 0; /* a folder that we may write to but not read */
    if (ret < 0)
        failure("%s: written, but perhaps not yet on the disk: %s", path,
                strerror(errno));
    free(folder);
    return ret;
}

static int write_error(const char *path, long long bytes, int err)
{
    if (bytes > 0)
        return failure("%s: cannot write %lld bytes: %s", path, bytes,
                       strerror(err));
    return failure("%s: cannot write: %s", path, strerror(err));
}

/* stdio forgets why an earlier write failed; so write on until it does again
 * (to a temporary file, which is given up anyway). */
static int earlier_error(int fd)
{
    static const char zeros[65536];
    for (int i = 0; i < 4; i++)
        if (write(fd, zeros, sizeof zeros) < 0 && errno != EINTR)
            return errno;
    return EIO;
}

/* Everything to the disk and the stream closed; 0 or the error's number. */
static int finish_stream(FILE *file, bool temporary)
{
    int err = 0;
    if (fflush(file) != 0)
        err = errno;
    else if (ferror(file))
        err = temporary ? earlier_error(fileno(file)) : EIO;
    else if (sync_descriptor(fileno(file)) < 0)
        err = errno;
    if (fclose(file) != 0 && err == 0)
        err = errno;
    return err;
}

int atomic_file_commit(struct atomic_file *f)
{
    assert(f->file != NULL);
    int ret = 0;
    long long bytes = ftello(f->file);
    int err = finish_stream(f->file, f->temporary != NULL);
    f->file = NULL;
    if (err != 0)
        ret = write_error(f->path, bytes, err);
    else if (f->temporary != NULL)
        ret = rename_durably(f->temporary, f->path);
    if (ret < 0 && f->temporary != NULL)
        unlink(f->temporary); /* gone already if it was renamed */
    discard(f);
    return ret;
}

int atomic_file_publish(const char *temporary, const char *path)
{
    if (sync_path(temporary, 0) < 0) {
        int ret = write_error(path, 0, errno);
        unlink(temporary);
        return ret;
    }
    int ret = rename_durably(temporary, path);
    if (ret < 0)
        unlink(temporary);
    return ret;
}
