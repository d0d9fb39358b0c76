/* Checking and timing of kernels. A kernel is timed only after its result has agreed with the reference. */
#include <stdio.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/threads.h"
#include "base/watch.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "machine/remote.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "multi/multi.h"

#include <math.h>
#include <string.h>

enum { REPS_MAX = 1000, BATCH_MAX = 64 };
static const double BATCH_US = 10000, SLOW_US = 50000;

/* How long a kernel is timed, by its time as a multiple of the fastest one so far: launches before the timed ones, so
   that a GPU raises its clock frequency, and then as many launches as take `budget_us`, but at least `least`. */
static const struct effort {
    double behind;
    int warm_ups, least;
    double budget_us;
} efforts[] = {{1.25, 3, 5, 200000}, {3, 3, 5, 20000}, {10, 1, 5, 5000}, {INFINITY, 0, 3, 2000}};

int64_t kernel_bytes(const struct kernel *k, const struct stored *S, double beta)
{
    int64_t slot = (int64_t)(type_size(T_I32) + type_size(precisions[S->real].stored)),
            padding = stored_slots(S) - S->nnz;
    int64_t arrays = k->reads ? k->reads(S) : stored_bytes(S) - (k->skips_padding ? padding * slot : 0);
    return arrays + (int64_t)type_size(precisions[S->real].vector) * (S->cols + (beta != 0 ? 2 : 1) * S->rows);
}

/* ---- a problem: A, x and y on the host in double precision, and on the device in the matrix's precision ----
   The vectors of a complex matrix are pairs of a real and an imaginary part. */

struct problem {
    const struct kernel *kernel;
    const struct csr *A;
    const struct mat *M;
    int64_t nx, ny; /* numbers in x and in y: two for each element of a complex vector */
    double *x, *y;  /* the values of x and y, rounded to the matrix's precision */
    struct bench_shared *bench;
    const struct expected *expected; /* of the operation that is checked; owned by the bench */
    void *narrow;                    /* staging buffer for a vector copied to or from the device */
    void *dx, *dy;
    struct launch launch;
};

static bool problem_new(struct problem *p, struct bench_shared *b, const struct kernel *k, const struct csr *A,
                        const struct mat *M, struct err *e)
{
    enum type vector = precisions[M->of->real].vector;
    int64_t size = (int64_t)type_size(vector), parts = type_parts(vector);
    *p = (struct problem){.kernel = k, .A = A, .M = M, .nx = parts * A->cols, .ny = parts * A->rows, .bench = b};
    p->x = mem_new(p->nx, sizeof *p->x, "x of a check", e);
    p->y = mem_new(p->ny, sizeof *p->y, "y of a check", e);
    p->narrow = mem_new(A->rows > A->cols ? A->rows : A->cols, (size_t)size, "a vector to copy", e);
    if (!p->x || !p->y || !p->narrow) return false;
    p->dx = mat_col_vectors(M, 1, size, "the vector x", e);
    p->dy = p->dx ? mat_row_vectors(M, 1, size, "the vector y", e) : NULL;
    p->launch = (struct launch){.A = M, .x = p->dx, .y = p->dy};
    return p->dy != NULL;
}

static void problem_free(struct problem *p)
{
    struct device *d = p->M->dev;
    if (p->dx) d->ops->free(d, p->dx);
    if (p->dy) d->ops->free(d, p->dy);
    mem_free(p->x);
    mem_free(p->y);
    mem_free(p->narrow);
}

static double rounded(double v, enum precision real)
{
    return precisions[real].part == T_F32 ? (double)(float)v : v;
}

/* v[i] = rounded(from[i]); NULL: NaN. */
static void fill_rounded(double *v, int64_t n, const double *from, enum precision real)
{
    struct loop l = loop_of("a vector", n);
#pragma omp parallel for schedule(static) if (n > THREADS_FROM)
    for (int64_t k = 0; k < n; k += LOOP_EVERY)
        for (int64_t i = k, end = loop_share(&l, k, n); i < end; i++) v[i] = from ? rounded(from[i], real) : NAN;
}

static void fill_random(double *v, int64_t n, uint64_t *state, enum precision real)
{
    random_fill(v, n, *state);
    *state = random_skip(*state, n);
    if (precisions[real].part == T_F32) fill_rounded(v, n, v, real);
}

static bool put_vector(struct problem *p, const double *v, int64_t n, void *to, struct err *e)
{
    struct array a = {.type = precisions[p->M->of->real].part, .n = n, .data = p->narrow};
    put_reals(&a, v);
    return p->M->dev->ops->put(p->M->dev, to, p->narrow, n * (int64_t)type_size(a.type), e);
}

static bool get_vector(struct problem *p, const void *from, int64_t n, double *v, struct err *e)
{
    struct array a = {.type = precisions[p->M->of->real].part, .n = n, .data = p->narrow};
    if (!p->M->dev->ops->get(p->M->dev, p->narrow, from, n * (int64_t)type_size(a.type), e)) return false;
    struct loop l = loop_of("copying back", n);
#pragma omp parallel for schedule(static) if (n > THREADS_FROM)
    for (int64_t k = 0; k < n; k += LOOP_EVERY)
        for (int64_t i = k, end = loop_share(&l, k, n); i < end; i++) v[i] = array_real(&a, i);
    return loop_end(&l, e);
}

/* ---- the check ---- */

const struct operation operation_product = {1, 0, NULL};

bool operation_is_product(const struct operation *op)
{
    return op->alpha == 1 && op->beta == 0;
}

/* Set y before the launch: y0, or random values. If beta is 0, y is NaN, so that a kernel that reads y gives a wrong
   result. */
static void fill_y(struct problem *p, const struct operation *op, uint64_t *state)
{
    enum precision real = p->M->of->real;
    if (op->beta != 0 && !op->y0) return fill_random(p->y, p->ny, state, real);
    fill_rounded(p->y, p->ny, op->beta == 0 ? NULL : op->y0, real);
}

static void expected_free(struct expected *x)
{
    mem_free(x->ref);
    mem_free(x->bound);
    *x = (struct expected){0};
}

void bench_shared_free(struct bench_shared *b)
{
    for (int i = 0; i < COUNT(b->expected); i++) expected_free(&b->expected[i]);
}

static bool expected_new(struct problem *p, struct expected *x, struct err *e)
{
    int64_t bytes = p->ny * (int64_t)sizeof *x->ref;
    x->ref = mem_new(p->ny, sizeof *x->ref, "the reference of a check", e);
    x->bound = mem_new(p->ny, sizeof *x->bound, "the error bounds of a check", e);
    bool ok = x->ref && x->bound && loop_copy(x->ref, p->y, bytes, "the reference", e) &&
              reference_product(p->A, x->op.alpha, p->x, x->op.beta, x->ref, x->real, x->bound, e);
    if (!ok) expected_free(x);
    return ok;
}

static bool is_expected(const struct expected *a, const struct expected *b)
{
    return a->ref && a->A == b->A && a->real == b->real && a->seed == b->seed && a->op.alpha == b->op.alpha &&
           a->op.beta == b->op.beta && a->op.y0 == b->op.y0;
}

/* What the launch must give, for the x and the y of p: computed, unless the bench has it already. */
static bool expect(struct problem *p, const struct operation *op, uint64_t seed, struct err *e)
{
    struct bench_shared *b = p->bench;
    struct expected wanted = {.A = p->A, .real = p->M->of->real, .seed = seed};
    wanted.op = (struct operation){p->launch.alpha, p->launch.beta, op->y0};
    for (int i = 0; i < COUNT(b->expected); i++)
        if (is_expected(&b->expected[i], &wanted)) return p->expected = &b->expected[i], true;
    struct expected *x = &b->expected[b->alone ? 0 : b->computed % COUNT(b->expected)];
    expected_free(x);
    *x = wanted;
    b->computed++;
    p->expected = x;
    return expected_new(p, x, e);
}

static bool go(void *ctx, struct err *e)
{
    const struct problem *p = ctx;
    return kernel_launch(p->kernel, &p->launch, e);
}

/* Put a random x, and y, on the device, launch op once, time the launch, and compare the result with the reference. */
static bool launch_and_check(struct problem *p, const struct operation *op, uint64_t seed, double *us,
                             struct verdict *out, struct err *e)
{
    struct device *d = p->M->dev;
    enum precision real = p->M->of->real;
    uint64_t state = seed;
    p->launch.alpha = rounded(op->alpha, real);
    p->launch.beta = rounded(op->beta, real);
    fill_random(p->x, p->nx, &state, real);
    fill_y(p, op, &state);
    if (!put_vector(p, p->x, p->nx, p->dx, e) || !put_vector(p, p->y, p->ny, p->dy, e) || !expect(p, op, seed, e) ||
        !loop_tick(p->kernel->name, 0, 0, e) || !d->ops->time(d, go, p, 1, us, e) ||
        !get_vector(p, p->dy, p->ny, p->y, e))
        return false;
    *out = verdict_of(p->ny, p->y, p->expected->ref, p->expected->bound);
    if (out->row >= 0) out->row /= type_parts(precisions[real].vector);
    return loop_tick(p->kernel->name, 0, 0, e);
}

bool bench_result(const struct kernel *k, const struct csr *A, const struct mat *M, const struct operation *op,
                  uint64_t seed, double *y, struct verdict *out, struct err *e)
{
    struct problem p;
    struct bench_shared b = {.alone = true};
    double us;
    bool ok = problem_new(&p, &b, k, A, M, e) && launch_and_check(&p, op, seed, &us, out, e);
    if (ok && y) ok = loop_copy(y, p.y, p.ny * (int64_t)sizeof *y, "copying y", e);
    problem_free(&p);
    bench_shared_free(&b);
    return ok;
}

bool bench_check(const struct kernel *k, const struct csr *A, const struct mat *M, double alpha, double beta,
                 uint64_t seed, double *y, struct verdict *out, struct err *e)
{
    struct operation op = {alpha, beta, NULL};
    return bench_result(k, A, M, &op, seed, y, out, e);
}

/* Which part of an element number `at` of y is. */
static const char *part_name(const struct problem *p, int64_t at)
{
    if (!precisions[p->M->of->real].is_complex) return "";
    return at % 2 ? "the imaginary part of " : "the real part of ";
}

static bool must_hold(const struct problem *p, const struct verdict *v, struct err *e)
{
    if (v->ok) return true;
    const double *ref = p->expected->ref;
    bool reads_y = verdict_reads_y(v, p->launch.beta, p->y, ref);
    return fail(e, E_NUMERIC,
                "%s on %s is wrong: %sy[%lld] is %.9g, but the reference is %.9g (%.3g times the error bound, alpha "
                "%g, beta %g)%s%s%s",
                p->kernel->name, p->M->dev->name, part_name(p, v->at), (long long)v->row, v->at < 0 ? NAN : p->y[v->at],
                v->at < 0 ? NAN : ref[v->at], v->worst, p->launch.alpha, p->launch.beta, reads_y ? "; " : "",
                reads_y ? reads_y_text : "", p->M->dev->kind == DEV_EMU ? "" : "; the kernel was not timed");
}

/* ---- timing ---- */

static bool times_of(const struct timed *t, int reps, double *us, struct err *e)
{
    return t->dev->ops->time(t->dev, t->go, t->ctx, reps, us, e);
}

/* The effort for a kernel that takes `us`. */
static const struct effort *effort_of(const struct timed *t, double us)
{
    const struct effort *f = efforts;
    while (t->best_us > 0 && us > f->behind * t->best_us) f++;
    return f;
}

/* Launch n times, but not again after a launch that took more than SLOW_US. *us is the time of the last launch. */
static bool warm_up(const struct timed *t, int n, double *us, struct err *e)
{
    for (int i = 0; i < n && *us <= SLOW_US; i++)
        if (!loop_tick(t->name, 0, 0, e) || !times_of(t, 1, us, e)) return false;
    return true;
}

static int at_most(double wanted, int least, int most)
{
    return wanted < least ? least : wanted > most ? most : (int)wanted;
}

/* Measure us[0..reps-1] in short batches, so that the user can cancel between them. */
static bool repeat(const struct timed *t, int reps, double estimate, struct watch *w, double *us, struct err *e)
{
    int batch = at_most(BATCH_US / (estimate + 1), 1, BATCH_MAX);
    for (int done = 0; done < reps; done += batch) {
        if (!watch_tick(w, t->name, done, reps, e)) return false;
        if (!times_of(t, reps - done < batch ? reps - done : batch, us + done, e)) return false;
    }
    return true;
}

/* On the emulator, one launch is enough, because the time of an emulated launch says nothing about a kernel. */
bool bench_times(const struct timed *t, int *reps, struct watch *w, double *median, double *spread, struct err *e)
{
    bool emulated = t->dev->kind == DEV_EMU;
    double estimate = t->before_us;
    if (!emulated && !warm_up(t, (*reps ? efforts : effort_of(t, estimate))->warm_ups, &estimate, e)) return false;
    const struct effort *f = effort_of(t, estimate);
    if (!*reps) *reps = emulated ? 1 : at_most(f->budget_us / (estimate + 0.1), f->least, REPS_MAX);
    double *us = mem_new(*reps, sizeof *us, "the times of a bench", e);
    bool ok = us && repeat(t, *reps, estimate, w, us, e);
    if (ok) *median = times_median(*reps, us, spread);
    mem_free(us);
    return ok;
}

void run_rates(struct run *r, const struct ceilings *c)
{
    r->gbs = (double)r->bytes / r->us / 1000;
    r->gflops = type_flops(precisions[r->of->real].vector) * (double)r->of->nnz / r->us / 1000;
    r->share = c->measured && c->read_gbs > 0 ? r->gbs / c->read_gbs : 0;
}

/* Half of the cache is assumed to keep its contents from one SpMV to the next. */
static int64_t kept(int64_t bytes, const struct ceilings *c)
{
    return bytes < c->cache_bytes / 2 ? bytes : c->cache_bytes / 2;
}

static double bytes_us(int64_t bytes, const struct ceilings *c)
{
    int64_t near = c->cache_gbs > c->read_gbs ? kept(bytes, c) : 0;
    return ((double)(bytes - near) / c->read_gbs + (near ? (double)near / c->cache_gbs : 0)) / 1000;
}

static double gathers_us(int64_t gathers, int64_t x_bytes, const struct ceilings *c)
{
    return (double)gathers / (x_bytes <= kept(x_bytes, c) ? c->gather_cache_gps : c->gather_gps) / 1000;
}

void run_bounds(struct run *r, int64_t gathers, const struct ceilings *c)
{
    bool gpu = r->dev->kind == DEV_CUDA;
    double us[] = {[BY_BYTES] = bytes_us(r->bytes, c),
                   [BY_GATHERS] =
                       gpu ? gathers_us(gathers, r->of->cols * (int64_t)type_size(precisions[r->real].vector), c) : 0,
                   [BY_LAUNCH] = gpu ? c->launch_us : 0};
    r->bound = BY_NOTHING;
    r->bound_us = NAN;
    for (int b = BY_BYTES; c->measured && b < COUNT(us); b++)
        if (r->bound == BY_NOTHING || us[b] > r->bound_us) {
            r->bound = (enum run_bound)b;
            r->bound_us = us[b];
        }
}

/* before_us: the time of the last launch that was checked. */
static bool time_it(struct problem *p, int reps, double before_us, struct watch *w, struct run *r, struct err *e)
{
    struct timed t = {p->M->dev, p->kernel->name, go, p, before_us, p->bench->best_us};
    const struct remote *remote = p->kernel->remote;
    struct remote_times far = {.reps = reps};
    if (remote) {
        if (!remote->time(p->kernel, p->M, p->launch.alpha, p->launch.beta, reps, w, &far, e)) return false;
        reps = far.reps, r->us = far.us, r->spread_us = far.spread_us;
    } else if (!bench_times(&t, &reps, w, &r->us, &r->spread_us, e))
        return false;
    r->reps = reps;
    if (!p->bench->best_us || r->us < p->bench->best_us) p->bench->best_us = r->us;
    run_rates(r, &t.dev->ceilings);
    return true;
}

bool bench_kernel(const struct kernel *k, const struct csr *A, const struct mat *M, int reps, struct watch *w,
                  struct run *out, struct err *e)
{
    const struct bench_job j = {.kernel = k, .A = A, .M = M, .op = &operation_product, .reps = reps};
    return bench_operation(&j, w, out, e);
}

/* The first check is that of all terms of alpha A x + beta y. Its error would say nothing about A x if A x is small
   beside y, so the error of op is reported. On a device that is timed, the first launch gives first_us, also of a
   kernel that computes A x only. */
bool bench_operation(const struct bench_job *j, struct watch *w, struct run *out, struct err *e)
{
    static const struct operation terms = {1.5, -0.5, NULL};
    const struct kernel *k = j->kernel;
    const struct device *d = j->M->dev;
    bool timed = d->kind != DEV_EMU, twice = timed || (operation_is_product(j->op) && !k->product_only);
    const struct operation *all_terms = k->product_only ? &operation_product : &terms;
    struct problem p;
    struct bench_shared own = {.alone = true};
    struct verdict all;
    double us;
    *out = (struct run){.kernel = k,
                        .dev = d,
                        .of = j->M->of,
                        .real = j->M->of->real,
                        .alpha = j->op->alpha,
                        .beta = j->op->beta,
                        .bytes = kernel_bytes(k, j->M->of, j->op->beta),
                        .members = d->members,
                        .halo_bytes = mat_halo_bytes(j->M),
                        .bound_us = NAN};
    bool ok = problem_new(&p, j->shared ? j->shared : &own, k, j->A, j->M, e);
    if (twice) ok = ok && launch_and_check(&p, all_terms, 1, &out->first_us, &all, e) && must_hold(&p, &all, e);
    ok = ok && launch_and_check(&p, j->op, 1, &us, &out->error, e) && must_hold(&p, &out->error, e);
    if (timed) ok = ok && time_it(&p, j->reps, us, w, out, e);
    if (ok && !timed) out->us = out->spread_us = out->first_us = out->gbs = out->gflops = out->share = NAN;
    if (ok) run_bounds(out, j->gathers, &d->ceilings);
    problem_free(&p);
    bench_shared_free(&own);
    out->ready_us = kernel_prepared_us(k, j->M);
    out->ready_bytes = kernel_prepared_bytes(k, j->M);
    out->library = kernel_library(k, j->M);
    out->put_gbs = copied_gbs(&j->M->copied);
    return ok;
}
