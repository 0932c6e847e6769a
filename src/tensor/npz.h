/* Model files: a zip of NumPy arrays ('NAME.npy', C order) and of text members,
 * which numpy.load(), unzip and python -m zipfile can read. Arrays are float32,
 * uint16 or int8; what the latter two stand for is the caller's affair
 * (model/model_file.h).
 *
 * Writing:  w = npz_create(path); npz_put_array(w, …)…; npz_commit(w);
 * Reading:  r = npz_open(path); npz_get_array(r, …)…; npz_finish(r, NULL);
 *           npz_close(r);
 *
 * Same content in the same order gives the same bytes. The file appears whole
 * or not at all (base/atomic_file.h). Its zip comment is a seal: a checksum of
 * all bytes before it, so that any flipped bit, cut or addition is refused. A
 * file without a seal (made by numpy.savez or zip, below 4 GiB) is read too; then
 * nothing may stand before, behind, and each member has its own checksum.
 *
 * Reading trusts nothing: names, types, orders, shapes and sizes are compared
 * with what the caller expects before a byte is inflated, inflating stops at
 * the declared size, and each member's CRC is checked. No memory is taken for
 * an array but the caller's own.
 *
 * Limits: NPZ_MEMBERS members, NPZ_NAME bytes a name, NPZ_DIMS dimensions of
 * at most 2^31 - 1, 2^38 elements (1 TiB) an array; beyond 4 GiB the zip is a
 * zip64. Little-endian machines only.
 *
 * Errors are reported once, with the file's name, and give -1 or NULL. A
 * writer or reader belongs to one thread at a time, but npz_get() may be called
 * by several, each with another array.
 */
#ifndef ATTN_TENSOR_NPZ_H
#define ATTN_TENSOR_NPZ_H

#include <stdbool.h>
#include <stddef.h>

enum {
    NPZ_MEMBERS = 1 << 16,
    NPZ_NAME = 255,
    NPZ_DIMS = 8,
};

/* The type of an array, as NumPy writes it: '<f4', '<u2', '|i1'. */
enum npz_type { NPZ_FLOAT32, NPZ_UINT16, NPZ_INT8 };

/* Bytes a number; the name, "float32". */
size_t npz_type_size(enum npz_type type);
const char *npz_type_name(enum npz_type type);

struct npz_writer;
struct npz_reader;

/* Starts the file which npz_commit() will put at path. Owned by the caller
 * until npz_commit() or npz_abort(), both of which free it. NULL when no file
 * can be made in path's folder. */
struct npz_writer *npz_create(const char *path);

/* Adds the array of that shape as member 'NAME.npy'. The data is borrowed: it
 * must stay and not change until npz_write(), npz_commit() or npz_abort().
 * ndim 0 is one number. Putting a name twice is a programmer's error. -1 when a
 * limit is passed; all else that can fail is done in npz_write() and
 * npz_commit(). */
int npz_put(struct npz_writer *w, const char *name, enum npz_type type,
            const void *data, int ndim, const int *dims);

/* The same of float32. */
int npz_put_array(struct npz_writer *w, const char *name, const float *data,
                  int ndim, const int *dims);

/* The same, but the data is taken over: it is freed with w, or by this call
 * when that fails. */
int npz_put_owned(struct npz_writer *w, const char *name, enum npz_type type,
                  void *data, int ndim, const int *dims);

/* Adds the text as member NAME (not ending in '.npy'). The text is copied. */
int npz_put_text(struct npz_writer *w, const char *name, const char *text,
                 size_t len);

/* Compresses all members and hands them to the system, which writes them to
 * the disk in its own time; nothing can be added any more, and data that was
 * borrowed may change. 0, or -1 after reporting: then only npz_abort() is
 * left. */
int npz_write(struct npz_writer *w);

/* The same where it was not done, makes the file durable and puts it in place
 * of an older one. On an error (disk full, …) the older file is as it was and
 * nothing is left behind. Frees w in any case. */
int npz_commit(struct npz_writer *w);

/* Forgets the file: nothing is left behind, an older one is as it was. */
void npz_abort(struct npz_writer *w);

/* Opens a model file and checks its seal and its directory of members. NULL:
 * not to be read, not a model file, incomplete, or damaged. */
struct npz_reader *npz_open(const char *path);

/* Reads the array into out, which has room for the product of dims. The
 * member's type, order and shape must be just these. Marks it as used. */
int npz_get(struct npz_reader *r, const char *name, enum npz_type type,
            void *out, int ndim, const int *dims);

/* The same of float32. */
int npz_get_array(struct npz_reader *r, const char *name, float *out, int ndim,
                  const int *dims);

/* Reads a text member of at most limit bytes. *text is the caller's to free
 * and has a NUL after its len bytes (it may hold others). Marks it as used. */
int npz_get_text(struct npz_reader *r, const char *name, size_t limit,
                 char **text, size_t *len);

/* Is there an array NAME (member 'NAME.npy') or a text member NAME? */
bool npz_has(const struct npz_reader *r, const char *name);

/* All members in the file's order, for programs which look into files: their
 * number, and the name of one as npz_get_array() or npz_get_text() wants it;
 * *is_array says which of the two. The name belongs to the reader. */
int npz_count(const struct npz_reader *r);
const char *npz_name(const struct npz_reader *r, int i, bool *is_array);

/* The number of dimensions of the array, these in dims, and its type; -1 with
 * an error when there is no such array or it is not one that this header is
 * about. */
int npz_shape(struct npz_reader *r, const char *name, enum npz_type *type,
              int dims[NPZ_DIMS]);

/* An error which names the first member that has not been read, members whose
 * name starts with ignore_prefix excepted (NULL: none). */
int npz_finish(const struct npz_reader *r, const char *ignore_prefix);

/* The path it was opened by, for messages; borrowed. */
const char *npz_path(const struct npz_reader *r);

/* Closes the file and frees r, which may be NULL. */
void npz_close(struct npz_reader *r);

#endif
