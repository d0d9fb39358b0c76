/* Time per iteration of each solver, compared with the time to move the bytes of an iteration at the measured bandwidth
   of the device. */
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "kits/problems.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <string.h>

enum { RUNS = 3 };

static const struct {
    struct problem of;
    int64_t iterations;
} systems[] = {
    {{"grid 1000 x 999", "poisson2d", {1000, 999}}, 1000},
    {{"grid 128^3", "poisson3d", {128}}, 1000},
    {{"grid 64 x 64", "poisson2d", {64, 64}}, 4000},
};

/* The best of a few runs, by the total time of all iterations. */
static bool time_solve(struct session *s, struct solve_options *o, double *us, struct solve **last, struct err *e)
{
    *us = 0;
    for (int i = 0; i < RUNS; i++) {
        solve_free(s->solve);
        s->solve = NULL;
        if (!session_solve(&s->solve, s, s->current, o, e)) return false;
        while (s->solve->reason == RUNNING)
            if (!solve_slice(s->solve, 2e4, e)) return false;
        if (i == 0 || s->solve->time.us_iteration < *us) *us = s->solve->time.us_iteration;
    }
    *last = s->solve;
    return true;
}

static void print_line(const struct solve *v, double us, double gbs)
{
    double bytes = v->solver->bytes(v->matrix.csr, type_size(v->real), v->set.m),
           bound = gbs > 0 ? bytes / gbs * 1e-3 : 0;
    printf("%-10s %10lld %10lld  %-7s %-4s %-11s %9.2f %9.2f %6.2f ", v->matrix.name, (long long)v->n,
           (long long)v->matrix.csr->nnz, v->solver->name, type_name(v->real), v->matrix.kernel->name, us, bound,
           bound > 0 ? us / bound : 0);
    for (int i = 0; i < v->time.nphases; i++)
        printf(" %s %.1f", phase_name(v->time.phase[i].id),
               v->time.phase[i].n ? v->time.phase[i].us / (double)v->time.phase[i].n : 0);
    printf("\n");
}

/* Time one solver with one kernel, in both precisions. */
static bool bench_solver(struct session *s, struct solve_options *o, struct err *e)
{
    static const enum precision reals[] = {P_F64, P_F32};
    struct solve *last = NULL;
    double us;
    for (int r = 0; r < COUNT(reals); r++) {
        o->real = reals[r];
        if (!time_solve(s, o, &us, &last, e)) return false;
        print_line(last, us, o->dev->ceilings.read_gbs);
    }
    return true;
}

/* Is the kernel timed with this solver? The default kernel of CSR is timed with every solver, and some other kernels
   with cg only. */
static bool wanted(const struct solver *s, const struct kernel *k, const struct csr *A, const struct device *d)
{
    static const char *const others[] = {"csr-scalar", "csr-merge", "dia", "dia-symmetric", "cusparse-csr1-prep"};
    if (k == kernel_default(format_find("csr"), A, d)) return true;
    for (int i = 0; i < COUNT(others); i++)
        if (!strcmp(s->name, "cg") && !strcmp(k->name, others[i])) return kernel_runs_on(k, d);
    return false;
}

static bool bench_matrix(struct session *s, struct device *d, int64_t iterations, struct err *e)
{
    double *b = mem_new(s->current->csr.rows, sizeof *b, "b", e);
    bool ok = b != NULL;
    if (ok) random_fill(b, s->current->csr.rows, 1);
    struct solve_options o = {.dev = d, .b = b, .maxit = iterations, .force = true};
    for (int i = 0; ok && solvers[i]; i++)
        for (int k = 0; ok && kernels[k]; k++) {
            o.solver = solvers[i];
            o.kernel = kernels[k];
            ok = !wanted(solvers[i], kernels[k], &s->current->csr, d) || bench_solver(s, &o, e);
        }
    mem_free(b);
    return ok;
}

static bool bench_all(struct session *s, struct device *d, struct err *e)
{
    int shorter = d->kind == DEV_CUDA ? 1 : 20;
    for (int i = 0; i < COUNT(systems); i++) {
        if (!problem_open(s, &systems[i].of, e)) return false;
        if (!bench_matrix(s, d, systems[i].iterations / shorter, e)) return false;
        session_drop(s, s->current);
    }
    return true;
}

int main(void)
{
    struct session s;
    struct err e = {0};
    struct device *d = device_open(device_count(DEV_CUDA) ? "cuda:0" : "cpu", &e);
    bool ok = d && session_new(&s, stdout, stderr, OUT_TEXT, &e) && device_ceilings(d, NULL, &e);
    if (ok) {
        printf("%s: %s; reads %.0f GB/s, a launch takes %.2f us\n", d->name, d->about, d->ceilings.read_gbs,
               d->ceilings.launch_us);
        printf("us per iteration, the bound by bytes, how many times that, then each phase when waited for\n");
        ok = bench_all(&s, d, &e);
        session_free(&s);
    }
    if (!ok) fprintf(stderr, "bench_solve: %s\n", e.text);
    devices_close();
    return !ok;
}
