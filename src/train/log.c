#include "train/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/report.h"
#include "train/learner.h"
#include "train/position.h"

static const char header[] =
    "event\tupdate\tepoch\tsentences\ttokens\tcost\tgradient_norm\t"
    "learning_rate\tperplexity\tbleu\tseconds\n";

/* Whether a row stands for what is behind the position. */
static bool row_holds(const char *line, size_t len, const struct position *p)
{
    bool valid = len > 5 && memcmp(line, "valid", 5) == 0;
    const char *tab = memchr(line, '\t', len);
    return tab &&
           strtoull(tab + 1, NULL, 10) <= (valid ? p->validated : p->update);
}

static int copy_rows(FILE *out, const char *path, const struct position *p)
{
    struct lines in = { 0 };
    char *line;
    size_t len;
    int got = lines_open(&in, path);
    if (got == 0)
        got = lines_next(&in, &line, &len); /* the header */
    while (got > 0 && (got = lines_next(&in, &line, &len)) > 0)
        if (row_holds(line, len, p))
            fprintf(out, "%.*s\n", (int)len, line);
    lines_release(&in);
    return got < 0 ? -1 : 0;
}

static int start_file(const char *path, const struct position *p)
{
    struct atomic_file file = { 0 };
    FILE *out = atomic_file_open(&file, path);
    if (!out)
        return -1;
    fputs(header, out);
    FILE *old = p->update > 0 ? fopen(path, "r") : NULL;
    if (old) {
        fclose(old);
        if (copy_rows(out, path, p) < 0) {
            atomic_file_abort(&file);
            return -1;
        }
    }
    return atomic_file_commit(&file);
}

int log_open(struct log *l, const char *path, const struct position *p)
{
    memset(l, 0, sizeof(*l));
    if (start_file(path, p) < 0)
        return -1;
    l->file = fopen(path, "a");
    if (!l->file)
        return error("%s: cannot be written: %s", path, strerror(errno));
    l->path = xstrdup(path);
    progress_init(&l->progress, PROGRESS_NOTHING);
    l->since = clock_seconds();
    return 0;
}

void log_update(struct log *l, const struct position *p,
                const struct update_result *r, long batches)
{
    l->tokens += r->target_tokens;
    double seconds = clock_seconds() - l->since;
    progress_show(&l->progress,
                  "epoch %d, batch %" PRIu64 " of %ld: cost %.3f, "
                  "%.0f words/s",
                  p->epoch + 1, p->batch, batches,
                  r->loss.nll / (double)r->target_tokens,
                  seconds > 0 ? (double)l->tokens / seconds : 0);
}

/* "[2026-11-30 20:15:01] ", as Marian begins its lines */
static void stamp(char *buffer, size_t size)
{
    time_t now = time(NULL);
    struct tm tm;
    if (!localtime_r(&now, &tm) ||
        strftime(buffer, size, "[%Y-%m-%d %H:%M:%S]", &tm) == 0)
        buffer[0] = '\0';
}

void log_training(struct log *l, struct position *p, double rate)
{
    char when[64];
    double seconds = clock_seconds() - l->since;
    double cost = p->nll / (double)p->tokens;
    double norm = p->norm / (double)p->updates;
    progress_end(&l->progress);
    stamp(when, sizeof(when));
    if (report_level() >= NORMAL)
        fprintf(stderr,
                "%s Ep. %d : Up. %" PRIu64 " : Sen. %" PRIu64
                " : Cost %.5f : Time %.2fs : %.2f words/s : gNorm %.4f : "
                "L.r. %.4e\n",
                when, p->epoch + 1, p->update, p->sentences, cost, seconds,
                (double)l->tokens / seconds, norm, rate);
    fprintf(l->file,
            "train\t%" PRIu64 "\t%d\t%" PRIu64 "\t%" PRIu64
            "\t%.17g\t%.17g\t%.17g\t\t\t%.3f\n",
            p->update, p->epoch + 1, p->sentences, p->tokens, cost, norm, rate,
            seconds);
    fflush(l->file);
    p->nll = p->norm = 0;
    p->sentences = p->tokens = p->updates = 0;
    l->tokens = 0;
    l->since = clock_seconds();
}

void log_validation(struct log *l, const struct position *p, double bleu,
                    double seconds, bool best)
{
    char when[64], score[64] = "", outcome[64] = "new best";
    progress_end(&l->progress);
    stamp(when, sizeof(when));
    if (bleu >= 0)
        snprintf(score, sizeof(score), " : bleu : %.2f", bleu);
    if (!best)
        snprintf(outcome, sizeof(outcome), "stalled %d times", p->stalled);
    if (report_level() >= NORMAL)
        fprintf(stderr,
                "%s [valid] Ep. %d : Up. %" PRIu64 " : perplexity : %.4f%s : "
                "%s : Time %.2fs\n",
                when, p->epoch + 1, p->update, p->perplexity, score, outcome,
                seconds);
    fprintf(l->file, "valid\t%" PRIu64 "\t%d\t\t\t\t\t\t%.17g\t", p->update,
            p->epoch + 1, p->perplexity);
    if (bleu >= 0)
        fprintf(l->file, "%.17g", bleu);
    fprintf(l->file, "\t%.3f\n", seconds);
    fflush(l->file);
    l->since += seconds;
}

int log_close(struct log *l)
{
    int got = 0;
    progress_end(&l->progress);
    if (l->file && (ferror(l->file) | fclose(l->file)) != 0)
        got = failure("%s: not all of it could be written", l->path);
    free(l->path);
    memset(l, 0, sizeof(*l));
    return got;
}
