/* Runs jobs in processes of their own: starts them, reads the replies, and says what went wrong. */
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/watch.h"
#include "lab_private.h"
#include "machine/mat.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Time for each million slots of the matrix, in addition to LAB_SECONDS; time to start a GPU and to copy the matrix to
   it; time for a process whose time is over to say at which line it is; and time before its progress is shown. */
static const double SECONDS_PER_MILLION = 20, GPU_SECONDS = 30, GRACE = 3, SHOWN_AFTER = 0.3;
enum { REPLY_MAX = 256 << 20, POLL_MS = 2 };

static char program[4096];

void lab_set_program(const char *path)
{
    snprintf(program, sizeof program, "%s", path ? path : "");
}

const char *lab_program(void)
{
    return *program ? program : "/proc/self/exe";
}

static double seconds_for(const struct lab_kernel *k, const struct lab_request *r)
{
    if (k->seconds > 0) return k->seconds;
    return LAB_SECONDS + (r->M ? SECONDS_PER_MILLION * 1e-6 * (double)stored_slots(r->M->of) : 0);
}

/* ---- faults ---- */

struct signal_text {
    int signal;
    const char *what;
};
static const struct signal_text signals[] = {
    {SIGSEGV, "uses an address that is not its own (a wild pointer)"},
    {SIGBUS, "uses an address that is not its own (a wild pointer)"},
    {SIGFPE, "divides an integer by zero"},
    {SIGILL, "uses an index outside a local array, or reaches code that must not be reached"},
    {SIGTRAP, "reaches a trap"},
    {SIGABRT, "calls abort, or an assertion failed"},
    {SIGNAL_EXIT, "calls exit"},
    {SIGKILL, "was killed: it may have used too much memory"},
};

static const char *signal_what(int signal)
{
    for (int i = 0; i < COUNT(signals); i++)
        if (signals[i].signal == signal) return signals[i].what;
    return "ended by a signal";
}

static const struct {
    long number;
    const char *name;
} calls[] = {
#ifdef SYS_fork
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_open, "open, to write to a file"},
    {SYS_unlink, "unlink"},
    {SYS_rename, "rename"},
    {SYS_mkdir, "mkdir"},
    {SYS_rmdir, "rmdir"},
#endif
    {SYS_clone, "fork or a new thread"},
    {SYS_clone3, "fork or a new thread"},
    {SYS_execve, "execve"},
    {SYS_kill, "kill"},
    {SYS_tgkill, "kill"},
    {SYS_openat, "open, to write to a file"},
    {SYS_unlinkat, "unlink"},
    {SYS_mkdirat, "mkdir"},
    {SYS_socket, "socket"},
    {SYS_ptrace, "ptrace"},
    {SYS_ftruncate, "ftruncate"},
    {SYS_setitimer, "setitimer"},
    {SYS_prlimit64, "setrlimit"}};

static const char *call_name(int number, char *out, size_t size)
{
    for (int i = 0; i < COUNT(calls); i++)
        if (calls[i].number == number) return calls[i].name;
    snprintf(out, size, "system call %d", number);
    return out;
}

/* Record the fault by its parts and as an error. */
static bool faulty(struct lab_kernel *k, int line, const char *thread, const char *what, struct err *e)
{
    struct lab_fault *f = &k->fault;
    *f = (struct lab_fault){.line = line};
    snprintf(f->where, sizeof f->where, line ? "%s:%d" : "%s", k->file, line);
    snprintf(f->thread, sizeof f->thread, "%s", thread);
    snprintf(f->what, sizeof f->what, "%s", what);
    return fail_at(e, E_DEVICE, f->where, "%s: %s%s%s", k->name, f->thread, *f->thread ? ": " : "", f->what);
}

static void say_late(char *out, size_t size, double seconds)
{
    snprintf(out, size, "has not ended after %g s: it may loop for ever; `seconds R` gives it longer", seconds);
}

static bool say_fault(struct lab_kernel *k, const struct lab_request *r, const struct reply_fault *f, struct err *e)
{
    char what[300], call[80];
    int line = lab_line_of(k->object, k->file, f->address, f->naddresses);
    if (f->signal == SIGALRM || f->signal == SIGXCPU)
        say_late(what, sizeof what, seconds_for(k, r));
    else if (f->signal == SIGSYS)
        snprintf(what, sizeof what, "calls %s, which a kernel must not do",
                 call_name(f->system_call, call, sizeof call));
    else
        snprintf(what, sizeof what, "%s",
                 f->overflow ? "overflows its stack of 256 KB: it calls itself too often, or a local array is too large"
                             : signal_what(f->signal));
    return faulty(k, line, f->thread, what, e);
}

/* Does the message begin with the name of the kernel, which would also be the place that it names? */
static bool names_twice(const char *name, const struct err *e)
{
    size_t n = strlen(name);
    return !strcmp(e->where, name) && !strncmp(e->text, name, n) && e->text[n] == ':';
}

/* An error of the process: a finding of the emulator, or another failure. */
static bool say_failed(struct lab_kernel *k, struct reply_failed *f, struct err *e)
{
    const struct emu_finding *at = &f->finding;
    f->err.text[sizeof f->err.text - 1] = f->err.where[sizeof f->err.where - 1] = 0;
    k->fault = (struct lab_fault){0};
    if (names_twice(k->name, &f->err)) *f->err.where = 0;
    /* advice on the GPU is for the device of that process, not for the one of the session */
    if (f->err.code == E_DEVICE && f->err.advice)
        err_advise(&f->err, "`try %s` may show the line, on the emulator", k->file);
    snprintf(k->fault.where, sizeof k->fault.where, "%.*s", (int)sizeof k->fault.where - 1, f->err.where);
    const char *colon = strrchr(k->fault.where, ':');
    bool own = colon && (size_t)(colon - k->fault.where) == strlen(k->file) &&
               !strncmp(k->fault.where, k->file, strlen(k->file));
    if (at->line) {
        snprintf(k->fault.thread, sizeof k->fault.thread, "%s", at->thread);
        /* the text of at->missing belongs to the other process, but the message ends with it */
        const char *missing = at->missing ? strstr(f->err.text, ", with ") : NULL;
        snprintf(k->fault.what, sizeof k->fault.what, "%.300s%.90s", at->what, missing ? missing : "");
        if (own) k->fault.line = at->line;
    } else
        snprintf(k->fault.what, sizeof k->fault.what, "%.390s", f->err.text);
    *e = f->err;
    return false;
}

/* ---- the process ---- */

/* A process with a kernel. After a launch, it waits for another one with the same matrix, as a solver launches the same
   product again and again; a process that waits too long ends by itself. */
static struct lab_worker {
    int pid; /* 0: there is none */
    const struct lab_kernel *of;
    struct job *job;
    int64_t bytes;
    int memory, replies, ask, printed; /* file descriptors: the job, what it sends, what starts another launch */
    bool gpu;                          /* it runs the kernel on a GPU */
    bool warned;                       /* it was told that its time is over */
} worker;

static void close_all(const struct lab_worker *p)
{
    const int fd[] = {p->memory, p->replies, p->ask, p->printed};
    for (int i = 0; i < COUNT(fd); i++)
        if (fd[i] >= 0) close(fd[i]);
}

void lab_rest(void)
{
    if (worker.pid > 0) lab_kill(worker.pid);
    if (worker.job) munmap(worker.job, (size_t)worker.bytes);
    if (worker.job) close_all(&worker);
    worker = (struct lab_worker){0};
}

static bool start_process(struct lab_worker *p, const struct lab_kernel *k, struct err *e)
{
    const char *argv[] = {lab_program(), LAB_ARGUMENT, NULL};
    int replies[2], ask[2];
    if (pipe2(replies, O_CLOEXEC)) return fail(e, E_IO, "cannot make a pipe: %s", strerror(errno));
    p->replies = replies[0];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ask)) {
        close(replies[1]);
        return fail(e, E_IO, "cannot make a socket: %s", strerror(errno));
    }
    p->ask = ask[0];
    struct lab_process start = {.argv = argv,
                                .keep = {p->memory, p->gpu ? k->gpu : k->object, replies[1], ask[1]},
                                .nkeep = 4,
                                .out = p->printed};
    p->pid = lab_start(&start, e);
    close(replies[1]);
    close(ask[1]);
    return p->pid > 0;
}

static bool begin(struct lab_kernel *k, const struct lab_request *q, struct err *e)
{
    struct lab_worker *p = &worker;
    lab_rest();
    *p = (struct lab_worker){.of = k, .replies = -1, .ask = -1, .printed = -1};
    p->job = lab_job_new(k, q, &p->memory, &p->bytes, e);
    if (!p->job) return false;
    p->gpu = p->job->on_gpu;
    p->printed = lab_memory("what a kernel prints", 0, e);
    if (p->printed >= 0 && start_process(p, k, e)) return true;
    if (p->pid < 0) p->pid = 0;
    lab_rest();
    return false;
}

/* Ask the process that has launched k for another launch. false: there is no such process. */
static bool ask_again(const struct lab_kernel *k, const struct lab_request *q, struct err *e)
{
    if (!worker.pid || worker.of != k || !lab_job_same(worker.job, q)) return false;
    return lab_job_again(worker.job, q, e) && send(worker.ask, "", 1, MSG_NOSIGNAL) == 1;
}

/* ---- replies ---- */

struct inbox {
    char *bytes;
    int64_t n, room;
    char what[64];
    int64_t done, total;
    bool ready; /* the matrix is on the device */
};

static bool grow(struct inbox *b, struct err *e)
{
    if (b->room - b->n >= 1 << 16) return true;
    if (b->room >= REPLY_MAX) return fail(e, E_LIMIT, "the kernel's process sends too much");
    int64_t room = b->room ? 2 * b->room : 1 << 18;
    char *more = mem_resize(b->bytes, room, 1, "a reply", e);
    if (!more) return false;
    b->bytes = more;
    b->room = room;
    return true;
}

static void take_progress(struct inbox *b, const struct reply *r)
{
    struct reply_progress p = {0};
    memcpy(&p, b->bytes + sizeof *r, r->bytes < sizeof p ? r->bytes : sizeof p);
    p.what[sizeof p.what - 1] = 0;
    snprintf(b->what, sizeof b->what, "%s", p.what);
    b->done = p.done, b->total = p.total;
}

/* Remove reports of progress from the front. Returns the kind of the first other reply if it is complete; 0: none. */
static uint32_t first_reply(struct inbox *b, struct reply *r)
{
    for (;;) {
        if (b->n < (int64_t)sizeof *r) return 0;
        memcpy(r, b->bytes, sizeof *r);
        if (r->kind < REPLY_READY || r->kind > REPLY_FAULT || r->bytes > REPLY_MAX) return REPLY_FAILED + 100;
        if ((uint64_t)b->n < sizeof *r + r->bytes) return 0;
        if (r->kind != REPLY_PROGRESS && r->kind != REPLY_READY) return r->kind;
        if (r->kind == REPLY_READY)
            b->ready = true;
        else
            take_progress(b, r);
        int64_t used = (int64_t)(sizeof *r + r->bytes);
        memmove(b->bytes, b->bytes + used, (size_t)(b->n - used));
        b->n -= used;
    }
}

static bool read_some(struct inbox *b, int fd)
{
    struct pollfd p = {fd, POLLIN, 0};
    int ready = poll(&p, 1, POLL_MS);
    if (ready <= 0) return true;
    ssize_t got = read(fd, b->bytes + b->n, (size_t)(b->room - b->n));
    if (got > 0) b->n += got;
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

enum heard { HEARD_REPLY, HEARD_END, HEARD_LATE, HEARD_CANCEL };

/* Read until there is a reply, or the process has closed its end. The time counts from the moment at which the matrix
   is on the device; a process whose time is over first gets a signal, so that it can say where the kernel is. */
static enum heard listen_to(struct inbox *b, struct reply *r, double seconds, bool gpu, struct watch *w, struct err *e)
{
    double begin = now_us(), limit = seconds + (gpu ? GPU_SECONDS : 0);
    bool was_ready = false;
    for (;;) {
        if (first_reply(b, r)) return HEARD_REPLY;
        if (b->ready && !was_ready) begin = now_us(), limit = seconds, was_ready = true;
        double passed = (now_us() - begin) / 1e6;
        bool shown = passed > SHOWN_AFTER;
        if (!watch_tick(w, shown ? b->what : "", b->done, b->total, e) || !grow(b, e)) return HEARD_CANCEL;
        if (passed > limit + GRACE) return HEARD_LATE;
        if (passed > limit && !worker.warned) worker.warned = !kill(worker.pid, SIGALRM);
        if (!read_some(b, worker.replies)) return HEARD_END;
    }
}

/* The process ended without a reply. */
static bool say_end(struct lab_kernel *k, const struct lab_request *q, int status, struct err *e)
{
    char what[200];
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        say_late(what, sizeof what, seconds_for(k, q));
    else if (WIFSIGNALED(status))
        snprintf(what, sizeof what, "%s", signal_what(WTERMSIG(status)));
    else if (WEXITSTATUS(status) >= 126)
        return fail(e, E_INTERNAL, "cannot start %s to run %s", lab_program(), k->name);
    else
        snprintf(what, sizeof what, "ended its process with status %d", WEXITSTATUS(status));
    return faulty(k, 0, "", what, e);
}

static void keep_printed(struct lab_kernel *k, int out)
{
    char *text = lab_memory_text(out, sizeof k->printed / 4, NULL);
    *k->printed = 0;
    if (text) print_lines(text, k->printed, sizeof k->printed);
    mem_free(text);
}

/* Take the reply of a process that has one, or say why it has none. */
static bool settle(struct lab_kernel *k, const struct lab_request *q, struct inbox *b, const struct reply *r,
                   enum heard heard, struct lab_reply *out, struct err *e)
{
    int status = 0;
    char what[120];
    if (heard == HEARD_CANCEL) return false;
    if (heard == HEARD_END) {
        if (lab_reap(worker.pid, &status)) worker.pid = 0;
        return say_end(k, q, status, e);
    }
    if (heard == HEARD_LATE) {
        say_late(what, sizeof what, seconds_for(k, q));
        return faulty(k, 0, "", what, e);
    }
    const char *body = b->bytes + sizeof *r;
    if (r->kind == REPLY_FAULT && r->bytes == sizeof(struct reply_fault)) {
        struct reply_fault f;
        memcpy(&f, body, sizeof f);
        f.thread[sizeof f.thread - 1] = 0;
        f.naddresses = f.naddresses < 0 || f.naddresses > ADDRESSES_MAX ? 0 : f.naddresses;
        return say_fault(k, q, &f, e);
    }
    if (r->kind == REPLY_FAILED && r->bytes == sizeof(struct reply_failed)) {
        struct reply_failed f;
        memcpy(&f, body, sizeof f);
        return say_failed(k, &f, e);
    }
    if (r->kind != REPLY_DONE) return faulty(k, 0, "", "writes to a file that is not its own", e);
    out->n = r->bytes;
    out->bytes = mem_new((int64_t)r->bytes + 1, 1, "a reply", e);
    if (out->bytes) memcpy(out->bytes, body, r->bytes);
    return out->bytes != NULL;
}

/* ---- a job ---- */

static enum heard hear(struct inbox *b, struct reply *r, const struct lab_kernel *k, const struct lab_request *q,
                       bool again, struct watch *w, struct err *e)
{
    b->n = b->done = b->total = 0;
    b->ready = again;
    snprintf(b->what, sizeof b->what, "%s", k->name);
    return listen_to(b, r, seconds_for(k, q), worker.gpu && !again, w, e);
}

static bool run(struct lab_kernel *k, const struct lab_request *q, struct watch *w, struct lab_reply *out,
                struct err *e)
{
    struct reply r = {0};
    struct inbox b = {0};
    enum heard heard = HEARD_END;
    bool again = ask_again(k, q, e);
    if (e->code) return lab_rest(), false;
    if (again) heard = hear(&b, &r, k, q, true, w, e);
    if (heard == HEARD_END) { /* a process that waited may have ended */
        if (!begin(k, q, e)) return mem_free(b.bytes), false;
        heard = hear(&b, &r, k, q, false, w, e);
    }
    bool ok = settle(k, q, &b, &r, heard, out, e);
    keep_printed(k, worker.printed);
    mem_free(b.bytes);
    if (ok && q->y)
        memcpy(q->y, (char *)worker.job + worker.job->y,
               (size_t)q->M->of->rows * type_size(precisions[q->M->of->real].vector));
    if (!ok || q->op != OP_LAUNCH || worker.warned) lab_rest();
    return ok;
}

bool lab_run(struct lab_kernel *k, const struct lab_request *q, struct watch *w, struct lab_reply *out, struct err *e)
{
    struct err why = {0};
    *out = (struct lab_reply){0};
    k->fault = (struct lab_fault){0};
    bool ok = run(k, q, w, out, &why);
    if (!ok && e && !e->code) *e = why;
    return ok;
}
