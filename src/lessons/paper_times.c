/* For paper.c: time one iteration of a solver, on a device and on one thread of the host, and time dense LU. */
#include "paper_times.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "lu/lu.h"
#include "session/matrix.h"
#include "base/loop.h"
#include "base/mem.h"
#include "matrix/random.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { CYCLE = 10, CYCLES_GPU = 20, DEFAULT_M = 30 };

/* Turn a failure that concerns only this row into E_UNSUPPORTED, which does not end the lesson. */
static bool refused(const struct err *why, struct err *e)
{
    enum code code = why->code == E_NUMERIC || why->code == E_USAGE ? E_UNSUPPORTED : why->code;
    return fail_at(e, code, why->where, "%s", why->text);
}

/* ---- solvers ---- */

/* Read a solver with its settings, for example "gmres 30 sums host". */
static bool read_solver(const char *of, struct solve_options *o, struct err *e)
{
    char name[32] = "", rest[32] = "";
    long long m = 0;
    int at = 0;
    sscanf(of, "%31s %n", name, &at);
    if (sscanf(of + at, "%lld %n", &m, &(int){0}) == 1) at += (int)strspn(of + at, "0123456789 ");
    snprintf(rest, sizeof rest, "%s", of + at);
    o->solver = solver_find(name);
    o->sums_host = !strcmp(rest, "sums host");
    if (!o->solver || (*rest && !o->sums_host))
        return fail(e, E_INPUT, "`%s` is not a solver: write, for example, jacobi, gmres 30 or gmres 30 sums host", of);
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

/* Run one cycle to warm up, then time a second cycle. */
static bool time_host(struct solve *v, int64_t cycle, int reps, double *us, struct err *e)
{
    if (reps != 1 && !iterate(v, cycle, e)) return false;
    double before = v->time.us;
    int64_t done = v->iterations;
    if (!iterate(v, reps == 1 ? 1 : cycle, e)) return false;
    if (v->iterations == done) before = 0, done = 0; /* the solve ended in the first cycle */
    *us = (v->time.us - before) / (double)(v->iterations - done);
    return true;
}

/* The time between two events, measured by the device's clock; this time does not include waits on the host. */
static bool time_gpu(struct solve *v, double *us, struct err *e)
{
    while (v->reason == RUNNING)
        if (!solve_slice(v, 1e5, e)) return false;
    *us = v->time.us_iteration;
    return true;
}

static bool time_solver(struct session *s, struct matrix *m, const struct solve_options *o, int reps, double *us,
                        struct err *e)
{
    struct solve_options options = *o;
    struct solve *v;
    struct err why = {0};
    int64_t cycle = o->solver->restarts ? o->m : CYCLE;
    bool gpu = o->dev->kind == DEV_CUDA;
    options.maxit = reps == 1 && !gpu ? 1 : (gpu ? CYCLES_GPU : 2) * cycle;
    if (!session_solve(&v, s, m, &options, &why)) return refused(&why, e);
    bool ok = gpu ? time_gpu(v, us, e) : time_host(v, cycle, reps, us, e);
    if (ok && v->iterations < 1)
        ok = fail(e, E_UNSUPPORTED, "%s completed no iteration that could be timed: the solve %s", o->solver->name,
                  reason_name(v->reason));
    solve_free(v);
    return ok;
}

static bool time_both(struct session *s, struct matrix *m, struct device *d, struct solve_options *o, int reps,
                      struct paper_times *out, struct err *e)
{
    int threads = omp_get_max_threads();
    o->dev = d;
    if (!time_solver(s, m, o, reps, &out->device_us, e)) return false;
    o->dev = device_open("cpu", e);
    o->kernel = kernel_find("csr-serial");
    o->sums_host = false;
    omp_set_num_threads(1);
    bool ok = o->dev && time_solver(s, m, o, reps, &out->thread_us, e);
    omp_set_num_threads(threads);
    return ok;
}

bool paper_solver(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                  struct paper_times *out, struct err *e)
{
    struct solve_options o = {.real = real, .force = true};
    uint64_t state = 1;
    *out = (struct paper_times){NAN, NAN, NAN, NAN};
    if (!read_solver(of, &o, e)) return false;
    if (d->kind == DEV_EMU) return true;
    double *b = mem_new(m->csr.rows, sizeof *b, "the right side", e);
    for (int64_t i = 0; b && i < m->csr.rows; i++) b[i] = random_unit(&state);
    o.b = b;
    bool ok = b && time_both(s, m, d, &o, reps, out, e);
    mem_free(b);
    return ok;
}

/* ---- dense LU ---- */

bool paper_factor(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                  struct paper_times *out, struct err *e)
{
    struct lu_options o = {.method = lu_find(of), .real = real, .watch = &s->watch};
    struct lu *v;
    struct err why = {0};
    double spread;
    *out = (struct paper_times){NAN, NAN, NAN, NAN};
    if (!o.method) return fail(e, E_INPUT, "`%s` is not an LU method: write, for example, lu-serial or lu-paper", of);
    if (d->kind == DEV_EMU) return true;
    o.dev = o.method->host ? device_open("cpu", e) : d;
    if (!o.dev) return false;
    if (!lu_runs_on(o.method, o.dev)) return fail(e, E_UNSUPPORTED, "%s does not run on %s", of, o.dev->name);
    if (!lu_begin(&v, &m->csr, &o, &why)) return refused(&why, e);
    bool ok = lu_time(v, reps, &out->factor_us, &spread, &why) && lu_measure(v, &why);
    if (ok) out->solve_us = out->factor_us + v->solve_us;
    lu_free(v);
    return ok || refused(&why, e);
}
