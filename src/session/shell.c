/* Runs shell commands on the terminal, with or without input from this program. */
#include "shell.h"
#include "allow.h"
#include "base/base.h"
#include "base/err.h"
#include "front.h"
#include "session.h"

#include <errno.h>
#include <signal.h>
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

static int feed(const char *command, const char *input, size_t n)
{
    struct sigaction before[COUNT(ignored)], ignore = {.sa_handler = SIG_IGN};
    FILE *f =
        popen(command, "we"); /* start the shell before signals are ignored, because the shell would ignore them, too */
    if (!f) return -1;
    sigemptyset(&ignore.sa_mask);
    for (int i = 0; i < COUNT(ignored); i++) sigaction(ignored[i], &ignore, &before[i]);
    fwrite(input, 1, n, f);
    int status = pclose(f);
    for (int i = 0; i < COUNT(ignored); i++) sigaction(ignored[i], &before[i], NULL);
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
