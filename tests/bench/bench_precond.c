/* Preconditioners: the time to make each preconditioner, and the time to apply it, compared with the time to move its
   bytes at the measured bandwidth of the device; and how many iterations it saves a solver.

   Usage: bench_precond
          bench_precond ways [FILE | "GENERATOR PARAMS"]...: the triangles of ilu0 in the order of the matrix and by
   colours, solved level by level and sync-free: the time of both triangles beside the predicted one. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "kits/problems.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/random.h"
#include "matrix/reorder.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/level_schedule.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solve_state.h"
#include "solvers/solver.h"
#include "solvers/triangles.h"

#include <stdlib.h>
#include <string.h>

enum { REPS = 20 };

static const struct problem systems[] = {{"grid 1000 x 999", "poisson2d", {1000, 999}},
                                         {"grid 100^3", "poisson3d", {100}},
                                         {"elements 300 x 300", "fem", {300, 300}}};

struct applied {
    struct solve *v;
    void *r, *z;
};

static bool go(void *ctx, struct err *e)
{
    struct applied *a = ctx;
    return a->v->pre.method->apply(a->v, a->r, a->z, e);
}

/* The median time, after a few warm-up runs. */
static bool time_apply(struct solve *v, double *us, struct err *e)
{
    double all[REPS];
    struct applied a = {v, v->vec[1], v->vec[VEC_Z]};
    if (!solve_set(v, S_DONE, RUNNING, e) || !v->dev->ops->time(v->dev, go, &a, 3, all, e)) return false;
    if (!v->dev->ops->time(v->dev, go, &a, REPS, all, e)) return false;
    *us = times_median(REPS, all, NULL);
    return true;
}

static void say(const struct solve *v, const char *how, double us)
{
    double gbs = v->dev->ceilings.read_gbs, bound = v->pre.method && gbs > 0 ? v->pre.method->bytes(v) / gbs * 1e-3 : 0;
    bool levels = v->pre.method && (!strcmp(v->pre.method->name, "ilu0") || !strcmp(v->pre.method->name, "ic0"));
    printf("%-10s %-7s %-8s%-9s %-4s %9.1f %10.2f %9.2f %8lld %8lld %10.1f %s\n", v->matrix.name, v->solver->name,
           v->pre.method ? v->pre.method->name : "none", how, type_name(v->real), v->pre.us / 1000, us, bound,
           levels ? (long long)v->pre.note[TRI_LEVELS_LOWER] : 0LL, (long long)v->iterations,
           v->time.us_iteration * (double)v->iterations / 1000, reason_name(v->reason));
    fflush(stdout);
}

/* Begin a solve, time the preconditioner, then run the solve to its end. */
static bool bench_one(struct session *s, const struct solve_options *o, const char *how, struct err *e)
{
    double us = 0;
    solve_free(s->solve);
    s->solve = NULL;
    if (!session_solve(&s->solve, s, s->current, o, e)) return false;
    if (o->pre && !time_apply(s->solve, &us, e)) return false;
    solve_free(s->solve);
    s->solve = NULL;
    if (!session_solve(&s->solve, s, s->current, o, e)) return false;
    while (s->solve->reason == RUNNING)
        if (!solve_slice(s->solve, 2e4, e)) return false;
    say(s->solve, how, us);
    return true;
}

/* A preconditioner that cannot be made is reported and skipped. */
static bool bench_or_skip(struct session *s, const struct solve_options *o, const char *how)
{
    struct err e = {0};
    if (bench_one(s, o, how, &e)) return true;
    printf("%-10s %-7s %-8s %s\n", s->current->name, o->solver->name, o->pre ? o->pre->name : "none", e.text);
    return e.code == E_NUMERIC;
}

static bool bench_matrix(struct session *s, struct device *d)
{
    static const enum precision reals[] = {P_F64, P_F32};
    static const char *const names[] = {"cg", "bicgstab"};
    struct err e = {0};
    int64_t n = s->current->csr.rows;
    double *b = mem_new(n, sizeof *b, "b", &e);
    bool ok = b != NULL;
    if (ok) random_fill(b, n, 1);
    for (int k = 0; ok && k < COUNT(names) * COUNT(reals); k++) {
        struct solve_options o = {.dev = d, .b = b, .solver = solver_find(names[k / 2]), .real = reals[k % 2]};
        o.tol = o.real == P_F64 ? 1e-8 : 1e-4;
        o.maxit = 10000;
        ok = bench_or_skip(s, &o, "");
        for (int i = 0; ok && preconds[i]; i++) {
            o.pre = preconds[i];
            ok = bench_or_skip(s, &o, "");
            if (!ok || preconds[i]->name[0] != 'i' || d->kind == DEV_CPU) continue;
            level_schedule_hook(0);
            ok = bench_or_skip(s, &o, ", separate");
            level_schedule_hook(-1);
        }
    }
    mem_free(b);
    return ok;
}

/* ---- the ways to solve triangles ---- */

static const struct {
    const char *name, *order; /* order NULL: of the matrix */
    enum triangle_way way;
} ways[] = {{"natural, levels", NULL, TRIANGLES_LEVELS},
            {"natural, sync-free", NULL, TRIANGLES_SYNC_FREE},
            {"colours, levels", "colours", TRIANGLES_LEVELS},
            {"colours, sync-free", "colours", TRIANGLES_SYNC_FREE}};

/* A matrix that has no factors is reported and skipped. */
static bool bench_way(struct session *s, struct solve_options *o, int way, struct err *e)
{
    const char *order = ways[way].order;
    double us;
    o->triangles = (struct triangle_settings){.way = ways[way].way, .natural = !order};
    if (order) o->triangles.order = ordering_find(order);
    solve_free(s->solve);
    s->solve = NULL;
    struct err why = {0};
    if (!session_solve(&s->solve, s, s->current, o, &why)) {
        printf("# %s, %s: %s\n", s->current->name, ways[way].name, why.text);
        return why.code == E_NUMERIC || fail(e, why.code, "%s", why.text);
    }
    const struct solve *v = s->solve;
    if (!time_apply(s->solve, &us, e)) return false;
    int64_t predicted = v->pre.note[ways[way].way == TRIANGLES_LEVELS ? TRI_LEVELS_US : TRI_FREE_US];
    printf("%-16s %9lld %6.1f %-18s %7lld %9lld %9.1f %6.2f\n", s->current->name, (long long)v->n,
           (double)v->matrix.csr->nnz / (double)v->n, ways[way].name,
           (long long)(v->pre.note[TRI_LEVELS_LOWER] + v->pre.note[TRI_LEVELS_UPPER]), (long long)predicted, us,
           (double)predicted / us);
    fflush(stdout);
    return true;
}

static bool bench_ways(struct session *s, struct device *d, char **names, struct err *e)
{
    bool ok = true;
    for (; ok && *names; names++) {
        char line[4200];
        snprintf(line, sizeof line, strchr(*names, ' ') ? "gen %s" : "load \"%s\"", *names);
        if (!run_line(s, line)) return fail(e, E_INPUT, "`%s` failed", line);
        double *b = mem_new(s->current->csr.rows, sizeof *b, "b", e);
        struct solve_options o = {.dev = d, .b = b, .solver = solver_find("bicgstab"), .real = P_F64, .tol = 1e-8};
        o.pre = precond_find("ilu0");
        ok = b != NULL;
        if (ok) random_fill(b, s->current->csr.rows, 1);
        for (int i = 0; ok && i < COUNT(ways); i++) ok = bench_way(s, &o, i, e);
        mem_free(b);
        session_drop(s, s->current);
    }
    return ok;
}

static bool bench_all(struct session *s, struct device *d, struct err *e)
{
    for (int i = 0; i < COUNT(systems); i++) {
        if (!problem_open(s, &systems[i], e)) return false;
        if (!bench_matrix(s, d)) return fail(e, E_DEVICE, "a preconditioner could not be timed");
        session_drop(s, s->current);
    }
    return true;
}

int main(int argc, char **argv)
{
    struct session s;
    struct err e = {0};
    struct device *d = device_open(device_count(DEV_CUDA) ? "cuda:0" : argc > 1 ? "emu" : "cpu", &e);
    bool ok = d && session_new(&s, stdout, stderr, OUT_TEXT, &e) && device_ceilings(d, NULL, &e);
    if (ok && argc > 1) {
        printf("matrix, rows, entries per row, order and way, levels; us of both triangles: predicted, measured\n");
        ok = bench_ways(&s, d, argv + 2, &e);
        session_free(&s);
    } else if (ok) {
        printf("%s: %s; reads %.0f GB/s\n", d->name, d->about, d->ceilings.read_gbs);
        printf("apart: a launch for each level. ms to make it, us to apply it, the bound by bytes, levels; iterations "
               "and ms of the solve\n");
        ok = bench_all(&s, d, &e);
        session_free(&s);
    }
    if (!ok) fprintf(stderr, "bench_precond: %s\n", e.text);
    devices_close();
    return !ok;
}
