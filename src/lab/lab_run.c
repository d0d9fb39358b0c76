/* Runs jobs in processes of their own: lays out the job's memory, reads the replies, and says what went wrong. */
#include "lab_private.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "base/watch.h"
#include "formats/format.h"
#include "machine/mat.h"
#include "matrix/csr.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory that a kernel and the emulator may use besides the matrix. */
static const int64_t MEMORY_MOST = (int64_t)3 << 30;
/* Time for each million slots of the matrix, in addition to LAB_SECONDS; the session waits GRACE longer than the
   process itself, which knows the line. */
static const double SECONDS_PER_MILLION = 20, GRACE = 3;
enum { REPLY_MOST = 256 << 20, POLL_MS = 2 };

static char program[4096];

void lab_set_program(const char *path)
{
    snprintf(program, sizeof program, "%s", path ? path : "");
}

const char *lab_program(void)
{
    return *program ? program : "/proc/self/exe";
}

/* ---- the job's memory ---- */

struct layout {
    int64_t end;
    struct job *job; /* NULL: only find the offsets */
};

/* Room for n bytes, which are copied if the memory is there. */
static int64_t lay(struct layout *l, const void *from, int64_t n)
{
    int64_t at = (l->end + JOB_ALIGN - 1) / JOB_ALIGN * JOB_ALIGN;
    if (!from) return 0;
    l->end = at + n;
    if (l->job) loop_copy((char *)l->job + at, from, n, "the matrix", NULL);
    return at;
}

static double seconds_for(const struct lab_kernel *k, const struct lab_request *r)
{
    if (k->seconds > 0) return k->seconds;
    return LAB_SECONDS + (r->M ? SECONDS_PER_MILLION * 1e-6 * (double)stored_slots(r->M->of) : 0);
}

static void lay_matrix(struct layout *l, struct job *j, const struct lab_request *r)
{
    const struct stored *S = r->M->of;
    int64_t size = (int64_t)type_size(S->real);
    snprintf(j->format, sizeof j->format, "%s", S->format->name);
    j->rows = S->rows, j->cols = S->cols, j->nnz = S->nnz, j->real = S->real, j->narrays = S->narrays;
    memcpy(j->param, S->param, sizeof j->param);
    for (int k = 0; k < S->narrays; k++) {
        const struct array *a = &S->a[k];
        j->a[k] = (struct job_array){.role = a->role, .type = a->type, .n = a->n};
        snprintf(j->a[k].name, sizeof j->a[k].name, "%s", a->name);
        j->a[k].at = lay(l, a->data, a->n * (int64_t)type_size(a->type));
    }
    j->x = lay(l, r->x, S->cols * size);
    j->y = lay(l, r->y, S->rows * size);
}

static void lay_csr(struct layout *l, struct job *j, const struct csr *A)
{
    j->rowptr = lay(l, A->rowptr, (A->rows + 1) * (int64_t)sizeof *A->rowptr);
    j->rowptr64 = lay(l, A->rowptr64, (A->rows + 1) * (int64_t)sizeof *A->rowptr64);
    j->col = lay(l, A->col, A->nnz * (int64_t)sizeof *A->col);
    j->val = lay(l, A->val, A->nnz * (int64_t)sizeof *A->val);
    j->imag = lay(l, A->imag, A->nnz * (int64_t)sizeof *A->imag);
}

static void fill(struct layout *l, struct job *j, const struct lab_kernel *k, const struct lab_request *r)
{
    *j = (struct job){.version = WARPSPY_VERSION,
                      .op = r->op,
                      .alpha = r->alpha,
                      .beta = r->beta,
                      .races = r->races,
                      .reps = r->reps,
                      .launch = r->launch,
                      .warp = r->warp,
                      .block = r->block,
                      .sample = r->sample,
                      .seconds = seconds_for(k, r),
                      .memory = MEMORY_MOST};
    if (r->machine) j->machine = *r->machine;
    source_symbol(&k->source, r->M && r->M->dev->kind == DEV_CUDA, j->symbol, sizeof j->symbol);
    snprintf(j->name, sizeof j->name, "%s", k->name);
    if (r->M) lay_matrix(l, j, r);
    if (r->M) j->memory += 4 * stored_bytes(r->M->of);
    if (r->A) lay_csr(l, j, r->A);
}

/* The memory that holds the job, which the caller unmaps; fd is its file descriptor. */
static struct job *job_new(const struct lab_kernel *k, const struct lab_request *r, int *fd, int64_t *bytes,
                           struct err *e)
{
    struct job draft;
    struct layout l = {.end = sizeof draft};
    fill(&l, &draft, k, r);
    *bytes = l.end + JOB_ALIGN;
    *fd = lab_memory("a kernel's process", *bytes, e);
    if (*fd < 0) return NULL;
    struct job *j = mmap(NULL, (size_t)*bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
    if (j == MAP_FAILED) {
        close(*fd);
        fail(e, E_MEMORY, "not enough memory for a kernel's process");
        return NULL;
    }
    l = (struct layout){.end = sizeof draft, .job = j};
    fill(&l, j, k, r);
    return j;
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
    if (line) snprintf(f->where, sizeof f->where, "%s:%d", k->file, line);
    snprintf(f->thread, sizeof f->thread, "%s", thread);
    snprintf(f->what, sizeof f->what, "%s", what);
    return fail_at(e, E_DEVICE, f->where, "%s: %s%s%s", k->name, f->thread, *f->thread ? ": " : "", f->what);
}

static bool say_fault(struct lab_kernel *k, const struct lab_request *r, const struct reply_fault *f, struct err *e)
{
    char what[300], call[80];
    int line = lab_line_of(k->object, k->file, f->address, f->naddresses);
    if (f->signal == SIGALRM || f->signal == SIGXCPU)
        snprintf(what, sizeof what, "has not ended after %g s: it may loop for ever; `seconds R` gives it longer",
                 seconds_for(k, r));
    else if (f->signal == SIGSYS)
        snprintf(what, sizeof what, "calls %s, which a kernel must not do",
                 call_name(f->system_call, call, sizeof call));
    else
        snprintf(what, sizeof what, "%s",
                 f->overflow ? "overflows its stack of 256 KB: it calls itself too often, or a local array is too large"
                             : signal_what(f->signal));
    return faulty(k, line, f->thread, what, e);
}

/* An error of the process: a finding of the emulator, or another failure. */
static bool say_failed(struct lab_kernel *k, struct reply_failed *f, struct err *e)
{
    const struct emu_finding *at = &f->finding;
    f->err.text[sizeof f->err.text - 1] = f->err.where[sizeof f->err.where - 1] = 0;
    k->fault = (struct lab_fault){0};
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

/* ---- replies ---- */

struct inbox {
    int fd;
    char *bytes;
    int64_t n, room;
    char what[64];
    int64_t done, total;
};

static bool grow(struct inbox *b, struct err *e)
{
    if (b->room - b->n >= 1 << 16) return true;
    if (b->room >= REPLY_MOST) return fail(e, E_LIMIT, "the kernel's process sends too much");
    int64_t room = b->room ? 2 * b->room : 1 << 18;
    char *more = mem_resize(b->bytes, room, 1, "a reply", e);
    if (!more) return false;
    b->bytes = more;
    b->room = room;
    return true;
}

/* Remove reports of progress from the front. Returns the kind of the first other reply if it is complete; 0: none. */
static uint32_t first_reply(struct inbox *b, struct reply *r)
{
    for (;;) {
        if (b->n < (int64_t)sizeof *r) return 0;
        memcpy(r, b->bytes, sizeof *r);
        if (r->kind < REPLY_PROGRESS || r->kind > REPLY_FAULT || r->bytes > REPLY_MOST) return REPLY_FAILED + 100;
        if ((uint64_t)b->n < sizeof *r + r->bytes) return 0;
        if (r->kind != REPLY_PROGRESS) return r->kind;
        struct reply_progress p = {0};
        memcpy(&p, b->bytes + sizeof *r, r->bytes < sizeof p ? r->bytes : sizeof p);
        p.what[sizeof p.what - 1] = 0;
        snprintf(b->what, sizeof b->what, "%s", p.what);
        b->done = p.done, b->total = p.total;
        int64_t used = (int64_t)(sizeof *r + r->bytes);
        memmove(b->bytes, b->bytes + used, (size_t)(b->n - used));
        b->n -= used;
    }
}

enum heard { HEARD_REPLY, HEARD_END, HEARD_LATE, HEARD_CANCEL };

/* Read until there is a reply, or the process has closed its end. */
static enum heard listen_to(struct inbox *b, struct reply *r, double seconds, struct watch *w, struct err *e)
{
    double begin = now_us();
    for (;;) {
        if (first_reply(b, r)) return HEARD_REPLY;
        if (!watch_tick(w, b->what, b->done, b->total, e) || !grow(b, e)) return HEARD_CANCEL;
        if (now_us() - begin > seconds * 1e6) return HEARD_LATE;
        struct pollfd p = {b->fd, POLLIN, 0};
        bool gave = screen_lock_give();
        int ready = poll(&p, 1, POLL_MS);
        screen_lock_back(gave);
        if (ready <= 0) continue;
        ssize_t got = read(b->fd, b->bytes + b->n, (size_t)(b->room - b->n));
        if (got > 0) b->n += got;
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return HEARD_END;
    }
}

/* The process ended without a reply. */
static bool say_end(struct lab_kernel *k, int status, struct err *e)
{
    char what[200];
    if (WIFSIGNALED(status))
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
                   enum heard heard, int pid, struct lab_reply *out, struct err *e)
{
    int status = 0;
    char what[120];
    if (heard == HEARD_END)
        for (int i = 0; i < 1000 && waitpid(pid, &status, WNOHANG) == 0; i++) usleep(1000);
    lab_kill(pid);
    if (heard == HEARD_CANCEL) return false;
    if (heard == HEARD_END) return say_end(k, status, e);
    if (heard == HEARD_LATE) {
        snprintf(what, sizeof what, "has not ended after %g s", seconds_for(k, q));
        return faulty(k, 0, "", what, e);
    }
    const char *body = b->bytes + sizeof *r;
    if (r->kind == REPLY_FAULT && r->bytes == sizeof(struct reply_fault)) {
        struct reply_fault f;
        memcpy(&f, body, sizeof f);
        f.thread[sizeof f.thread - 1] = 0;
        f.naddresses = f.naddresses < 0 || f.naddresses > ADDRESSES_MOST ? 0 : f.naddresses;
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

static bool talk(struct lab_kernel *k, const struct lab_request *q, int job, struct watch *w, struct lab_reply *out,
                 struct err *e)
{
    const char *argv[] = {lab_program(), LAB_ARGUMENT, NULL};
    int ends[2], printed = lab_memory("what a kernel prints", 0, e), pid = -1;
    bool gpu = q->M && q->M->dev->kind == DEV_CUDA, ok = false;
    struct reply r = {0};
    struct inbox b = {0};
    if (printed < 0) return false;
    if (pipe2(ends, O_CLOEXEC)) {
        close(printed);
        return fail(e, E_IO, "cannot make a pipe: %s", strerror(errno));
    }
    struct lab_process p = {.argv = argv, .keep = {job, gpu ? k->gpu : k->object, ends[1]}, .nkeep = 3, .out = printed};
    b.fd = ends[0];
    snprintf(b.what, sizeof b.what, "%s", k->name);
    pid = lab_start(&p, e);
    close(ends[1]);
    if (pid > 0) {
        enum heard heard = listen_to(&b, &r, seconds_for(k, q) + GRACE, w, e);
        ok = settle(k, q, &b, &r, heard, pid, out, e);
        keep_printed(k, printed);
    }
    close(ends[0]);
    close(printed);
    mem_free(b.bytes);
    return ok;
}

bool lab_run(struct lab_kernel *k, const struct lab_request *q, struct watch *w, struct lab_reply *out, struct err *e)
{
    int64_t bytes;
    int fd;
    *out = (struct lab_reply){0};
    k->fault = (struct lab_fault){0};
    struct job *j = job_new(k, q, &fd, &bytes, e);
    if (!j) return false;
    j->on_gpu = q->M && q->M->dev->kind == DEV_CUDA;
    struct err why = {0};
    bool ok = talk(k, q, fd, w, out, &why);
    if (ok && q->y) memcpy(q->y, (char *)j + j->y, (size_t)q->M->of->rows * type_size(q->M->of->real));
    munmap(j, (size_t)bytes);
    close(fd);
    if (!ok && e && !e->code) *e = why;
    return ok;
}
