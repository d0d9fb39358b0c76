/* Matrices that a library reads in a child process, because such libraries crash on some damaged files, print to the
   terminal, cannot be cancelled, and allocate as much memory as a file requests. The child process sends the matrix to
   the program through a pipe. */
#include "matrix_library.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/watch.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "sides.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 10, SEND = 1 << 13 };

/* ---- the child process ---- */

bool child_send(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t r = write(fd, p, n);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return false;
        p += r;
        n -= (size_t)r;
    }
    return true;
}

_Noreturn void child_give_up(int fd, enum code code, const char *text)
{
    struct child_matrix m = {.code = (int32_t)code};
    snprintf(m.names.all, sizeof m.names.all, "%s", text);
    child_send(fd, &m, sizeof m);
    _exit(1);
}

bool child_send_numbers(int fd, const char *p, int64_t n, file_number *number, size_t bytes)
{
    double out[SEND];
    for (int64_t k = 0; k < n;) {
        int64_t m = n - k < SEND ? n - k : SEND;
        for (int64_t i = 0; i < m; i++) out[i] = number(p + (size_t)(k + i) * bytes);
        if (!child_send(fd, out, (size_t)m * sizeof *out)) return false;
        k += m;
    }
    return true;
}

_Noreturn void child_give_up_choice(int fd, const struct variable_names *names)
{
    struct child_matrix m = {.code = E_USAGE, .names = *names};
    child_send(fd, &m, sizeof m);
    _exit(1);
}

/* Limit the child to the memory that is available now, so that only the child fails if it needs more. */
static void limit_memory(void)
{
    long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    bool ok = f && fscanf(f, "%*s %*s %*s %*s %*s %lld", &pages) == 1;
    if (f) fclose(f);
    struct rlimit limit = {.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)mem_available()};
    limit.rlim_max = limit.rlim_cur;
    if (ok) setrlimit(RLIMIT_DATA, &limit);
}

/* ---- the parent process ---- */

struct receiver {
    const struct matrix_library *lib;
    struct source *s;
    struct watch *watch;
    int fd;
    int64_t done;  /* number of bytes received so far */
    int64_t total; /* total number of bytes, or 0 until it is known */
};

/* Receive exactly n bytes. Waits in short steps so that the user can cancel. */
static bool receive(struct receiver *r, void *to, int64_t n, struct err *e)
{
    for (int64_t got = 0; got < n;) {
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        if (!watch_tick(r->watch, "reading", r->total ? r->done : 0, r->total, e)) return false;
        if (poll(&p, 1, WAIT_MS) <= 0) continue;
        int64_t most = n - got < 1 << 20 ? n - got : 1 << 20;
        ssize_t k = read(r->fd, (char *)to + got, (size_t)most);
        if (k < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (k <= 0) return file_bad(r->s, e, "%s cannot read the file; it is corrupt", r->lib->name);
        got += k;
        r->done += k;
    }
    return true;
}

static bool refuse(const struct receiver *r, const struct child_matrix *m, struct err *e)
{
    char text[NAMES_ROOM * 2];
    if (m->code == E_USAGE) return variable_missing(r->s, &m->names, r->lib->noun, e);
    print_safe(m->names.all, strlen(m->names.all), 300, text, sizeof text);
    if (m->code == E_UNSUPPORTED) return fail_at(e, E_UNSUPPORTED, r->s->where, "%s", text);
    return file_bad(r->s, e, "%s", text);
}

static bool receive_arrays(struct receiver *r, const struct child_matrix *m, struct csr *C, struct err *e)
{
    int64_t majors = m->by_rows ? m->rows : m->cols, minors = m->by_rows ? m->cols : m->rows;
    if (!file_sizes(r->s, m->rows, m->cols, m->nnz, e) || !csr_new(C, majors, minors, m->nnz, m->complex_values, e))
        return false;
    r->done = 0;
    r->total = (majors + 1) * 4 + m->nnz * (m->complex_values ? 20 : 12);
    return receive(r, C->rowptr, (majors + 1) * 4, e) && receive(r, C->col, m->nnz * 4, e) &&
           receive(r, C->val, m->nnz * 8, e) && (!C->imag || receive(r, C->imag, m->nnz * 8, e));
}

static bool receive_side(struct receiver *r, const struct child_matrix *m, int i, struct dense_array *d, struct err *e)
{
    int64_t rows = m->side[i].rows, cols = m->side[i].cols, n = rows * cols;
    if (!rows) return true;
    if (!dense_array_new(d, rows, cols, m->side[i].complex_values, e)) return false;
    r->done = 0;
    r->total = n * (d->imag ? 16 : 8);
    return receive(r, d->val, n * 8, e) && (!d->imag || receive(r, d->imag, n * 8, e));
}

/* A sparse array of right sides may be too large to be stored densely. */
static bool has_memory(const struct child_matrix *m, struct load_info *info)
{
    double need = 0;
    for (int i = 0; i < SIDES; i++)
        need += (double)m->side[i].rows * (double)m->side[i].cols * (m->side[i].complex_values ? 32 : 16);
    if (need < (double)mem_available()) return true;
    file_note(info, "b is %lld x %lld, too large for the memory: b was left out", (long long)m->side[SIDE_B].rows,
              (long long)m->side[SIDE_B].cols);
    return false;
}

static bool read_sides(struct receiver *r, const struct child_matrix *m, const struct csr *A, struct load_info *info,
                       struct err *e)
{
    struct dense_array side[SIDES] = {{0}};
    bool ok = !has_memory(m, info) ||
              (receive_side(r, m, SIDE_B, &side[SIDE_B], e) && receive_side(r, m, SIDE_X, &side[SIDE_X], e) &&
               sides_fill(r->s->sides, A, &side[SIDE_B], &side[SIDE_X], info, e));
    for (int i = 0; i < SIDES; i++) dense_array_free(&side[i]);
    return ok;
}

static bool read_pipe(struct receiver *r, struct csr *A, struct load_info *info, struct err *e)
{
    struct child_matrix m;
    struct csr C = {0};
    if (!receive(r, &m, sizeof m, e)) return false;
    m.names.all[sizeof m.names.all - 1] = m.names.name[sizeof m.names.name - 1] = 0;
    if (m.code) return refuse(r, &m, e);
    if (!receive_arrays(r, &m, &C, e)) {
        csr_free(&C);
        return false;
    }
    variable_note(&m.names, r->s->part, r->lib->noun, m.names_one, info);
    if (m.wide_integers) variable_note_rounded(C.nnz, C.val, info);
    snprintf(info->field, sizeof info->field, "%s", m.logical ? "pattern" : m.complex_values ? "complex" : "real");
    if (!file_finish(r->s, &C, !m.by_rows, MIRROR_NOT, r->watch, A, info, e)) return false;
    if (read_sides(r, &m, A, info, e)) return true;
    csr_free(A);
    return false;
}

/* The child prints nothing, leaves Ctrl-C to the parent, and a crash leaves no core file. */
static void detach(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    const struct rlimit none = {0, 0};
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; null >= 0 && i < 3; i++) dup2(null, i);
    signal(SIGINT, SIG_IGN);
    for (int i = 0; i < COUNT(crashes); i++) signal(crashes[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &none);
    limit_memory();
}

bool matrix_library_load(const struct matrix_library *lib, struct source *s, struct watch *w, struct csr *A,
                         struct load_info *info, struct err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return fail_at(e, E_IO, s->where, "cannot create a pipe to %s: %s", lib->name, strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        detach();
        lib->child(ends[1], s->path, s->part);
        _exit(1);
    }
    close(ends[1]);
    struct receiver r = {.lib = lib, .s = s, .watch = w, .fd = ends[0]};
    bool ok = pid > 0 ? read_pipe(&r, A, info, e)
                      : fail_at(e, E_IO, s->where, "cannot start a process for %s: %s", lib->name, strerror(errno));
    close(ends[0]);
    if (pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    return ok;
}
