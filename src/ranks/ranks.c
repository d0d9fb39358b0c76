/* Start and end the ranks; the matrix, products and the log. */
#include "base/clock.h"
#include "base/detached.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/watch.h"
#include "base/words.h"
#include "base/xdg.h"
#include "matrix/csr.h"
#include "protocol.h"
#include "ranks_private.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64, QUIT_US = 2000000, BUSY_QUIT_US = 300000 };

/* ---- the folder and the program ---- */

/* A folder that all machines should see: in the user's cache. The host is part of its name, because machines may share
   the cache. */
static bool make_folder(struct ranks *r, struct err *e)
{
    static int made;
    char host[64] = "host", file[160], path[PATH_MAX], where[256];
    gethostname(host, sizeof host - 1);
    for (char *p = host; *p; p++) *p = *p == '/' ? '-' : *p;
    snprintf(file, sizeof file, "warpspy/ranks-%s-%d-%d/%s", host, (int)getpid(), ++made, RANKS_MATRIX);
    if (!xdg_path("XDG_CACHE_HOME", ".cache", file, path, sizeof path) || strlen(path) >= sizeof r->folder)
        return fail(e, E_IO, "there is no folder for the files of the ranks: set HOME or XDG_CACHE_HOME");
    bool ok = xdg_make_folders(path);
    int why = errno;
    *strrchr(path, '/') = 0;
    strcpy(r->folder, path);
    print_safe(path, strlen(path), 200, where, sizeof where);
    return ok || fail_at(e, E_IO, where, "cannot create this folder for the files of the ranks: %s", strerror(why));
}

/* warpspy-ranks lies beside warpspy, or in PATH. */
static bool find_program(char *out, size_t size, struct err *e)
{
    static const char name[] = "warpspy-ranks";
    char own[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    own[n > 0 ? n : 0] = 0;
    char *slash = strrchr(own, '/');
    if (slash && snprintf(out, size, "%.*s/%s", (int)(slash - own), own, name) < (int)size && !access(out, X_OK))
        return true;
    const char *path = getenv("PATH");
    for (size_t k; path && *path; path += k + (path[k] == ':')) {
        k = strcspn(path, ":");
        if (k && snprintf(out, size, "%.*s/%s", (int)k, path, name) < (int)size && !access(out, X_OK)) return true;
    }
    return fail(e, E_UNSUPPORTED,
                "warpspy-ranks, which works with PETSc, was not built; install PETSc and MPI (Debian: "
                "libpetsc-real-dev) and run `make ranks` in the source folder of warpspy");
}

/* ---- starting ---- */

/* Does the launcher say how many processes it starts? */
static bool says_number(char *const *argv)
{
    static const char *const words[] = {"-n", "-np", "-c", "--np", "--n", "--ntasks", "-N"};
    for (int i = 1; argv[i]; i++) {
        if (!strncmp(argv[i], "--ntasks", 8)) return true;
        for (int k = 0; k < COUNT(words); k++)
            if (!strcmp(argv[i], words[k])) return true;
    }
    return false;
}

/* LAUNCHER -n N warpspy-ranks FOLDER. w owns the words of the launcher; argv has room for ARGUMENTS_MAX words. */
static bool command_of(const struct ranks *r, int n, struct words *w, char *program, char *number, char **argv,
                       struct err *e)
{
    const char *line = r->launcher;
    if (!words_split(w, &line, e)) return false;
    if (!w->n || w->pipe || w->more || *line || w->n > ARGUMENTS_MAX - 5)
        return fail(e, E_USAGE,
                    "the launcher is not a command: set it to a program and its options, for example "
                    "`set launcher \"mpiexec --oversubscribe\"`");
    int k = 0;
    for (int i = 0; i < w->n; i++) argv[k++] = w->w[i].text;
    argv[k] = NULL;
    if (says_number(argv) && n)
        return fail(e, E_USAGE,
                    "the launcher states the number of ranks: use `ranks start` without a number, or set a launcher "
                    "without one");
    if (!says_number(argv) && !n)
        return fail(e, E_USAGE,
                    "how many ranks? for example `ranks 4`; if the launcher states the number, as \"srun -n 64\" does, "
                    "use `ranks start`");
    if (n) argv[k++] = "-n", argv[k++] = number;
    argv[k++] = program;
    argv[k++] = (char *)r->folder;
    argv[k] = NULL;
    return true;
}

static bool launch(struct ranks *r, int n, struct err *e)
{
    struct words w = {0};
    char program[PATH_MAX], number[16], *argv[ARGUMENTS_MAX];
    bool missing = false;
    snprintf(number, sizeof number, "%d", n);
    bool ok = find_program(program, sizeof program, e) && command_of(r, n, &w, program, number, argv, e);
    ok = ok && coprocess_start(&r->program, argv, &missing, e);
    if (missing)
        err_advise(e, "install an MPI (Debian: openmpi-bin), or name what starts programs here: `set launcher "
                      "\"srun\"`");
    return ok;
}

/* One of the `rank` answers of the greeting. */
static bool take_rank(struct ranks *r, const cJSON *a, int i, struct err *e)
{
    if (reply_number(a, "rank") != i) return fail(e, E_DEVICE, "the ranks did not answer in their order");
    struct rank *more = mem_resize(r->rank, i + 1, sizeof *more, "the ranks", e);
    if (!more) return false;
    r->rank = more;
    r->rank[i] = (struct rank){.pid = (int64_t)reply_number(a, "pid")};
    print_safe(reply_text(a, "host"), strlen(reply_text(a, "host")), 60, r->rank[i].host, sizeof r->rank[i].host);
    return true;
}

static bool take_hello(struct ranks *r, const cJSON *a, int ranks, struct err *e)
{
    int protocol = (int)reply_number(a, "protocol");
    if (protocol != RANKS_PROTOCOL)
        return fail(e, E_UNSUPPORTED,
                    "warpspy-ranks is of another version: it speaks version %d of the protocol, and this warpspy "
                    "version %d; build both from the same sources: `make ranks`",
                    protocol, RANKS_PROTOCOL);
    if (reply_number(a, "scalar_bytes") != 8)
        return fail(e, E_UNSUPPORTED,
                    "this PETSc computes with complex numbers or in another precision; warpspy-ranks "
                    "needs a PETSc of real double precision");
    if (ranks < 1 || (int)reply_number(a, "ranks") != ranks)
        return fail(e, E_DEVICE, "%d of %.0f ranks have answered", ranks, reply_number(a, "ranks"));
    r->n = ranks;
    r->index_bytes = (int)reply_number(a, "index_bytes");
    print_safe(reply_text(a, "petsc"), strlen(reply_text(a, "petsc")), 30, r->petsc, sizeof r->petsc);
    return true;
}

/* What the launcher printed instead of a greeting, for a message. */
static const char *printed(const struct ranks *r, char *out, size_t size)
{
    char safe[160];
    const char *from = r->nprints ? r->prints : r->program.said;
    snprintf(out, size, "%s", "nothing was printed");
    if (*from) snprintf(out, size, "it printed \"%s\"", print_safe(from, strcspn(from, "\n"), 120, safe, sizeof safe));
    return out;
}

/* Wait for the greeting. */
static bool meet(struct ranks *r, double wait_s, struct watch *w, struct err *e)
{
    int ranks = 0;
    char text[240];
    double start = steady_us();
    for (bool met = false; !met;) {
        struct err why = {0};
        if (!watch_tick(w, "starting the ranks", 0, 0, e)) return false;
        cJSON *a = ranks_next(r, 1500, &why);
        if (why.code) return fail_at(e, why.code, why.where, "%s", why.text);
        bool ok = true;
        if (a && reply_is(a, "rank")) ok = take_rank(r, a, ranks++, e);
        if (a && reply_is(a, "hello")) ok = met = take_hello(r, a, ranks, e);
        cJSON_Delete(a);
        if (!ok) return false;
        if (!met && steady_us() - start > 1e6 * wait_s)
            return fail(e, E_DEVICE,
                        "no rank has answered within %g s, and %s; check `set launcher`, or give a longer time: "
                        "`ranks %s wait %g`",
                        wait_s, printed(r, text, sizeof text), "N", 10 * wait_s);
    }
    prints_forget(r);
    return true;
}

static void forget_parts(struct ranks *r)
{
    for (int i = 0; i < r->n; i++) {
        mem_free(r->rank[i].from);
        r->rank[i].from = NULL;
        r->rank[i].nfrom = 0;
    }
    r->loaded = 0;
}

/* End the processes within `us` microseconds, or by force. */
static void end(struct ranks *r, double us)
{
    coprocess_end(&r->program, us);
    if (r->folder[0]) petsc_remove_files(r);
    forget_parts(r);
    mem_free(r->rank);
    mem_free(r);
}

static void *end_apart(void *r)
{
    end(r, 0);
    return NULL;
}

/* A launcher may be slow to end, and the user has pressed Ctrl-C, or waits for the message. */
static void give_up(struct ranks *r)
{
    if (r->folder[0]) petsc_remove_files(r);
    r->folder[0] = 0;
    if (r->program.pid) kill(-r->program.pid, SIGTERM);
    if (!r->program.pid || !detached_start(end_apart, r)) end(r, 0);
}

bool ranks_start(struct ranks **out, const char *launcher, int n, double wait_s, struct watch *w, struct err *e)
{
    struct ranks *r = mem_zero(1, sizeof *r, "the ranks", e);
    if (!r) return false;
    snprintf(r->launcher, sizeof r->launcher, "%s", launcher);
    bool ok = make_folder(r, e) && launch(r, n, e) && meet(r, wait_s, w, e);
    if (ok)
        *out = r;
    else
        give_up(r);
    return ok;
}

/* Ranks that are busy notice the end of their input, and stop. */
void ranks_end(struct ranks *r)
{
    if (!r) return;
    if (r->program.pid && !r->busy) coprocess_send(&r->program, "quit\n");
    end(r, r->busy ? BUSY_QUIT_US : QUIT_US);
}

/* ---- after a command that was cancelled ---- */

bool ranks_ready(struct ranks *r, struct watch *w, struct err *e)
{
    if (r->dead) return fail(e, E_DEVICE, "the ranks have ended; `ranks` starts them again");
    while (r->busy) {
        cJSON *a = ranks_wait(r, "the command before, which the ranks have not finished; `ranks off` ends them", w, e);
        if (!a) return false;
        r->busy = !reply_is_last(a);
        cJSON_Delete(a);
    }
    return true;
}

/* Begin a command: its answers follow. */
static bool ask(struct ranks *r, const char *line, struct watch *w, struct err *e)
{
    if (!ranks_ready(r, w, e)) return false;
    prints_forget(r);
    return ranks_send(r, line, e);
}

/* ---- the matrix ---- */

bool ranks_take(const struct csr *A, struct err *e)
{
    if (A->imag) return fail(e, E_UNSUPPORTED, "the ranks compute with real numbers, but this matrix is complex");
    if (A->rows < 1 || A->cols < 1) return fail(e, E_UNSUPPORTED, "this matrix is empty");
    return true;
}

/* PETSc with 32-bit integers counts the nonzeros of a rank in 32 bits, and those of a file, too. */
static bool fits(const struct ranks *r, const struct csr *A, struct err *e)
{
    if (r->index_bytes == 8 || (A->nnz <= INT_MAX && A->rows <= INT_MAX)) return true;
    return fail(e, E_LIMIT,
                "this PETSc has integers of 32 bits, and the matrix has more than 2,147,483,647 nonzeros or "
                "rows; a PETSc with 64-bit indices takes it");
}

static bool take_part(struct ranks *r, const cJSON *a, struct err *e)
{
    int i = (int)reply_number(a, "rank"), k = 0;
    const cJSON *from = cJSON_GetObjectItemCaseSensitive(a, "from"), *pair;
    if (i < 0 || i >= r->n) return fail(e, E_INTERNAL, "the ranks described a rank %d", i);
    struct rank *to = &r->rank[i];
    to->first = (int64_t)reply_number(a, "first");
    to->rows = (int64_t)reply_number(a, "rows");
    to->inside = (int64_t)reply_number(a, "inside");
    to->outside = (int64_t)reply_number(a, "outside");
    to->halo = (int64_t)reply_number(a, "halo");
    to->nfrom = cJSON_GetArraySize(from);
    to->from = mem_zero(to->nfrom, sizeof *to->from, "the halo of a rank", e);
    if (!to->from) return false;
    cJSON_ArrayForEach(pair, from)
    {
        const cJSON *owner = cJSON_GetArrayItem(pair, 0), *columns = cJSON_GetArrayItem(pair, 1);
        int rank = owner ? (int)owner->valuedouble : -1;
        if (rank < 0 || rank >= r->n || !columns) return fail(e, E_INTERNAL, "the ranks described a rank %d", rank);
        to->from[k++] = (struct rank_peer){rank, (int64_t)columns->valuedouble};
    }
    return true;
}

/* What a rank gives is what the others need from it. */
static void count_gives(struct ranks *r)
{
    for (int i = 0; i < r->n; i++) r->rank[i].gives = r->rank[i].nto = 0;
    for (int i = 0; i < r->n; i++)
        for (int k = 0; k < r->rank[i].nfrom; k++) {
            struct rank *giver = &r->rank[r->rank[i].from[k].rank];
            giver->gives += r->rank[i].from[k].columns;
            giver->nto++;
        }
}

static bool take_parts(struct ranks *r, struct watch *w, struct err *e)
{
    for (bool done = false; !done;) {
        cJSON *a = ranks_wait(r, "reading the matrix on the ranks", w, e);
        if (!a) return false;
        bool ok = !reply_is(a, "error") || reply_fail(a, e);
        if (ok && reply_is(a, "part")) ok = take_part(r, a, e);
        done = reply_is(a, "loaded");
        if (done) r->load_us = reply_number(a, "us");
        cJSON_Delete(a);
        if (!ok) return false;
    }
    count_gives(r);
    return true;
}

bool ranks_load(struct ranks *r, const struct csr *A, int64_t number, struct watch *w, struct err *e)
{
    if (!ranks_take(A, e) || !fits(r, A, e) || !ranks_ready(r, w, e)) return false;
    if (r->loaded == number) return true;
    forget_parts(r);
    double start = steady_us();
    if (!petsc_write_matrix(r, A, w, e)) return false;
    r->write_us = steady_us() - start;
    if (!ask(r, "load", w, e) || !take_parts(r, w, e)) return false;
    r->loaded = number;
    r->rows = A->rows;
    r->cols = A->cols;
    return true;
}

/* ---- products ---- */

bool ranks_multiply(struct ranks *r, const double *x, double *y, int64_t reps, double *us, int64_t *n, struct watch *w,
                    struct err *e)
{
    char line[64];
    const cJSON *time;
    if (!ranks_ready(r, w, e) || !petsc_write_vector(r, RANKS_X, x, r->cols, w, e)) return false;
    snprintf(line, sizeof line, "multiply %lld", (long long)reps);
    cJSON *a = ask(r, line, w, e) ? ranks_wait(r, "multiplying on the ranks", w, e) : NULL;
    if (!a) return false;
    bool ok = reply_is(a, "product") || reply_fail(a, e);
    *n = 0;
    cJSON_ArrayForEach(time, cJSON_GetObjectItemCaseSensitive(a, "us"))
    {
        if (*n < RANKS_REPS_MAX) us[(*n)++] = time->valuedouble;
    }
    cJSON_Delete(a);
    return ok && petsc_read_vector(r, RANKS_Y, y, r->rows, e);
}

/* ---- the log ---- */

static struct rank_event event_of(const cJSON *a)
{
    struct rank_event v = {.calls = reply_number(a, "calls"),
                           .time_max = reply_number(a, "time_max"),
                           .time_min = reply_number(a, "time_min"),
                           .flops_max = reply_number(a, "flops_max"),
                           .flops_min = reply_number(a, "flops_min"),
                           .flops = reply_number(a, "flops"),
                           .messages = reply_number(a, "messages"),
                           .bytes = reply_number(a, "bytes"),
                           .reductions = reply_number(a, "reductions")};
    const char *name = reply_text(a, "event");
    size_t length = strlen(name);
    while (length && name[length - 1] == ' ') length--;
    snprintf(v.phase, sizeof v.phase, "%s", reply_text(a, "phase"));
    print_safe(name, length, 60, v.event, sizeof v.event);
    return v;
}

bool ranks_log(struct ranks *r, struct rank_event **out, int *n, struct watch *w, struct err *e)
{
    struct rank_event *events = NULL;
    bool ok = ask(r, "log", w, e);
    *n = 0;
    for (bool done = false; ok && !done;) {
        cJSON *a = ranks_wait(r, "reading the log of the ranks", w, e);
        ok = a && (!reply_is(a, "error") || reply_fail(a, e));
        done = ok && reply_is(a, "logged");
        if (ok && reply_is(a, "event")) {
            struct rank_event *more = mem_resize(events, *n + 1, sizeof *more, "the events of the ranks", e);
            ok = more != NULL;
            if (more) events = more, events[(*n)++] = event_of(a);
        }
        cJSON_Delete(a);
    }
    if (ok)
        *out = events;
    else
        mem_free(events);
    return ok;
}
