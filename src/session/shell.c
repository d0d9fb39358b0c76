/* Runs shell commands on the terminal, with or without input from this program. */
#include "shell.h"
#include "allow.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text.h"
#include "front.h"
#include "session.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* If a signal ends a command, the shell's exit status is this number plus the number of the signal. */
enum { STATUS_SIGNAL = 128 };

static bool report(int status, struct err *e)
{
    bool ended = status != -1 && WIFEXITED(status);
    int code = ended ? WEXITSTATUS(status) : 0;
    if (ended && !code) return true;
    if (code == STATUS_SIGNAL + SIGINT || (status != -1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT))
        return fail(e, E_CANCELLED, "cancelled");
    if (ended) return fail(e, E_IO, "the shell command ended with status %d", code);
    return fail(e, E_IO, "the shell could not run the command, or a signal ended it");
}

static void lend_terminal(struct session *s, bool on)
{
    fflush(out_file(s->out));
    if (s->front && s->front->echo) s->front->echo(s, on);
}

bool shell_run(struct session *s, const char *command, struct err *e)
{
    if (!shell_is_allowed(s, e)) return false;
    lend_terminal(s, true);
    int status = system(command);
    lend_terminal(s, false);
    return report(status, e);
}

/* The signals that this process ignores while the shell command runs; SIGPIPE arrives if the command does not read all
   of its input. */
static const int ignored[] = {SIGPIPE, SIGINT, SIGQUIT};

static void ignore_signals(struct sigaction before[COUNT(ignored)])
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    for (int i = 0; i < COUNT(ignored); i++) sigaction(ignored[i], &ignore, &before[i]);
}

static void restore_signals(const struct sigaction before[COUNT(ignored)])
{
    for (int i = 0; i < COUNT(ignored); i++) sigaction(ignored[i], &before[i], NULL);
}

/* ---- programs ---- */

/* The program starts with default signals and an empty signal mask. Returns 0 or errno. */
static int spawn(pid_t *pid, char *const argv[])
{
    extern char **environ;
    posix_spawnattr_t how;
    sigset_t defaults, none;
    int why = posix_spawnattr_init(&how);
    if (why) return why;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (int i = 0; i < COUNT(ignored); i++) sigaddset(&defaults, ignored[i]);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&how, &defaults);
    posix_spawnattr_setsigmask(&how, &none);
    why = posix_spawnp(pid, argv[0], NULL, &how, argv, environ);
    posix_spawnattr_destroy(&how);
    return why;
}

bool program_run(struct session *s, char *const argv[], struct err *e)
{
    struct sigaction before[COUNT(ignored)];
    char name[160];
    int status = -1;
    pid_t pid;
    if (!shell_is_allowed(s, e)) return false;
    print_safe(argv[0], strlen(argv[0]), 100, name, sizeof name);
    lend_terminal(s, true);
    ignore_signals(before);
    int why = spawn(&pid, argv);
    while (!why && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    restore_signals(before);
    lend_terminal(s, false);
    if (why) return fail(e, E_IO, "cannot run `%s`: %s", name, strerror(why));
    if (status != -1 && WIFEXITED(status) && !WEXITSTATUS(status)) return true;
    if (status != -1 && WIFEXITED(status)) return fail(e, E_IO, "`%s` ended with status %d", name, WEXITSTATUS(status));
    return fail(e, E_IO, "a signal ended `%s`", name);
}

/* ---- commands that read ---- */

static int feed(const char *command, const char *input, size_t n)
{
    struct sigaction before[COUNT(ignored)];
    FILE *f =
        popen(command, "we"); /* start the shell before signals are ignored, because the shell would ignore them, too */
    if (!f) return -1;
    ignore_signals(before);
    fwrite(input, 1, n, f);
    int status = pclose(f);
    restore_signals(before);
    return status;
}

bool shell_feed(struct session *s, const char *command, const char *input, size_t n, struct err *e)
{
    if (!shell_is_allowed(s, e)) return false;
    lend_terminal(s, true);
    int status = feed(command, input, n);
    lend_terminal(s, false);
    return report(status, e);
}
