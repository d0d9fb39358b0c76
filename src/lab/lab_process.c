/* Child processes with limits: the compiler, and the process that runs users' kernels. */
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/watch.h"
#include "lab_private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_FD = 3, FREE_FD = 100, FDS_MAX = 256, NAP_MIN_US = 200, NAP_MAX_US = 2000 };

/* ---- start ---- */

static void set_limit(int what, int64_t value)
{
    struct rlimit l = {(rlim_t)value, (rlim_t)value};
    if (value > 0) setrlimit(what, &l);
}

static void bury(void);

/* Only functions that a child of a program with threads may call. */
static _Noreturn void become(const struct lab_process *p, int parent)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    sigemptyset(&none);
    for (int s = 1; s < NSIG; s++) signal(s, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (p->folder && chdir(p->folder)) _exit(127);
    for (int i = 0; i < p->nkeep; i++) /* first out of the way of the numbers that they get */
        if (dup2(p->keep[i], FREE_FD + i) < 0) _exit(127);
    if (p->out >= 0 && dup2(p->out, FREE_FD + p->nkeep) < 0) _exit(127);
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) _exit(127);
    int out = p->out >= 0 ? FREE_FD + p->nkeep : null;
    if (dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0) _exit(127);
    for (int i = 0; i < p->nkeep; i++)
        if (dup2(FREE_FD + i, FIRST_FD + i) < 0) _exit(127);
    for (int fd = FIRST_FD + p->nkeep; fd < FDS_MAX; fd++) close(fd);
    set_limit(RLIMIT_CPU, p->cpu_seconds);
    set_limit(RLIMIT_AS, p->memory);
    set_limit(RLIMIT_FSIZE, p->file_bytes);
    set_limit(RLIMIT_CORE, 0);
    execvp(p->argv[0], (char *const *)p->argv);
    _exit(errno == ENOENT ? 126 : 127);
}

int lab_start(const struct lab_process *p, struct err *e)
{
    bury();
    int parent = getpid(), pid = fork();
    if (!pid) become(p, parent);
    if (pid < 0) fail(e, E_MEMORY, "cannot start another process: %s", strerror(errno));
    if (pid > 0) setpgid(pid, pid); /* the child does the same: whichever comes first */
    return pid;
}

/* ---- the end ---- */

/* Processes that were killed, but are not gone yet: the driver of a GPU may need a while to stop a kernel. */
enum { DYING_MAX = 64, DYING_US = 20000 };
static int dying[DYING_MAX];

static void bury(void)
{
    for (int i = 0; i < DYING_MAX; i++)
        if (dying[i] && waitpid(dying[i], NULL, WNOHANG) != 0) dying[i] = 0;
}

static bool is_gone(int pid)
{
    int r = waitpid(pid, NULL, WNOHANG);
    return r == pid || (r < 0 && errno != EINTR);
}

void lab_kill(int pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
    bool gone = false;
    for (double begin = now_us(); !(gone = is_gone(pid)) && now_us() - begin < DYING_US;) usleep(NAP_MIN_US);
    bury();
    for (int i = 0; !gone && i < DYING_MAX; i++)
        if (!dying[i]) dying[i] = pid, gone = true;
}

bool lab_reap(int pid, int *status)
{
    for (int i = 0; i < 1000; i++) {
        int r = waitpid(pid, status, WNOHANG);
        if (r == pid) return true;
        if (r < 0 && errno != EINTR) break;
        usleep(1000);
    }
    return false;
}

/* ---- wait ---- */

bool lab_wait(int pid, const char *what, double seconds, struct watch *w, int *status, bool *late, struct err *e)
{
    double begin = now_us();
    useconds_t nap = NAP_MIN_US;
    *late = false;
    for (;;) {
        int r = waitpid(pid, status, WNOHANG);
        if (r == pid) break;
        if (r < 0 && errno != EINTR) return fail(e, E_INTERNAL, "%s was lost: %s", what, strerror(errno));
        *late = seconds > 0 && now_us() - begin > seconds * 1e6;
        if (*late || !watch_tick(w, what, 0, 0, e)) return lab_kill(pid), false;
        usleep(nap);
        if (nap < NAP_MAX_US) nap *= 2;
    }
    kill(-pid, SIGKILL); /* what the process left behind */
    return true;
}

/* ---- memory ---- */

int lab_memory(const char *what, int64_t bytes, struct err *e)
{
    int fd = memfd_create("warpspy", MFD_CLOEXEC);
    if (fd >= 0 && (!bytes || !ftruncate(fd, bytes))) return fd;
    if (fd >= 0) close(fd);
    fail(e, E_MEMORY, "not enough memory for %s: %s", what, strerror(errno));
    return -1;
}

char *lab_memory_text(int fd, int64_t most, struct err *e)
{
    off_t size = lseek(fd, 0, SEEK_END);
    int64_t n = size < 0 ? 0 : size < most ? size : most;
    char *text = mem_new(n + 1, 1, "the output of a process", e);
    if (!text) return NULL;
    ssize_t got = pread(fd, text, (size_t)n, 0);
    text[got < 0 ? 0 : got] = 0;
    return text;
}

/* ---- programs that print ---- */

char *lab_output(const struct lab_process *p, const char *what, double seconds, int64_t most, struct watch *w,
                 struct err *e)
{
    struct lab_process own = *p;
    int status = 0;
    bool late = false;
    own.out = lab_memory(what, 0, e);
    int pid = own.out >= 0 ? lab_start(&own, e) : -1;
    bool ended = pid > 0 && lab_wait(pid, what, seconds, w, &status, &late, e);
    char *text = ended || late ? lab_memory_text(own.out, most, e) : NULL;
    if (own.out >= 0) close(own.out);
    if (text && !late && WIFEXITED(status) && !WEXITSTATUS(status)) return text;
    if (late) fail(e, E_LIMIT, "%s needs too long", what);
    if (text && !late) fail(e, E_UNSUPPORTED, "%s failed: %.*s", what, (int)strcspn(text, "\n"), text);
    mem_free(text);
    return NULL;
}

/* ---- lines ---- */

/* addr2line prints, for each address, the lines of the calls that were inlined there, innermost first. */
static int find_line(const char *text, const char *file)
{
    size_t n = strlen(file);
    for (const char *at = text; *at;) {
        const char *end = at + strcspn(at, "\n"), *colon = NULL, *slash = at;
        for (const char *p = at; p < end; p++)
            if (*p == ':') colon = p;
        for (const char *p = at; colon && p < colon; p++)
            if (*p == '/') slash = p + 1;
        if (colon && (size_t)(colon - slash) == n && !strncmp(slash, file, n) && atoi(colon + 1) > 0)
            return atoi(colon + 1);
        at = end + (*end == '\n');
    }
    return 0;
}

int lab_line_of(int object, const char *file, const uint64_t *address, int n)
{
    char number[ADDRESSES_MAX][24];
    const char *argv[ADDRESSES_MAX + 8] = {"addr2line", "-i", "-e", "/proc/self/fd/3"};
    int status, line = 0, out = lab_memory("addr2line", 0, NULL);
    bool late;
    for (int i = 0; i < n && i < ADDRESSES_MAX; i++) {
        snprintf(number[i], sizeof number[i], "0x%llx", (unsigned long long)address[i]);
        argv[4 + i] = number[i];
    }
    struct lab_process p = {.argv = argv, .keep = {object}, .nkeep = 1, .out = out, .cpu_seconds = 10};
    int pid = n > 0 && out >= 0 ? lab_start(&p, NULL) : -1;
    if (pid > 0 && lab_wait(pid, "", 10, NULL, &status, &late, NULL)) {
        char *text = lab_memory_text(out, 1 << 16, NULL);
        if (text) line = find_line(text, file);
        mem_free(text);
    }
    if (out >= 0) close(out);
    return line;
}
