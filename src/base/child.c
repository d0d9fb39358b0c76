/* Run library calls in a child process, so that Ctrl-C ends them, and they can neither print nor end this program. */
#include "child.h"
#include "detached.h"
#include "err.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLEEP_MIN_US = 50, SLEEP_MAX_US = 5000 };

void *child_memory(int64_t bytes, const char *what, struct err *e)
{
    void *p = mmap(NULL, bytes > 0 ? (size_t)bytes : 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p != MAP_FAILED) return p;
    fail(e, E_MEMORY, "out of memory: %lld bytes for %s", (long long)bytes, what);
    return NULL;
}

void child_memory_free(void *p, int64_t bytes)
{
    if (p) munmap(p, bytes > 0 ? (size_t)bytes : 1);
}

/* The child ends with its parent, ignores the terminal's Ctrl-C, which the parent handles, and prints nothing. */
static void detach(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
}

static bool judge(int status, const char *what, struct err *e)
{
    if (WIFEXITED(status) && !WEXITSTATUS(status)) return true;
    if (WIFEXITED(status) || WTERMSIG(status) == SIGKILL)
        return fail(e, E_MEMORY, "%s failed, probably because memory is short", what);
    return fail(e, E_INTERNAL, "%s failed: the library was ended by signal %d (%s)", what, WTERMSIG(status),
                strsignal(WTERMSIG(status)));
}

/* Has the child ended? A child that cannot be waited for counts as failed. */
static bool has_ended(pid_t pid, int *status)
{
    pid_t got = waitpid(pid, status, WNOHANG);
    if (got < 0 && errno != EINTR) *status = SIGKILL;
    return got == pid || (got < 0 && errno != EINTR);
}

static void *reap(void *p)
{
    while (waitpid((pid_t)(intptr_t)p, NULL, 0) < 0 && errno == EINTR) continue;
    return NULL;
}

/* The system is slow to free the memory of a large child, so another thread waits for its end. */
static void end_child(pid_t pid)
{
    kill(pid, SIGKILL);
    if (!detached_start(reap, (void *)(intptr_t)pid)) reap((void *)(intptr_t)pid);
}

bool child_run(bool (*work)(void *job), void *job, const char *what, struct watch *w, struct err *e)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        detach();
        _exit(work(job) ? 0 : 1);
    }
    if (pid < 0) return fail(e, E_MEMORY, "cannot start a process for %s: %s", what, strerror(errno));
    useconds_t sleep = SLEEP_MIN_US;
    while (watch_tick(w, what, 0, 0, e)) {
        if (has_ended(pid, &status)) return judge(status, what, e);
        usleep(sleep);
        if (sleep < SLEEP_MAX_US) sleep *= 2;
    }
    end_child(pid);
    return false;
}
