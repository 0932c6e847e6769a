#include "cli/probe.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/report.h"

struct probe {
    const struct probe_kind *kind;
    pid_t process;
    int socket;
};

/* Whole messages; false when the other side is gone. */
static bool send_all(int socket, const void *data, size_t len)
{
    const char *from = data;
    while (len > 0) {
        ssize_t n = write(socket, from, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        from += n;
        len -= (size_t)n;
    }
    return true;
}

static bool receive_all(int socket, void *data, size_t len)
{
    char *to = data;
    while (len > 0) {
        ssize_t n = read(socket, to, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        to += n;
        len -= (size_t)n;
    }
    return true;
}

/* A question is preceded by one of these, a state that stands is told by
 * the second. */
static const char end = 0, more = 1;

/* The life of the process; its exit status. */
static int answer_all(const struct probe_kind *kind, const void *setup,
                      int socket)
{
    void *state = kind->start(setup);
    char *question = xmalloc(kind->question), *answer = xmalloc(kind->answer);
    char go = state != NULL;
    if (!state || !send_all(socket, &more, 1))
        return report_status();
    while (receive_all(socket, &go, 1) && go == more) {
        memset(answer, 0, kind->answer);
        if (!receive_all(socket, question, kind->question) ||
            kind->measure(state, question, answer) < 0 ||
            !send_all(socket, answer, kind->answer))
            break;
    }
    return report_status();
}

/* The process is gone, though nobody told it to go: the reason was reported
 * there unless a signal is it. */
static int lost(struct probe *p)
{
    int status = 0;
    while (waitpid(p->process, &status, 0) < 0 && errno == EINTR)
        ;
    p->process = 0;
    if (WIFSIGNALED(status))
        return failure("a measuring process was ended by signal %d (%s)",
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
    return -1;
}

struct probe *probe_new(const struct probe_kind *kind, const void *setup)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0) {
        failure("cannot make a pair of sockets: %s", strerror(errno));
        return NULL;
    }
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) {
        close(pair[0]);
        _exit(answer_all(kind, setup, pair[1]));
    }
    close(pair[1]);
    if (process < 0) {
        failure("cannot start a process: %s", strerror(errno));
        close(pair[0]);
        return NULL;
    }
    struct probe *p = xcalloc(1, sizeof(*p));
    *p = (struct probe){ kind, process, pair[0] };
    char ready;
    if (receive_all(p->socket, &ready, 1))
        return p;
    lost(p);
    probe_free(p);
    return NULL;
}

int probe_ask(struct probe *p, const void *question, void *answer)
{
    if (send_all(p->socket, &more, 1) &&
        send_all(p->socket, question, p->kind->question) &&
        receive_all(p->socket, answer, p->kind->answer))
        return 0;
    return lost(p);
}

void probe_free(struct probe *p)
{
    if (!p)
        return;
    if (p->process > 0) {
        send_all(p->socket, &end, 1);
        while (waitpid(p->process, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(p->socket);
    free(p);
}
