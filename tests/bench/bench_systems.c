/* Whole solves of symmetric positive definite systems by cg, alone and with each preconditioner, and by a direct solver
   on the host: iterations, us per iteration, the set-up, the total from the options to the answer, and the total
   relative to that of cg alone. The least total of a few solves counts, because the first one also loads code. A
   direct solve of more than FLOPS_MAX is planned, but not run.

   Usage: bench_systems [on DEVICE] [FILE...]; without files, also ten real matrices of the folder that WARPSPY_MATRICES
   names. */
#include "base/array.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "direct/direct.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 3 };
static const double TOL = 1e-8, LONG_US = 2e6; /* a longer solve runs once */
static const double FLOPS_MAX = 2e11;

/* each line makes the system that it leaves as the current matrix */
static const struct {
    const char *name, *line;
} systems[] = {{"poisson2d 1000", "gen poisson2d 1000"},
               {"poisson3d 128", "gen poisson3d 128"},
               {"fem 200", "gen fem 200"},
               {"circuit 200000", "gen circuit 200000 4; let S = circuit + circuit'"}};
/* symmetric positive definite, from structures, power networks, finite elements and model reduction */
static const char *const real[] = {"1138_bus", "685_bus",  "nos3",     "nos5",     "bcsstk08",
                                   "bcsstk16", "bcsstk18", "s1rmq4m1", "Dubcova1", "rail_79841"};

struct bench {
    struct session s;
    struct device *dev;
    struct right_sides right;
    double plain_us;
};

static bool iterate(struct bench *b, struct solve_options *o, struct solve **v, double *us, struct err *e)
{
    double start = steady_us();
    bool ok = session_solve(v, &b->s, b->s.current, o, e);
    while (ok && (*v)->reason == RUNNING) ok = solve_slice(*v, 2e4, e);
    ok = ok && solve_end(*v, e);
    *us = steady_us() - start;
    return ok;
}

static void print_solve(const struct bench *b, const char *name, const struct solve *v, double us)
{
    printf("%-16s %9lld %-8s %7lld %12.2f %10.2f %10.2f %8.2f %9.1e %s\n", name, (long long)v->matrix.csr->nnz,
           v->pre.method ? v->pre.method->name : "plain", (long long)v->iterations,
           v->iterations ? v->time.us / (double)v->iterations : 0, v->pre.us / 1e3, us / 1e3, us / b->plain_us,
           v->result.residual_true, reason_name(v->reason));
    fflush(stdout);
}

/* A method that refuses the matrix is reported, and is no error of the benchmark. */
static bool bench_cg(struct bench *b, const char *name, const struct precond *pre, struct err *e)
{
    struct solve_options o = {.dev = b->dev, .solver = solver_find("cg"), .pre = pre, .real = P_F64, .tol = TOL};
    double least = INFINITY;
    o.maxit = 100000;
    o.b = b->right.b;
    o.known_ones = b->right.known_ones;
    for (int i = 0; i < RUNS; i++) {
        struct solve *v = NULL;
        struct err why = {0};
        double us;
        bool ok = iterate(b, &o, &v, &us, &why);
        least = fmin(least, us);
        if (!pre) b->plain_us = least;
        if (ok && (i == RUNS - 1 || us > LONG_US)) print_solve(b, name, v, least);
        if (!ok) printf("%-16s %9s %-8s %s\n", name, "", pre ? pre->name : "plain", why.text);
        solve_free(v);
        if (!ok && (why.code == E_DEVICE || why.code == E_CANCELLED)) return fail(e, why.code, "%s", why.text);
        if (!ok || us > LONG_US) return true;
    }
    return true;
}

static void bench_direct(struct bench *b, const char *name)
{
    struct direct_answer *answer = NULL;
    struct err e = {0};
    struct direct_options o = {.b = b->right.b, .known_ones = b->right.known_ones, .symmetric = true, .tol = TOL};
    o.plan_only = true;
    bool ok = direct_solve(&answer, &b->s.current->csr, &o, &e);
    double start = steady_us();
    if (ok && !(answer->plan.flops > FLOPS_MAX)) {
        direct_answer_free(answer);
        o.plan_only = false;
        ok = direct_solve(&answer, &b->s.current->csr, &o, &e);
    }
    double us = steady_us() - start;
    printf("%-16s %9lld %-8s ", name, (long long)b->s.current->csr.nnz, "direct");
    if (!ok) {
        printf("%s\n", e.text);
        return;
    }
    if (answer->planned)
        printf("not run: %.1e operations, %.1f GB\n", answer->plan.flops, answer->plan.bytes / 1e9);
    else
        printf("%7s %12s %10s %10.2f %8.2f %9.1e %s\n", "-", "-", "-", us / 1e3, us / b->plain_us,
               answer->residual_true, answer->method->name);
    direct_answer_free(answer);
    fflush(stdout);
}

static bool bench_current(struct bench *b, const char *name, struct err *e)
{
    bool ok = right_sides_make(b->s.current, NULL, 1, &b->right, e) && bench_cg(b, name, NULL, e);
    for (int i = 0; ok && preconds[i]; i++)
        if (preconds[i]->symmetric) ok = bench_cg(b, name, preconds[i], e);
    if (ok) bench_direct(b, name);
    right_sides_free(&b->right);
    session_drop(&b->s, b->s.current);
    return ok;
}

static bool bench_file(struct bench *b, const char *path, struct err *e)
{
    char line[4200], name[64];
    const char *slash = strrchr(path, '/');
    snprintf(line, sizeof line, "load \"%s\"", path);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(slash ? slash + 1 : path, "."), slash ? slash + 1 : path);
    if (!run_line(&b->s, line)) return fail(e, E_INPUT, "%s cannot be loaded", path);
    return bench_current(b, name, e);
}

static bool bench_default(struct bench *b, struct err *e)
{
    const char *folder = getenv("WARPSPY_MATRICES");
    bool ok = true;
    for (int i = 0; ok && i < COUNT(systems); i++)
        ok = run_line(&b->s, systems[i].line) ? bench_current(b, systems[i].name, e)
                                              : fail(e, E_INTERNAL, "`%s` failed", systems[i].line);
    if (!folder) printf("# real matrices are skipped: WARPSPY_MATRICES names no folder\n");
    for (int i = 0; ok && folder && i < COUNT(real); i++) {
        char path[4200];
        snprintf(path, sizeof path, "%s/%s.mtx.gz", folder, real[i]);
        ok = bench_file(b, path, e);
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct bench b = {0};
    struct err e = {0};
    FILE *nowhere = fopen("/dev/null", "w");
    bool named = argc > 2 && !strcmp(argv[1], "on");
    b.dev = device_open(named ? argv[2] : device_count(DEV_CUDA) ? "cuda:0" : "cpu", &e);
    bool ok = b.dev && nowhere && session_new(&b.s, nowhere, stderr, OUT_TEXT, &e);
    int first = named ? 3 : 1;
    if (ok) {
        printf("# %s: %s; tol %g\n", b.dev->name, b.dev->about, TOL);
        printf("%-16s %9s %-8s %7s %12s %10s %10s %8s %9s\n", "matrix", "nonzeros", "method", "iter", "us per iter",
               "set-up ms", "total ms", "of plain", "residual");
        if (first == argc) ok = bench_default(&b, &e);
    }
    for (int i = first; ok && i < argc; i++) ok = bench_file(&b, argv[i], &e);
    if (!ok) fprintf(stderr, "bench_systems: %s\n", e.text);
    if (nowhere) fclose(nowhere);
    devices_close();
    return !ok;
}
