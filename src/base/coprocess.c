/* Another program, connected by pipes. */
#include "coprocess.h"
#include "clock.h"
#include "err.h"
#include "mem.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_AT_ONCE = 1 << 16, LINE_MAX = 1 << 26, LAST_WORDS = 64 };
static const double kill_us = 1e6;

extern char **environ;

/* ---- starting ---- */

static void close_end(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* A socket for the input, because writing to a pipe whose reader has ended would raise SIGPIPE. Each pair: our end,
   then the end of the program. */
static bool make_ends(int end[3][2])
{
    for (int i = 0; i < 3; i++) end[i][0] = end[i][1] = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, end[0])) return false;
    return !pipe2(end[1], O_CLOEXEC) && !pipe2(end[2], O_CLOEXEC);
}

static int spawn(struct coprocess *c, char *const *argv, int end[3][2])
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&how);
    for (int i = 0; i < 3; i++) posix_spawn_file_actions_adddup2(&files, end[i][1], i);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    int why = posix_spawnp(&c->pid, argv[0], &files, &how, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    return why;
}

bool coprocess_start(struct coprocess *c, char *const *argv, bool *missing, struct err *e)
{
    int end[3][2], why = 0;
    char safe[200];
    *missing = false;
    memset(c, 0, sizeof *c);
    bool made = make_ends(end);
    if (!made)
        why = errno;
    else
        why = spawn(c, argv, end);
    for (int i = 0; i < 3; i++) close_end(&end[i][1]);
    c->in = end[0][0];
    c->out = end[1][0];
    c->err = end[2][0];
    c->open = true;
    if (!why) return true;
    c->pid = 0;
    coprocess_end(c, 0);
    *missing = made && (why == ENOENT || why == EACCES || why == ENOTDIR);
    return fail(e, E_IO, "cannot start %s: %s", print_safe(argv[0], strlen(argv[0]), 150, safe, sizeof safe),
                strerror(why));
}

/* ---- lines ---- */

bool coprocess_send(struct coprocess *c, const char *text)
{
    size_t n = strlen(text);
    double start = steady_us();
    while (n && c->in >= 0) {
        ssize_t sent = send(c->in, text, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EINTR && errno != EAGAIN) return false;
        if (sent < 0 && steady_us() - start > kill_us) return false;
        if (sent < 0) poll(&(struct pollfd){.fd = c->in, .events = POLLOUT}, 1, 10);
        if (sent > 0) text += sent, n -= (size_t)sent;
    }
    return !n;
}

/* Keep the last bytes that it writes to standard error. */
static void hear(struct coprocess *c)
{
    char more[1024];
    ssize_t n = read(c->err, more, sizeof more);
    if (n <= 0) {
        if (n == 0 || errno != EINTR) close_end(&c->err);
        return;
    }
    size_t room = CHILD_SAID - 1 - c->nsaid;
    if ((size_t)n > room) {
        size_t drop = (size_t)n - room;
        memmove(c->said, c->said + drop, c->nsaid -= drop);
    }
    memcpy(c->said + c->nsaid, more, (size_t)n);
    c->said[c->nsaid += (size_t)n] = 0;
}

/* Read more of the output. */
static void take(struct coprocess *c)
{
    if (c->at) memmove(c->text, c->text + c->at, c->used -= c->at);
    c->at = 0;
    if (c->room - c->used < READ_AT_ONCE) {
        char *more = c->room < LINE_MAX ? mem_resize(c->text, (int64_t)(2 * c->room + 2 * READ_AT_ONCE), 1,
                                                     "the output of another program", NULL)
                                        : NULL;
        if (!more) {
            c->ended = true;
            return;
        }
        c->text = more;
        c->room = 2 * c->room + 2 * READ_AT_ONCE;
    }
    ssize_t n = read(c->out, c->text + c->used, READ_AT_ONCE);
    if (n > 0) c->used += (size_t)n;
    if (n == 0 || (n < 0 && errno != EINTR)) c->ended = true;
}

static char *first_line(struct coprocess *c)
{
    char *line = c->text + c->at, *end = c->used > c->at ? memchr(line, '\n', c->used - c->at) : NULL;
    if (!end) return NULL;
    *end = 0;
    c->at = (size_t)(end + 1 - c->text);
    return line;
}

char *coprocess_line(struct coprocess *c, double us)
{
    double start = steady_us();
    for (;;) {
        char *line = first_line(c);
        if (line || c->ended) return line;
        double left = us - (steady_us() - start);
        struct pollfd p[] = {{.fd = c->out, .events = POLLIN}, {.fd = c->err, .events = POLLIN}};
        double nap_s = left > 0 ? 1e-6 * left : 0;
        struct timespec nap = {.tv_sec = (time_t)nap_s, .tv_nsec = (long)(1e9 * (nap_s - floor(nap_s)))};
        int n = ppoll(p, 2, &nap, NULL);
        if (n > 0 && p[1].revents) hear(c);
        if (n > 0 && p[0].revents) take(c);
        if (n <= 0 && left <= 0) return NULL;
    }
}

/* ---- the end ---- */

bool coprocess_is_over(struct coprocess *c)
{
    if (!c->pid) return true;
    pid_t n = waitpid(c->pid, &c->status, WNOHANG);
    if (n == 0 || (n < 0 && errno == EINTR)) return false;
    c->pid = 0;
    return true;
}

static bool is_readable(int fd)
{
    return fd >= 0 && poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 0) > 0;
}

/* Wait for the end, and read meanwhile, so that a full pipe does not stop the program. */
static bool ends_within(struct coprocess *c, double us)
{
    for (double start = steady_us(); !coprocess_is_over(c);) {
        if (steady_us() - start > us) return false;
        if (is_readable(c->err)) hear(c);
        c->at = c->used = 0;
        if (!c->ended && is_readable(c->out)) take(c);
        usleep(1000);
    }
    return true;
}

void coprocess_end(struct coprocess *c, double us)
{
    pid_t group = c->pid;
    if (!c->open) return;
    c->open = false;
    close_end(&c->in);
    if (group && !ends_within(c, us)) kill(-group, SIGTERM);
    if (group && !ends_within(c, kill_us)) kill(-group, SIGKILL);
    if (group) ends_within(c, 10 * kill_us);
    if (group) kill(-group, SIGKILL); /* other processes of its group, which the program may have left */
    for (int i = 0; i < LAST_WORDS && is_readable(c->err); i++) hear(c);
    close_end(&c->out);
    close_end(&c->err);
    mem_free(c->text);
    c->text = NULL;
    c->at = c->used = c->room = 0;
}
