/* Flexible GMRES: with a preconditioner that stays the same, it is gmres; with one that varies, its x is still right
   (Saad 1993), but that of gmres is not. */
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/amg_ops.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>

static const char *const devices[] = {"cpu", "emu"};

/* ---- a preconditioner that multiplies by another number each time it is applied ---- */

static int applied;

static bool make(struct solve *v, struct err *e)
{
    applied = 0;
    return true;
}

static bool apply(struct solve *v, const void *r, void *z, struct err *e)
{
    static const double factors[] = {1, -0.5, 3};
    amg_ops_of(v->dev, v->real)->scale(v->dev, v->n, v->scalars, factors[applied++ % COUNT(factors)], r, z);
    return true;
}

static double bytes(const struct solve *v)
{
    return 2.0 * (double)sizeof(double) * (double)v->n;
}

static const struct precond varies = {
    .name = "varies", .about = "", .symmetric = true, .make = make, .apply = apply, .bytes = bytes};

static double true_residual(const char *solver, const char *device)
{
    struct bed bed;
    struct solve_options o = {.solver = solver_find(solver), .real = P_F64, .tol = 1e-10, .maxit = 60, .m = 60};
    o.pre = &varies;
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {9, 8}});
    bed_solve(&bed, o, device, 1e9);
    double residual = bed.s.solve->result.residual_true;
    bed_free(&bed);
    return residual;
}

TEST(a_varying_preconditioner_leaves_x_right)
{
    for (int d = 0; d < COUNT(devices); d++) {
        assert_true(true_residual("fgmres", devices[d]) <= 1e-10);
        assert_true(!(true_residual("gmres", devices[d]) <= 1e-3));
    }
}

/* ---- the same preconditioner in all iterations ---- */

static int64_t end_of(struct talk *t, const char *line, double *residual)
{
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    *residual = t->s.solve->residual;
    return t->s.solve->iterations;
}

TEST(otherwise_it_is_gmres)
{
    static const char *const rest[] = {"A precond jacobi b random m 7 on cpu maxit 40",
                                       "A precond ilu0 b random m 5 on emu maxit 12",
                                       "A precond ilut b random on cpu",
                                       "A precond jacobi b random m 7 on emu*2 maxit 20",
                                       "A b random m 9 on emu maxit 40",
                                       "C precond ilu0 b random m 3 on cpu maxit 9",
                                       "A precond jacobi b random m 6 f32 on cpu maxit 20"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 17 16 as A; load tests/files/hermitian.mtx as C"));
    for (int i = 0; i < COUNT(rest); i++) {
        char line[120];
        double r[2];
        int64_t n[2];
        for (int k = 0; k < 2; k++) {
            snprintf(line, sizeof line, "solve %s %s", k ? "fgmres" : "gmres", rest[i]);
            n[k] = end_of(&t, line, &r[k]);
        }
        if (n[0] != n[1] || !(fabs(r[0] - r[1]) <= 1e-4 * r[0] + 1e-14))
            fail_msg("%s: %d iterations, %g; gmres: %d, %g", rest[i], (int)n[1], r[1], (int)n[0], r[0]);
    }
    talk_close(&t);
}

SUITE();
