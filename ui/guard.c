/* The guardian: a small process that restores the terminal if the program is killed and cannot restore it itself. */
#include "base/detached.h"
#include "term.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The guardian's script sleeps until a line arrives or the pipe closes. A line is 1 or 0 (the full screen is on or
   off), t1 or t0 (the window has a title of this program), f (the terminal may report the focus), `end`, or terminal
   modes that this program has set. The script restores the modes only if the terminal still has modes of this program.
   It first waits, which gives a shell that edits lines time to set its own modes. */
static const char script[] = "exec 3<&1; full=0; title=0; focus=0; ours=\n"
                             "while read -r line; do\n"
                             "case $line in [01]) full=$line;; t?) title=${line#t};; f) focus=1;; end) exit 0;; *) "
                             "ours=\"$ours $line \";; esac\n"
                             "done\n"
                             "[ $focus = 0 ] || printf %s \"$4\"\n"
                             "[ $title = 0 ] || printf %s \"$5\"\n"
                             "[ $full = 0 ] || { printf %s \"$1\"; ours=\"$ours $3 \"; }\n"
                             "sleep 0.1\n"
                             "case $ours in *\" $(stty -g <&3) \"*) stty \"$2\" <&3;; esac\n";

enum { MODES_SIZE = 400, MODES_MAX = 8 };

static int to_guard = -1;
static char known[MODES_MAX][MODES_SIZE]; /* modes that need not be sent to the guardian: the modes to restore, and the
                                              modes that were sent already */
static int nknown;

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

/* The arguments of the thread that starts the guardian. */
static struct {
    const char *reset;
    char raw[MODES_SIZE];
    int from; /* the guardian's end of the pipe */
} start;

/* Starting a process is slow on a busy machine, so a thread starts the guardian, and the prompt does not wait. If the
   start fails, the pipe has no reader, and the next write to the pipe fails. */
static void *start_guardian(void *unused)
{
    char *const argv[] = {"warpspy-guard", "-c",      (char *)script,   "warpspy-guard",   (char *)start.reset,
                          known[0],        start.raw, WINDOW_FOCUS_OFF, WINDOW_TITLE_BACK, NULL};
    spawn(start.from, argv);
    close(start.from);
    return NULL;
}

/* Async-signal-safe. Writing a few bytes to the pipe fails only if the guardian was killed. The failure must not end
   this process by SIGPIPE. */
static void tell(const char *line, size_t n)
{
    if (to_guard < 0) return;
    sigset_t pipe_only, before;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigprocmask(SIG_BLOCK, &pipe_only, &before);
    bool gone = write(to_guard, line, n) < 0;
    struct timespec now = {0};
    if (gone) sigtimedwait(&pipe_only, NULL, &now);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (gone) to_guard = -1;
}

/* What the guardian must undo; it may start later. */
static bool has_title, has_focus;

static void tell_window(void)
{
    tell(has_title ? "t1\n" : "t0\n", 3);
    if (has_focus) tell("f\n", 2);
}

void guard_title(bool on)
{
    has_title = on;
    tell_window();
}

void guard_focus(void)
{
    if (has_focus) return;
    has_focus = true;
    tell_window();
}

void guard_start(const char *reset, const struct termios *before, const struct termios *raw)
{
    int ends[2];
    if (to_guard >= 0 || pipe2(ends, O_CLOEXEC)) return;
    write_modes(before, known[0], sizeof known[0]);
    nknown = 1;
    write_modes(raw, start.raw, sizeof start.raw);
    start.reset = reset;
    start.from = ends[0];
    if (detached_start(start_guardian, NULL)) {
        to_guard = ends[1];
        tell_window();
        return;
    }
    close(ends[0]);
    close(ends[1]);
}

void guard(bool on)
{
    tell(on ? "1\n" : "0\n", 2);
}

void guard_modes(const struct termios *now)
{
    char line[MODES_SIZE + 1];
    if (to_guard < 0 || nknown == MODES_MAX) return;
    write_modes(now, line, MODES_SIZE);
    for (int i = 0; i < nknown; i++)
        if (!strcmp(known[i], line)) return;
    strcpy(known[nknown++], line);
    strcat(line, "\n");
    tell(line, strlen(line));
}

void guard_end(void)
{
    tell("end\n", 4);
    if (to_guard >= 0) close(to_guard);
    to_guard = -1;
}
