/* The guardian: a small process that restores the terminal if the program is killed and cannot restore it itself. */
#include "term.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <time.h>
#include <unistd.h>

/* The guardian's script sleeps until a line arrives or the pipe closes. The script restores the modes only if no other
   program has changed them. */
static const char script[] = "exec 3<&1; on=0\n"
                             "while read -r on_now; do on=$on_now; done\n"
                             "[ \"$on\" = 1 ] || exit 0\n"
                             "printf %s \"$1\"\n"
                             "[ \"$(stty -g <&3)\" = \"$3\" ] && stty \"$2\" <&3\n";

static int to_guard = -1;

/* Write terminal modes in the format of `stty -g`. */
static void write_modes(const struct termios *t, char *out, size_t size)
{
    int n = snprintf(out, size, "%x:%x:%x:%x", t->c_iflag, t->c_oflag, t->c_cflag, t->c_lflag);
    for (int i = 0; i < NCCS; i++) n += snprintf(out + n, size - (size_t)n, ":%x", t->c_cc[i]);
}

/* The guardian runs in its own session, so that neither keys nor signals to the job reach it. */
static bool spawn(int from, char *const argv[])
{
    extern char **environ;
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    pid_t pid;
    if (posix_spawn_file_actions_init(&files)) return false;
    bool ok = !posix_spawnattr_init(&how);
    if (ok) {
        sigset_t all, none;
        sigfillset(&all);
        sigemptyset(&none);
        ok = !posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) &&
             !posix_spawnattr_setsigdefault(&how, &all) && !posix_spawnattr_setsigmask(&how, &none) &&
             !posix_spawn_file_actions_adddup2(&files, from, STDIN_FILENO) &&
             !posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) &&
             !posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1) &&
             !posix_spawn(&pid, "/bin/sh", &files, &how, argv, environ);
        posix_spawnattr_destroy(&how);
    }
    posix_spawn_file_actions_destroy(&files);
    return ok;
}

void guard_start(const char *reset, const struct termios *before, const struct termios *raw)
{
    char was[400], is[400];
    int ends[2];
    if (to_guard >= 0 || pipe2(ends, O_CLOEXEC)) return;
    write_modes(before, was, sizeof was);
    write_modes(raw, is, sizeof is);
    char *const argv[] = {"warpspy-guard", "-c", (char *)script, "warpspy-guard", (char *)reset, was, is, NULL};
    bool ok = spawn(ends[0], argv);
    close(ends[0]);
    if (ok)
        to_guard = ends[1];
    else
        close(ends[1]);
}

/* Async-signal-safe. Writing a few bytes to the pipe fails only if the guardian was killed. The failure must not end
   this process by SIGPIPE. */
void guard(bool on)
{
    if (to_guard < 0) return;
    sigset_t pipe_only, before;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_only, &before);
    bool gone = write(to_guard, on ? "1\n" : "0\n", 2) < 0;
    struct timespec now = {0};
    if (gone) sigtimedwait(&pipe_only, NULL, &now);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (gone) to_guard = -1;
}
