#include "base/lines.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/report.h"
#include "base/text.h"

#define CHUNK ((size_t)64 << 10)
#define LARGEST (LINES_LIMIT + CHUNK) /* of the buffer */

struct lines_gzip {
    z_stream z;
    bool ended;   /* no compressed bytes are left to read */
    bool between; /* a member is complete, the next has not begun */
    bool more;    /* zlib may hold output that had no room */
    unsigned char in[CHUNK];
};

/* ---- opening ---------------------------------------------------------- */

/* What to say when a path cannot be opened: the user's path is wrong, or the
 * system is out of something. */
static int open_error(const char *path)
{
    int err = errno;
    if (err == EMFILE || err == ENFILE || err == ENOMEM || err == EIO)
        return failure("%s: cannot open: %s", path, strerror(err));
    return error("%s: cannot open: %s", path, strerror(err));
}

int lines_open(struct lines *in, const char *path)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct stat st;
    int fd;

    *in = (struct lines){ 0 };
    fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return open_error(path);
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (!is_stdin)
            close(fd);
        return error("%s: is a folder, give a file", is_stdin ? "stdin" : path);
    }
    in->file = fd + 1;
    in->limit = LINES_LIMIT;
    in->name = xstrdup(is_stdin ? "stdin" : path);
    in->cap = CHUNK;
    ARRAY_ALLOC(in->buffer, in->cap);
    return 0;
}

void lines_open_text(struct lines *in, const char *name, const char *text,
                     size_t len)
{
    *in = (struct lines){ .name = xstrdup(name),
                          .started = true,
                          .ended = true,
                          .limit = LINES_LIMIT,
                          .fill = len,
                          .cap = len + 1 };
    ARRAY_ALLOC(in->buffer, in->cap);
    if (len > 0)
        memcpy(in->buffer, text, len);
}

int lines_rereadable(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return error("stdin: cannot be read twice, give a regular file");
    if (stat(path, &st) < 0)
        return open_error(path);
    if (S_ISDIR(st.st_mode))
        return error("%s: is a folder, give a file", path);
    if (!S_ISREG(st.st_mode))
        return error("%s: cannot be read twice, give a regular file", path);
    return 0;
}

void lines_release(struct lines *in)
{
    if (in->file > STDIN_FILENO + 1)
        close(in->file - 1);
    if (in->gzip != NULL)
        inflateEnd(&in->gzip->z);
    free(in->gzip);
    free(in->buffer);
    free(in->name);
    *in = (struct lines){ 0 };
}

/* ---- bytes in --------------------------------------------------------- */

/* Reads what is there, waiting only when there is nothing. Returns the number
 * of bytes, 0 at the end, -1 after reporting. */
static ssize_t read_some(struct lines *in, void *to, size_t room)
{
    int fd = in->file - 1;
    for (;;) {
        ssize_t n = read(fd, to, room);
        if (n >= 0)
            return n;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
        else if (errno != EINTR)
            return failure("%s: cannot read: %s", in->name, strerror(errno));
    }
}

static int gzip_error(const struct lines *in, int code)
{
    const struct lines_gzip *gz = in->gzip;
    if (code == Z_MEM_ERROR)
        return failure("%s: out of memory for inflating", in->name);
    if (gz->z.total_out == 0 && gz->z.total_in <= 2)
        return error("%s: something else follows the compressed data",
                     in->name);
    return error("%s: broken gzip data: %s", in->name,
                 gz->z.msg != NULL ? gz->z.msg : "no reason given");
}

static int cut_short(const struct lines *in)
{
    return error("%s: the gzip data is cut short", in->name);
}

/* Takes over the bytes read so far as the beginning of a gzip stream. */
static int gzip_start(struct lines *in)
{
    struct lines_gzip *gz = xcalloc(1, sizeof *gz);
    in->gzip = gz;
    if (inflateInit2(&gz->z, 16 + MAX_WBITS) != Z_OK)
        return failure("%s: out of memory for inflating", in->name);
    memcpy(gz->in, in->buffer, in->fill);
    gz->z.next_in = gz->in;
    gz->z.avail_in = (uInt)in->fill;
    in->fill = 0;
    return 0;
}

static int gzip_read(struct lines *in)
{
    struct lines_gzip *gz = in->gzip;
    ssize_t n = read_some(in, gz->in, sizeof gz->in);
    if (n < 0)
        return -1;
    gz->z.next_in = gz->in;
    gz->z.avail_in = (uInt)n;
    gz->ended = n == 0;
    return 0;
}

/* Inflates into `to` what the bytes at hand give: the number of bytes, which
 * may be 0, or -1 after reporting. */
static ssize_t gzip_inflate(struct lines *in, char *to, size_t room)
{
    struct lines_gzip *gz = in->gzip;
    if (gz->between) {
        inflateReset(&gz->z);
        gz->between = false;
    }
    gz->z.next_out = (Bytef *)to;
    gz->z.avail_out = (uInt)room; /* room <= LARGEST */
    int code = inflate(&gz->z, Z_NO_FLUSH);
    gz->between = code == Z_STREAM_END;
    gz->more = gz->z.avail_out == 0 && !gz->between;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return gzip_error(in, code);
    return (ssize_t)(room - gz->z.avail_out);
}

/* As read_some(), for the inflated bytes. */
static ssize_t gzip_some(struct lines *in, char *to, size_t room)
{
    struct lines_gzip *gz = in->gzip;
    for (;;) {
        if (gz->z.avail_in == 0 && !gz->more) {
            if (!gz->ended && gzip_read(in) < 0)
                return -1;
            if (gz->ended)
                return gz->between ? 0 : cut_short(in);
        }
        ssize_t n = gzip_inflate(in, to, room);
        if (n != 0)
            return n;
    }
}

/* Makes room for more bytes behind fill, and for a '\0'. */
static void make_room(struct lines *in)
{
    if (in->start > 0 &&
        (in->start == in->fill || in->cap - in->fill < CHUNK / 2)) {
        memmove(in->buffer, in->buffer + in->start, in->fill - in->start);
        in->passed += in->start;
        in->fill -= in->start;
        in->scanned -= in->start;
        in->start = 0;
    }
    if (in->cap - in->fill < CHUNK / 2) {
        in->cap = 2 * in->cap < LARGEST ? 2 * in->cap : LARGEST;
        in->buffer = xrealloc(in->buffer, in->cap);
    }
}

static bool named_gz(const struct lines *in)
{
    size_t len = strlen(in->name);
    return len >= 3 && strcmp(in->name + len - 3, ".gz") == 0;
}

/* Reads until the first bytes tell whether the input is gzip. */
static int start(struct lines *in)
{
    static const char magic[3] = "\x1f\x8b\x08";
    ssize_t n = 1;

    in->started = true;
    while (n > 0 && in->fill < sizeof magic &&
           memcmp(in->buffer, magic, in->fill) == 0) {
        n = read_some(in, in->buffer + in->fill, CHUNK - in->fill - 1);
        if (n < 0)
            return -1;
        in->fill += (size_t)n;
    }
    in->ended = n == 0;
    if (in->fill >= sizeof magic && memcmp(in->buffer, magic, 3) == 0)
        return gzip_start(in);
    if (in->fill == 2 && in->ended && memcmp(in->buffer, magic, 2) == 0)
        return cut_short(in);
    if (in->fill < 2 && in->ended && named_gz(in))
        return cut_short(in);
    return 0;
}

/* Takes in some more bytes, or sets ended or failed. */
static void fill(struct lines *in)
{
    assert(in->file != 0 && !in->ended && !in->failed);
    if (!in->started) {
        in->failed = start(in) < 0;
        return;
    }
    make_room(in);
    char *to = in->buffer + in->fill;
    size_t room = in->cap - in->fill - 1;
    ssize_t n = in->gzip != NULL ? gzip_some(in, to, room)
                                 : read_some(in, to, room);
    if (n > 0)
        in->fill += (size_t)n;
    in->ended = n == 0;
    in->failed = n < 0;
}

/* ---- lines out -------------------------------------------------------- */

/* Passes over the rest of a line that was cut: whether its end was seen. */
static bool skip_rest(struct lines *in)
{
    char *from = in->buffer + in->start;
    char *end = memchr(from, '\n', in->fill - in->start);
    in->start = end != NULL ? (size_t)(end + 1 - in->buffer) : in->fill;
    in->scanned = in->start;
    in->skipping = end == NULL;
    return end != NULL;
}

/* Whether the line that stands at start has grown too long to be one line of
 * at most `limit` bytes and a 0x0D. */
static bool too_long(const struct lines *in)
{
    return in->scanned - in->start > in->limit + 1;
}

/* Whether the buffer and the flags say what comes next, without reading. Moves
 * `scanned` to the end of the line, or to the end of the data. */
static bool known(struct lines *in)
{
    if (in->skipping && !skip_rest(in))
        return in->ended || in->failed;
    if (in->fill > in->scanned) {
        char *from = in->buffer + in->scanned;
        char *end = memchr(from, '\n', in->fill - in->scanned);
        in->scanned = end != NULL ? (size_t)(end - in->buffer) : in->fill;
    }
    return in->scanned < in->fill || too_long(in) || in->ended || in->failed;
}

/* The byte-order mark is no text, at the very start. */
static void drop_mark(struct lines *in)
{
    if (in->number == 0 && in->passed + in->start == 0 && in->scanned >= 3 &&
        memcmp(in->buffer, "\xef\xbb\xbf", 3) == 0)
        in->start = 3;
}

/* Shortens a line to the limit or a little less, between characters. */
static size_t cut(struct lines *in, const char *line)
{
    size_t len = in->limit;
    while (len > in->limit - 3 && ((unsigned char)line[len] & 0xc0) == 0x80)
        len--;
    in->cut = true;
    warn("%s:%zu: a line longer than %zu bytes, the rest of it is left out",
         in->name, in->number, in->limit);
    return len;
}

/* Returns the line that ends at `scanned`, be it at 0x0A or not. */
static char *take(struct lines *in, size_t *len)
{
    char *line = in->buffer + in->start;
    bool ended = in->scanned < in->fill; /* by 0x0A */

    *len = in->scanned - in->start;
    in->number++;
    in->offset = in->passed + in->start;
    in->cut = false;
    if (ended && *len > 0 && line[*len - 1] == '\r')
        --*len;
    in->skipping = !ended && too_long(in);
    in->start = in->scanned + ended;
    in->scanned = in->start;
    if (*len > in->limit)
        *len = cut(in, line);
    line[*len] = '\0';
    return line;
}

int lines_next(struct lines *in, char **line, size_t *len)
{
    if (in->buffer == NULL)
        return 0; /* not open */
    while (!known(in))
        fill(in);
    drop_mark(in);
    if (in->scanned == in->fill && in->failed)
        return -1;
    if (in->start == in->fill)
        return 0;
    *line = take(in, len);
    return 1;
}

bool lines_pending(struct lines *in)
{
    return in->buffer == NULL || known(in);
}

/* Whether compressed bytes are at hand, so that reading can be put off. */
static bool gzip_holds(const struct lines *in)
{
    return in->gzip != NULL && (in->gzip->z.avail_in > 0 || in->gzip->more);
}

bool lines_ready(struct lines *in, int wait_ms)
{
    double end = clock_seconds() + wait_ms * 1e-3;
    while (!lines_pending(in)) {
        double left = end - clock_seconds();
        int wait = left > 0 ? (int)(left * 1e3 + 0.999) : 0;
        struct pollfd fd = { .fd = in->file - 1, .events = POLLIN };
        int n = gzip_holds(in) ? 1 : poll(&fd, 1, wait);
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0)
            fill(in);
    }
    return true;
}

/* ---- checking --------------------------------------------------------- */

static bool is_utf16(const struct lines *in, const char *line, size_t len)
{
    return in->offset == 0 && len >= 2 &&
           (memcmp(line, "\xff\xfe", 2) == 0 ||
            memcmp(line, "\xfe\xff", 2) == 0);
}

int lines_check(const struct lines *in, const char *line, size_t len)
{
    size_t good = utf8_valid_prefix(line, len);
    if (good == len)
        return 0;
    if (is_utf16(in, line, len))
        return error("%s:1: byte offset 0: not UTF-8 but UTF-16, convert it",
                     in->name);
    unsigned char byte = (unsigned char)line[good];
    return error("%s:%zu: byte offset %zu (%zu in the file): %s", in->name,
                 in->number, good, in->offset + good,
                 byte == 0 ? "a NUL byte, which text does not hold"
                           : "not UTF-8, convert the text or repair it");
}
