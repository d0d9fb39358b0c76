/* For paper_value.c: times of an iteration of a solver, on a device and on one thread of the host, of dense LU, of
   packing and of symmetrization. */
#include "paper_times.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "lu/lu.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/symmetrize.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { CYCLE = 10, CYCLES_GPU = 20, DEFAULT_M = 30, TIMES = 3 };

/* The median of n times. */
static struct paper_time time_of(int n, double *us, const struct device *on)
{
    struct paper_time t = {.on = on};
    t.us = times_median(n, us, &t.spread);
    if (n < 2) t.spread = NAN;
    return t;
}

bool paper_refused(const struct err *why, struct err *e)
{
    enum code code = why->code == E_NUMERIC || why->code == E_USAGE ? E_UNSUPPORTED : why->code;
    return fail_at(e, code, why->where, "%s", why->text);
}

/* ---- solvers ---- */

/* Read pairs of words such as "sums host". */
static bool read_choices(const char *text, struct solve_options *o)
{
    const struct {
        const char *words;
        bool *set;
    } choices[] = {{"sums host", &o->sums_host},
                   {"least host", &o->least_host},
                   {"orth modified", &o->modified},
                   {"form matrix", &o->form_matrix}};
    while (*text) {
        size_t n = 0;
        for (int i = 0; i < COUNT(choices) && !n; i++)
            if (!strncmp(text, choices[i].words, strlen(choices[i].words)))
                n = strlen(choices[i].words), *choices[i].set = true;
        if (!n || (text[n] && text[n] != ' ')) return false;
        text += n + strspn(text + n, " ");
    }
    return true;
}

bool paper_read_solver(const char *of, struct solve_options *o, struct err *e)
{
    char name[32] = "";
    long long m = 0;
    int at = 0;
    sscanf(of, "%31s %n", name, &at);
    if (sscanf(of + at, "%lld %n", &m, &(int){0}) == 1) at += (int)strspn(of + at, "0123456789 ");
    o->solver = solver_find(name);
    if (!o->solver || !read_choices(of + at, o))
        return fail(
            e, E_INPUT,
            "`%s` is not a solver: write, for example, jacobi, jacobi form matrix, gmres 30 or gmres 30 sums host", of);
    o->m = m ? m : o->solver->restarts ? DEFAULT_M : 0;
    return true;
}

/* Do up to n more iterations. */
static bool iterate(struct solve *v, int64_t n, struct err *e)
{
    v->steps_left = n;
    v->paused = false;
    while (v->reason == RUNNING && v->steps_left > 0)
        if (!solve_slice(v, 1e6, e) || (v->cut.now && !loop_tick(v->solver->name, 0, 0, e))) return false;
    return solve_drain(v, e);
}

/* The time of an iteration in the next n iterations. If the solve ended before, the time of an iteration so far. */
static bool time_iterations(struct solve *v, int64_t n, double *us, struct err *e)
{
    double before = v->time.us;
    int64_t done = v->iterations;
    if (!iterate(v, n, e)) return false;
    if (v->iterations == done) before = 0, done = 0;
    *us = (v->time.us - before) / (double)(v->iterations - done);
    return true;
}

/* Run one cycle to warm up, and time the cycles that follow. */
static bool time_host(struct solve *v, int64_t cycle, int reps, struct paper_time *out, struct err *e)
{
    double us[TIMES];
    int n = 0;
    if (reps != 1 && !iterate(v, cycle, e)) return false;
    do
        if (!time_iterations(v, reps == 1 ? 1 : cycle, &us[n++], e)) return false;
    while (reps != 1 && n < TIMES && v->reason == RUNNING);
    *out = time_of(n, us, out->on);
    return true;
}

/* Measure the time between two events by the device's clock, so that it excludes the time that the host waits. */
static bool time_gpu(struct solve *v, double *us, struct err *e)
{
    while (v->reason == RUNNING)
        if (!solve_slice(v, 1e5, e)) return false;
    *us = v->time.us_iteration;
    return true;
}

static bool some_iteration(const struct solve *v, struct err *e)
{
    return v->iterations > 0 || fail(e, E_UNSUPPORTED, "%s completed no iteration that could be timed: the solve %s",
                                     v->solver->name, reason_name(v->reason));
}

static bool solve_on_host(struct session *s, struct matrix *m, struct solve_options *o, int64_t cycle, int reps,
                          struct paper_time *out, struct err *e)
{
    struct solve *v;
    o->maxit = reps == 1 ? 1 : (TIMES + 1) * cycle;
    if (!session_solve(&v, s, m, o, e)) return false;
    bool ok = time_host(v, cycle, reps, out, e) && some_iteration(v, e);
    solve_free(v);
    return ok;
}

static bool solve_on_gpu(struct session *s, struct matrix *m, struct solve_options *o, int64_t cycle, int reps,
                         struct paper_time *out, struct err *e)
{
    struct solve *v;
    double us[TIMES];
    int n = reps == 1 ? 1 : TIMES;
    o->maxit = CYCLES_GPU * cycle;
    for (int i = 0; i < n; i++) {
        if (!session_solve(&v, s, m, o, e)) return false;
        bool ok = time_gpu(v, &us[i], e) && some_iteration(v, e);
        solve_free(v);
        if (!ok) return false;
    }
    *out = time_of(n, us, out->on);
    return true;
}

static bool time_solver(struct session *s, struct matrix *m, struct solve_options *o, int reps, struct paper_time *out,
                        struct err *e)
{
    struct err why = {0};
    struct paper_time t = {.on = o->dev};
    int64_t cycle = o->solver->restarts ? o->m : CYCLE;
    bool gpu = o->dev->kind == DEV_CUDA;
    if (!(gpu ? solve_on_gpu : solve_on_host)(s, m, o, cycle, reps, &t, &why)) return paper_refused(&why, e);
    *out = t;
    return true;
}

/* Time a solver with a random right-hand side, which is the same on all devices. */
static bool time_random(struct session *s, struct matrix *m, struct solve_options *o, int reps, struct paper_time *out,
                        struct err *e)
{
    double *b = mem_new(m->csr.rows, sizeof *b, "the right side", e);
    if (b) random_fill(b, m->csr.rows, 1);
    o->b = b;
    bool ok = b && time_solver(s, m, o, reps, out, e);
    mem_free(b);
    return ok;
}

bool paper_solver(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of, int reps,
                  struct paper_time *out, struct err *e)
{
    struct solve_options o = {.real = real, .force = true, .dev = d};
    if (!paper_read_solver(of, &o, e)) return false;
    return time_random(s, m, &o, reps, &out[PAPER_DEVICE], e);
}

bool paper_thread(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of, int reps,
                  struct paper_time *out, struct err *e)
{
    struct solve_options o = {.real = real, .force = true};
    int threads = omp_get_max_threads();
    if (!paper_read_solver(of, &o, e) || !(o.dev = device_open("cpu", e))) return false;
    o.kernel = kernel_find("csr-serial");
    o.sums_host = o.least_host = o.form_matrix = false;
    omp_set_num_threads(1);
    bool ok = time_random(s, m, &o, reps, &out[PAPER_THREAD], e);
    omp_set_num_threads(threads);
    return ok;
}

/* ---- the operations of a cycle ---- */

/* One iteration beyond the cycle, so that it ends with a restart. */
static bool run_cycle(struct session *s, struct matrix *m, struct solve_options *o, int64_t *cycle, struct err *e)
{
    struct solve *v;
    o->maxit = o->m + 1;
    if (!session_solve(&v, s, m, o, e)) return false;
    bool ok = iterate(v, o->maxit, e);
    memcpy(cycle, v->work.cycle, sizeof v->work.cycle);
    bool some = cycle[OP_PASS] > 0;
    if (ok && !some)
        fail(e, E_UNSUPPORTED, "%s ended before its first cycle of %lld iterations", o->solver->name, (long long)o->m);
    solve_free(v);
    return ok && some;
}

bool paper_cycle(struct session *s, struct matrix *m, const char *of, int64_t *cycle, struct err *e)
{
    struct solve_options o = {.real = P_F64, .force = true, .tol = 1e-14};
    if (!paper_read_solver(of, &o, e) || !(o.dev = device_open("cpu", e))) return false;
    if (!o.solver->restarts) return fail(e, E_UNSUPPORTED, "%s has no cycles", o.solver->name);
    double *b = mem_new(m->csr.rows, sizeof *b, "the right side", e);
    if (b) random_fill(b, m->csr.rows, 1);
    o.b = b;
    bool ok = b && run_cycle(s, m, &o, cycle, e);
    mem_free(b);
    return ok;
}

/* ---- dense LU ---- */

/* Time the substitution several times, after one that is not timed; the right side is ones. */
static bool time_substitution(struct lu *v, int reps, struct paper_time *out, struct err *e)
{
    double us[TIMES], *x = mem_new(v->n * type_parts(v->real), sizeof *x, "the solution", e);
    int n = reps == 1 ? 1 : TIMES;
    bool ok = x != NULL;
    for (int i = reps == 1 ? 0 : -1; ok && i < n; i++) {
        for (int64_t k = 0; k < v->n * type_parts(v->real); k++) x[k] = 1;
        ok = lu_solve(v, x, x, e) && loop_tick(v->method->name, 0, 0, e);
        if (ok && i >= 0) us[i] = v->solve_us;
    }
    mem_free(x);
    if (ok) *out = time_of(n, us, v->dev);
    return ok;
}

/* Both times were measured by themselves, so their spreads are independent. */
static struct paper_time sum_of(const struct paper_time *a, const struct paper_time *b)
{
    return (struct paper_time){.us = a->us + b->us, .spread = hypot(a->spread, b->spread), .on = a->on};
}

bool paper_factor(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of, int reps,
                  struct paper_time *out, struct err *e)
{
    struct lu_options o = {.method = lu_find(of), .real = real, .watch = &s->watch};
    struct lu *v;
    struct err why = {0};
    struct paper_time t, solve;
    if (!o.method) return fail(e, E_INPUT, "`%s` is not an LU method: write, for example, lu-serial or lu-paper", of);
    o.dev = o.method->host ? device_open("cpu", e) : d;
    if (!o.dev) return false;
    if (!lu_runs_on(o.method, o.dev)) return fail(e, E_UNSUPPORTED, "%s does not run on %s", of, o.dev->name);
    if (!lu_begin(&v, &m->csr, &o, &why)) return paper_refused(&why, e);
    bool ok = lu_time(v, reps, &t.us, &t.spread, &why) && time_substitution(v, reps, &solve, &why);
    t.on = o.dev;
    if (reps == 1) t.spread = NAN;
    if (ok) out[PAPER_FACTOR] = t, out[PAPER_SOLVE] = sum_of(&t, &solve);
    lu_free(v);
    return ok || paper_refused(&why, e);
}

/* ---- packing ---- */

bool paper_packing(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of, int reps,
                   struct paper_time *out, struct err *e)
{
    const struct kernel *k = kernel_find(of);
    const struct format *f = k ? k->format : format_find(of);
    double us[TIMES], plan_us[TIMES];
    int n = 0;
    do {
        struct stored S = {0};
        struct plan p;
        double start = now_us();
        bool ok = format_plan(&m->csr, f, NULL, real, &p, e);
        plan_us[n] = now_us() - start;
        start = now_us();
        ok = ok && format_pack(&m->csr, f, NULL, real, true, &S, e);
        us[n++] = now_us() - start;
        stored_free(&S);
        if (!ok) return false;
    } while (reps != 1 && n < TIMES);
    out[PAPER_PACK] = time_of(n, us, device_open("cpu", e));
    out[PAPER_PLAN] = time_of(n, plan_us, out[PAPER_PACK].on);
    return true;
}

/* ---- symmetrization ---- */

static bool run_sym(void *ctx, struct err *e)
{
    return sym_run(ctx, e);
}

/* The first run is not timed, because a GPU loads its kernels in it. */
static bool time_sym(struct sym *v, int n, double *us, struct err *e)
{
    struct device *d = v->o.dev;
    return sym_run(v, e) && d->ops->sync(d, e) && d->ops->time(d, run_sym, v, n, us, e);
}

bool paper_symmetrizing(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of,
                        int reps, struct paper_time *out, struct err *e)
{
    struct sym_options o = {.method = sym_find(of), .dev = d, .whole = true, .watch = &s->watch};
    struct sym *v;
    double us[TIMES];
    int n = reps == 1 ? 1 : TIMES;
    if (!o.method) return fail(e, E_INPUT, "`%s` is not a method of symmetrization", of);
    if (d->kind == DEV_EMU) o.dev = device_open("cpu", e);
    if (!o.dev || !sym_begin(&v, &m->csr, &o, e)) return false;
    bool ok = time_sym(v, n, us, e);
    sym_free(v);
    if (ok) out[PAPER_SYM] = time_of(n, us, o.dev);
    return ok;
}
