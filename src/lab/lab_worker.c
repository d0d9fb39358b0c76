/* The process that runs users' kernels: one job, or several launches with the same matrix, then it ends. It begins as
   `warpspy` with LAB_ARGUMENT, so that it has neither the threads nor the memory of the session. */
#include "base/base.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/watch.h"
#include "formats/format.h"
#include "lab.h"
#include "lab_job.h"
#include "lab_private.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/shared_places.h"
#include "matrix/csr.h"
#include "microscope/model.h"
#include "microscope/tape.h"

#include <dlfcn.h>
#include <omp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct work_state {
    struct job *job;
    const struct kernel *kernel;
    const char *(*launch_error)(void); /* of the runtime library in a GPU's shared object; NULL: the emulator */
    struct stored S;
    struct csr A; /* OP_MODEL */
    struct device *dev;
    struct mat M;
    struct watch watch;
};

/* ---- progress ---- */

enum { PROGRESS_US = 50000 };

static bool send_progress(struct watch *w, const char *what, int64_t done, int64_t total)
{
    static double last;
    struct reply_progress p = {.done = done, .total = total};
    if (now_us() - last < PROGRESS_US) return true;
    last = now_us();
    snprintf(p.what, sizeof p.what, "%s", what);
    return lab_guard_send(REPLY_PROGRESS, 1, (const void *[]){&p}, (const uint64_t[]){sizeof p});
}

/* ---- the job's data ---- */

static void *job_data(const struct work_state *s, int64_t at)
{
    return at ? (char *)s->job + at : NULL;
}

static bool take_matrix(struct work_state *s, struct err *e)
{
    const struct job *j = s->job;
    struct stored *S = &s->S;
    *S = (struct stored){
        .format = format_find(j->format), .rows = j->rows, .cols = j->cols, .nnz = j->nnz, .real = j->real};
    if (!S->format) return fail(e, E_INTERNAL, "there is no format %s", j->format);
    memcpy(S->param, j->param, sizeof S->param);
    S->narrays = j->narrays;
    for (int k = 0; k < j->narrays; k++)
        S->a[k] = (struct array){.name = j->a[k].name,
                                 .role = j->a[k].role,
                                 .type = j->a[k].type,
                                 .n = j->a[k].n,
                                 .data = job_data(s, j->a[k].at),
                                 .lent = true};
    s->A = (struct csr){.rows = j->rows,
                        .cols = j->cols,
                        .nnz = j->nnz,
                        .rowptr = job_data(s, j->rowptr),
                        .rowptr64 = job_data(s, j->rowptr64),
                        .col = job_data(s, j->col),
                        .val = job_data(s, j->val),
                        .imag = job_data(s, j->imag)};
    return true;
}

static bool map_job(struct work_state *s, struct err *e)
{
    struct stat st;
    if (fstat(FD_JOB, &st) || st.st_size < (off_t)sizeof *s->job)
        return fail(e, E_INTERNAL, "this option is for warpspy itself");
    void *p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, FD_JOB, 0);
    if (p == MAP_FAILED) return fail(e, E_MEMORY, "not enough memory to map the matrix");
    s->job = p;
    if (strncmp(s->job->version, WARPSPY_VERSION, sizeof s->job->version - 1))
        return fail(e, E_INTERNAL, "the program was replaced while it ran; start it again");
    return true;
}

static bool load_object(struct work_state *s, struct err *e)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", FD_OBJECT);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so) return fail(e, E_USAGE, "%s cannot be loaded: %s", s->job->name, dlerror());
    s->kernel = dlsym(so, s->job->symbol);
    if (!s->kernel) return fail(e, E_INTERNAL, "%s has no entry %s", s->job->name, s->job->symbol);
    lab_guard_object(s->kernel);
    void *launch_error = dlsym(so, LAB_LAUNCH_ERROR);
    memcpy(&s->launch_error, &launch_error, sizeof launch_error);
    return true;
}

/* ---- what jobs do ---- */

static bool sent(int n, const void *const *part, const uint64_t *bytes, struct err *e)
{
    fflush(stdout); /* the session ends this process when it has the reply */
    return lab_guard_send(REPLY_DONE, n, part, bytes) || fail(e, E_IO, "the session has ended");
}

static bool describe(struct work_state *s, struct err *e)
{
    const struct kernel *k = s->kernel;
    struct described d = {.deterministic = k->deterministic,
                          .together = k->together,
                          .shares = k->shares,
                          .host_part = k->host_part,
                          .skips_padding = k->skips_padding,
                          .product_only = k->product_only,
                          .has_param = k->param != NULL};
    if (k->host || k->vendor)
        return fail(e, E_UNSUPPORTED, "%s is not a kernel for a GPU, so it cannot be tried", s->job->name);
    snprintf(d.name, sizeof d.name, "%s", k->name ? k->name : "");
    snprintf(d.about, sizeof d.about, "%s", k->about ? k->about : "");
    snprintf(d.format, sizeof d.format, "%s", k->format ? k->format->name : "");
    for (int t = 0; t < PRECISIONS; t++) d.takes[t] = kernel_takes(k, (enum precision)t, NULL);
    if (k->param) memcpy(d.param, k->param, sizeof d.param);
    return sent(1, (const void *[]){&d}, (const uint64_t[]){sizeof d}, e);
}

static struct reply_failed failed;

/* The shared object has a CUDA runtime library of its own, which keeps the error of a launch that could not start. */
static bool launch_it(const struct work_state *s, const struct launch *L, struct err *e)
{
    if (!kernel_launch(s->kernel, L, e)) return false;
    const char *why = s->launch_error ? s->launch_error() : NULL;
    return !why || fail(e, E_DEVICE, "%s cannot be launched on %s: %s", s->job->name, s->dev->name, why);
}

static bool multiply_on(struct work_state *s, void *x, void *y, struct err *e)
{
    struct launch L = {.A = &s->M, .alpha = s->job->alpha, .beta = s->job->beta, .x = x, .y = y};
    emu_look_for_races(s->job->races);
    if (!launch_it(s, &L, e)) return false;
    if (s->dev->kind == DEV_EMU) emu_last_finding(&failed.finding);
    return s->dev->ops->sync(s->dev, e);
}

static int64_t bytes_of_x(const struct work_state *s)
{
    return s->S.cols * (int64_t)type_size(precisions[s->S.real].vector);
}

static int64_t bytes_of_y(const struct work_state *s)
{
    return s->S.rows * (int64_t)type_size(precisions[s->S.real].vector);
}

static bool new_vectors(struct work_state *s, void **x, void **y, struct err *e)
{
    struct device *d = s->dev;
    *x = d->ops->alloc(d, bytes_of_x(s), "the vector x", e);
    *y = *x ? d->ops->alloc(d, bytes_of_y(s), "the vector y", e) : NULL;
    return *y != NULL;
}

static bool put_vectors(struct work_state *s, void *x, void *y, struct err *e)
{
    struct device *d = s->dev;
    return d->ops->put(d, x, job_data(s, s->job->x), bytes_of_x(s), e) &&
           d->ops->put(d, y, job_data(s, s->job->y), bytes_of_y(s), e);
}

/* Does the session want another launch? */
static bool asked_again(void)
{
    char byte;
    struct pollfd p = {FD_ASK, POLLIN, 0};
    return poll(&p, 1, WAIT_MS) == 1 && read(FD_ASK, &byte, 1) == 1;
}

static bool launch_job(struct work_state *s, struct err *e)
{
    void *x, *y;
    struct device *d = s->dev;
    if (!new_vectors(s, &x, &y, e)) return false;
    do {
        if (!put_vectors(s, x, y, e) || !multiply_on(s, x, y, e) ||
            !d->ops->get(d, job_data(s, s->job->y), y, bytes_of_y(s), e) || !sent(0, NULL, NULL, e))
            return false;
    } while (asked_again());
    return true;
}

struct timed_work {
    struct work_state *s;
    struct launch launch;
};

static bool go(void *ctx, struct err *e)
{
    const struct timed_work *t = ctx;
    return launch_it(t->s, &t->launch, e);
}

static bool time_job(struct work_state *s, struct err *e)
{
    void *x, *y;
    struct remote_times r = {.reps = s->job->reps, .put_us = s->M.copied.us};
    if (!new_vectors(s, &x, &y, e) || !put_vectors(s, x, y, e)) return false;
    struct timed_work w = {s, {.A = &s->M, .alpha = s->job->alpha, .beta = s->job->beta, .x = x, .y = y}};
    struct timed t = {.dev = s->dev, .name = s->job->name, .go = go, .ctx = &w};
    return bench_times(&t, &r.reps, &s->watch, &r.us, &r.spread_us, e) &&
           sent(1, (const void *[]){&r}, (const uint64_t[]){sizeof r}, e);
}

static struct scope_names *names_of(const struct scope *s, struct err *e)
{
    struct scope_names *n = mem_zero(1, sizeof *n, "the names of a trace", e);
    for (int k = 0; n && k < s->nsites; k++) {
        snprintf(n->file[k], sizeof n->file[k], "%s", s->site[k].file ? s->site[k].file : "");
        snprintf(n->what[k], sizeof n->what[k], "%s", s->site[k].what ? s->site[k].what : "");
    }
    return n;
}

static bool trace_job(struct work_state *s, struct err *e)
{
    struct trace t;
    const struct watched of = watched_kernel(s->kernel, &s->M);
    if (!trace_warp(&of, s->job->launch, s->job->block, s->job->warp, &s->watch, &t, e)) return false;
    struct shared_places shared;
    shared_places_take(&shared);
    struct scope_names *names = names_of(&t.scope, e);
    return names && sent(4, (const void *[]){&t, names, t.step, shared.of},
                         (const uint64_t[]){sizeof t, sizeof *names, (uint64_t)t.nsteps * sizeof *t.step,
                                            (uint64_t)shared.n * sizeof *shared.of},
                         e);
}

static bool count_job(struct work_state *s, struct err *e)
{
    struct counts *c = mem_zero(1, sizeof *c, "the counts of a kernel", e);
    emu_count_as(s->job->coded ? &s->job->code : NULL);
    if (!c || !count_kernel(s->kernel, &s->M, s->job->sample, NULL, &s->watch, c, e)) return false;
    struct scope_names *names = names_of(&c->scope, e);
    return names && sent(2, (const void *[]){c, names}, (const uint64_t[]){sizeof *c, sizeof *names}, e);
}

static bool model_job(struct work_state *s, struct err *e)
{
    const struct job *j = s->job;
    struct counts *c = mem_zero(1, sizeof *c, "the counts of a kernel", e);
    struct workload *w = mem_zero(1, sizeof *w, "the work of a kernel", e);
    struct tape tape = {.at_once = j->at_once};
    uint64_t bytes = 0;
    emu_count_as(j->coded ? &j->code : NULL);
    if (!c || !w ||
        !model_record(s->kernel, &s->A, &s->M, &j->machine, j->sample, &s->watch, c, j->tape ? &tape : NULL, w, e))
        return false;
    struct scope_names *names = names_of(&c->scope, e);
    char *packed = names && j->tape ? lab_tape_pack(&tape, &bytes, e) : NULL;
    return names && (packed || !j->tape) &&
           sent(4, (const void *[]){w, c, names, packed},
                (const uint64_t[]){sizeof *w, sizeof *c, sizeof *names, bytes}, e);
}

static bool (*const jobs[])(struct work_state *s, struct err *e) = {
    [OP_DESCRIBE] = describe, [OP_LAUNCH] = launch_job, [OP_TRACE] = trace_job,
    [OP_COUNT] = count_job,   [OP_MODEL] = model_job,   [OP_TIME] = time_job};

static bool say_ready(struct err *e)
{
    return lab_guard_send(REPLY_READY, 0, NULL, NULL) || fail(e, E_IO, "the session has ended");
}

/* The microscope names launches by its kernel, so the kernel needs no place in the registry except on a GPU, where the
   registry has the entry that nvcc compiled. */
static bool run_job(struct work_state *s, struct err *e)
{
    if (!load_object(s, e)) return false;
    if (s->job->op == OP_DESCRIBE) return describe(s, e);
    s->dev = device_open(s->job->on_gpu ? s->job->device : "emu", e);
    return s->dev && take_matrix(s, e) && (!s->job->on_gpu || kernel_add(s->kernel, NULL, e)) &&
           mat_put(&s->M, &s->S, s->dev, e) && say_ready(e) && jobs[s->job->op](s, e);
}

_Noreturn void lab_work(void)
{
    static struct work_state s;
    s.watch = (struct watch){send_progress, NULL};
    loop_enter(&s.watch);
    omp_set_num_threads(1); /* signals then interrupt the thread that runs the kernel, and results do not vary */
    emu_guard_stacks();
    if (!map_job(&s, &failed.err) || !lab_guard_begin(s.job, &failed.err) || !run_job(&s, &failed.err)) {
        if (!failed.err.code) fail(&failed.err, E_INTERNAL, "%s failed", s.job ? s.job->name : "the job");
        fflush(stdout);
        lab_guard_send(REPLY_FAILED, 1, (const void *[]){&failed}, (const uint64_t[]){sizeof failed});
    }
    lab_guard_end();
}

void lab_work_if_asked(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], LAB_ARGUMENT)) lab_work();
}
