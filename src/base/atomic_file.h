/* Files that appear whole or not at all.
 *
 *     struct atomic_file out = {0};
 *     FILE *f = atomic_file_open(&out, path);
 *     if (f == NULL)
 *         return -1;
 *     fprintf(f, ...);
 *     return atomic_file_commit(&out);           or atomic_file_abort(&out)
 *
 * The bytes go to a temporary file in the same folder; committing brings them
 * to the disk (fsync), renames the file over the old one, and brings the
 * folder to the disk. The old file lives until then, whatever fails. Writing
 * errors need not be checked before the commit. A path that is not a regular
 * file but a device or pipe is written as it is.
 *
 * Temporary names are ".NAME.tmp-PID-N"; atomic_file_clean() removes those
 * that a killed program left. Failures are reported with failure(), bad paths
 * with error(). SIGXFSZ must be ignored for a file size limit to be an error
 * and not a death. */
#ifndef ATTN_BASE_ATOMIC_FILE_H
#define ATTN_BASE_ATOMIC_FILE_H

#include <stdio.h>

struct atomic_file {
    char *path;
    char *temporary; /* NULL when written as it is */
    FILE *file;
};

/* Returns the stream to write to, or NULL after reporting. */
FILE *atomic_file_open(struct atomic_file *f, const char *path);

/* 0 when the file is durable under its name; else -1 after reporting, the old
 * file untouched and the temporary one removed. Releases f either way. */
int atomic_file_commit(struct atomic_file *f);

/* Gives up: removes the temporary file. A zeroed or released f is fine. */
void atomic_file_abort(struct atomic_file *f);

/* For files that other libraries write: a fresh temporary name in the folder
 * of `path` (the empty file is created, so that a folder that cannot be
 * written to is found here), owned by the caller; NULL after reporting. Write
 * the file, then publish it. */
char *atomic_file_temporary(const char *path);

/* Brings the finished temporary file to the disk and gives it its name, as the
 * commit does. On failure reports, removes the temporary file, returns -1. */
int atomic_file_publish(const char *temporary, const char *path);

/* Removes temporary files in the folder that no running program holds. */
void atomic_file_clean(const char *folder);

#endif
