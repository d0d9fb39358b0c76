/* Whole solves of small systems, with launches of a part of an iteration and with launches of many iterations: us an
   iteration, and us from the options to the answer. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "kits/problems.h"
#include "machine/device.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <string.h>

enum { RUNS = 7, ITERATIONS = 1000 };

static const struct problem systems[] = {
    {"grid 25 x 20", "poisson2d", {25, 20}},    {"grid 64 x 64", "poisson2d", {64, 64}},
    {"grid 16^3", "poisson3d", {16}},           {"elements 16 x 16", "fem", {16, 16}},
    {"circuit 4000", "circuit", {4000, 4}},     {"grid 128 x 64", "poisson2d", {128, 64}},
    {"grid 160 x 160", "poisson2d", {160, 160}}};

/* The least total time of RUNS solves. false: such launches are not possible (*refused), or an error. */
static bool time_total(struct session *s, struct solve_options *o, double *us, bool *refused, struct err *e)
{
    *us = INFINITY;
    for (int i = 0; i < RUNS; i++) {
        double start = now_us();
        solve_free(s->solve);
        s->solve = NULL;
        *refused = !session_solve(&s->solve, s, s->current, o, e);
        if (*refused) return false;
        while (s->solve->reason == RUNNING)
            if (!solve_slice(s->solve, 2e4, e)) return false;
        if (!solve_end(s->solve, e)) return false;
        if (now_us() - start < *us) *us = now_us() - start;
    }
    return true;
}

static void print_line(const struct session *s, const struct solve_options *o, double us)
{
    const struct solve *v = s->solve;
    printf("%-10s %6lld %7lld  %-9s %-7s %-4s %-5s %6lld %-16s %8.2f %10.0f ", s->current->info.file,
           (long long)v->matrix.csr->rows, (long long)v->matrix.csr->nnz, v->solver->name, o->pre ? o->pre->name : "-",
           type_name(v->real), cluster_used(v) ? "one" : "many", (long long)v->iterations, reason_name(v->reason),
           v->time.us_iteration, us);
    for (int i = 0; i < v->time.nphases && cluster_used(v); i++)
        printf(" %s %.2f", phase_name(v->time.phase[i].id), v->time.phase[i].us / (double)v->time.phase[i].n);
    printf("\n");
}

static bool bench_solver(struct session *s, struct solve_options *o, struct err *e)
{
    static const enum precision reals[] = {P_F64, P_F32};
    bool refused = false;
    double us;
    for (int r = 0; r < COUNT(reals); r++)
        for (o->launches = LAUNCHES_ONE; o->launches <= LAUNCHES_MANY; o->launches++) {
            o->real = reals[r];
            o->tol = reals[r] == P_F32 ? 1e-4 : 1e-8;
            if (time_total(s, o, &us, &refused, e)) {
                print_line(s, o, us);
            } else if (refused && o->launches == LAUNCHES_ONE) {
                err_clear(e);
            } else {
                return false;
            }
        }
    return true;
}

static bool bench_matrix(struct session *s, struct device *d, struct err *e)
{
    double *b = mem_new(s->current->csr.rows, sizeof *b, "b", e);
    bool ok = b != NULL;
    if (ok) random_fill(b, s->current->csr.rows, 1);
    struct solve_options o = {.dev = d, .b = b, .maxit = ITERATIONS};
    for (int i = 0; ok && solvers[i]; i++) {
        o.solver = solvers[i];
        o.pre = NULL;
        if (!o.solver->steps) continue;
        ok = bench_solver(s, &o, e);
        o.pre = precond_find("jacobi");
        ok = ok && (!cluster_takes_diagonal(o.solver) || bench_solver(s, &o, e));
    }
    mem_free(b);
    return ok;
}

static bool bench_all(struct session *s, struct device *d, struct err *e)
{
    for (int i = 0; i < COUNT(systems); i++) {
        if (!problem_open(s, &systems[i], e)) return false;
        if (!bench_matrix(s, d, e)) return false;
        session_drop(s, s->current);
    }
    return true;
}

int main(void)
{
    struct session s;
    struct err e = {0};
    struct device *d = device_open(device_count(DEV_CUDA) ? "cuda:0" : "cpu", &e);
    bool ok = d && session_new(&s, stdout, stderr, OUT_TEXT, &e);
    if (ok) {
        printf("%s: %s\n", d->name, d->about);
        printf(
            "rows, nonzeros, iterations, us per iteration, us of the whole solve; for one launch, us of its parts\n");
        ok = bench_all(&s, d, &e);
        session_free(&s);
    }
    if (!ok) fprintf(stderr, "bench_small: %s\n", e.text);
    devices_close();
    return !ok;
}
