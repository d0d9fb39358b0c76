/* Iterative refinement: inner solves in fp32, with values stored in fp32, fp16 or bf16; residual and x in fp64. Every
   solver that refines, on cpu and emu: accurate results, bit-identical steps back, changes midway, and a plain sentence
   where the precision does not suffice. */
#include "base/mem.h"
#include "gpu/emu/emu.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>

static const char *const stored[] = {"fp32", "fp16", "bf16"};
static const char *const devices[] = {"cpu", "emu"};

static const struct solve *ended(struct talk *t, const char *line)
{
    talk_forget(t);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    assert_non_null(t->s.solve);
    assert_true(t->s.solve->reason != RUNNING);
    return t->s.solve;
}

/* ||b - A x|| / ||b|| */
static double residual_of(const struct solve *v)
{
    double *r = mem_new(v->n, sizeof *r, "r", NULL);
    memcpy(r, v->b, (size_t)v->n * sizeof *r);
    reference_spmv(v->matrix.csr, -1, v->result.x, 1, r, P_F64, NULL);
    double norm = norm2(v->n, r) / v->b_norm;
    mem_free(r);
    return norm;
}

static void check_converged(const struct solve *v, double tol, const char *line)
{
    if (v->reason != CONVERGED) fail_msg("%s: %s", line, v->why);
    double r = residual_of(v);
    if (!(r <= tol * 1.01)) fail_msg("%s: the residual is %g", line, r);
    if (!(fabs(v->result.residual_true - r) <= 1e-3 * r + 1e-15)) fail_msg("%s: not %g", line, v->result.residual_true);
    if (!(fabs(v->refine.now.residual - r) <= 1e-3 * r + 1e-15)) fail_msg("%s: outer %g", line, v->refine.now.residual);
    assert_true(v->refine.now.n >= 1);
    assert_int_equal(v->history.ntruth, v->refine.now.n);
}

/* tol lies far below what fp32 can reach. */
TEST(every_solver_reaches_digits_of_fp64)
{
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 12 as A"));
    for (int i = 0; solvers[i]; i++)
        for (int k = 0; k < COUNT(stored) && solvers[i]->refines; k++)
            for (int d = 0; d < COUNT(devices); d++) {
                snprintf(line, sizeof line, "solve %s A refine %s on %s tol 1e-13", solvers[i]->name, stored[k],
                         devices[d]);
                const struct solve *v = ended(&t, line);
                check_converged(v, 1e-13, line);
                assert_true(v->result.error_known < 1e-10);
                assert_non_null(strstr(t.out, "refined "));
            }
    talk_close(&t);
}

TEST(others_are_refused)
{
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 4 as A"));
    for (int i = 0; solvers[i]; i++) {
        if (solvers[i]->refines) continue;
        snprintf(line, sizeof line, "solve %s A refine fp32 on cpu", solvers[i]->name);
        talk_refuses(&t, line, "does not refine: `refine` is for cg, minres, bicgstab and qmrcgstab");
    }
    talk_refuses(&t, "solve direct A refine fp32", "`refine`");
    assert_true(talk_line(&t, "load tests/files/hermitian.mtx as H"));
    talk_refuses(&t, "solve cg H refine bf16 on cpu", "complex values are not stored in bf16; use `refine fp32`");
    const struct solve *v = ended(&t, "solve cg H refine fp32 on cpu tol 1e-12");
    assert_int_equal(v->reason, CONVERGED);
    talk_close(&t);
}

TEST(preconditioners_and_formats_go_together_with_it)
{
    static const char *const lines[] = {
        "solve cg A refine fp32 precond jacobi on cpu tol 1e-12",
        "solve cg A refine bf16 precond ic0 on cpu tol 1e-12",
        "solve bicgstab A refine fp32 precond ilu0 on cpu tol 1e-12",
        "solve qmrcgstab A refine fp32 precond bjacobi on cpu tol 1e-12",
        "solve minres A refine fp32 precond jacobi on cpu tol 1e-12",
        "solve cg A refine fp32 using ell on cpu tol 1e-12",
        "solve cg A refine fp16 using sell on emu tol 1e-12",
        "solve cg A refine fp32 x0 random b random on cpu tol 1e-12",
        "solve cg A refine fp32 sums host on emu tol 1e-12",
    };
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 14 as A"));
    for (int i = 0; i < COUNT(lines); i++) check_converged(ended(&t, lines[i]), 1e-12, lines[i]);
    talk_close(&t);
}

/* cg keeps its direction: the iterations are not many more than in fp64. If cg started again, they would be half as
   many again. */
TEST(cg_does_not_start_again)
{
    static const char *const sides[] = {"", "b random"};
    static const double least[] = {0.62, 0.54, 0.54};
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 40 as A"));
    for (int s = 0; s < COUNT(sides); s++)
        for (int d = 0; d < COUNT(devices); d++)
            for (int p = 0; p < 2; p++) {
                const char *jacobi = p ? "precond jacobi" : "";
                snprintf(line, sizeof line, "solve cg A f64 on %s %s %s", devices[d], sides[s], jacobi);
                int64_t fp64 = ended(&t, line)->iterations;
                for (int k = 0; k < COUNT(stored); k++) {
                    snprintf(line, sizeof line, "solve cg A refine %s on %s %s %s", stored[k], devices[d], sides[s],
                             jacobi);
                    const struct solve *v = ended(&t, line);
                    check_converged(v, 1e-8, line);
                    if (5 * v->iterations > 6 * fp64)
                        fail_msg("%s: %lld, not %lld", line, (long long)v->iterations, (long long)fp64);
                    if (!p) assert_true(solve_bytes(v) < least[k] * solve_bytes_fp64(v));
                }
            }
    talk_close(&t);
}

/* The launches of an iteration on the emulator, after the set-up of kernels. */
static int64_t launches_of(struct talk *t, const char *line)
{
    struct err e = {0};
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    struct solve *v = t->s.solve;
    assert_true(v->solver->step(v, &e));
    int64_t before = emu_launches();
    assert_true(v->solver->step(v, &e) && v->solver->step(v, &e));
    return (emu_launches() - before) / 2;
}

/* With every type of stored values, the passes of cg are those of cg in fp64. */
TEST(cg_has_no_more_launches)
{
    static const char *const formats[] = {"csr", "dia"}, *const preconds[] = {"", "precond jacobi"};
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20 as A"));
    for (int i = 0; i < COUNT(formats); i++)
        for (int p = 0; p < COUNT(preconds); p++) {
            snprintf(line, sizeof line, "solve cg A using %s on emu step %s", formats[i], preconds[p]);
            int64_t plain = launches_of(&t, line);
            assert_int_equal(plain, 2);
            for (int k = 0; k < COUNT(stored); k++) {
                snprintf(line, sizeof line, "solve cg A using %s on emu step refine %s %s", formats[i], stored[k],
                         preconds[p]);
                if (launches_of(&t, line) != plain) fail_msg("%s: not %lld launches", line, (long long)plain);
            }
        }
    talk_close(&t);
}

/* Step past refinements and go back before them: every residual is the same bit for bit. */
TEST(steps_go_back_across_refinements)
{
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 as A"));
    for (int i = 0; solvers[i]; i++)
        for (int d = 0; d < COUNT(devices) && solvers[i]->refines; d++) {
            enum { STEPS = 24, BACK = 20 };
            double before[STEPS + 1], x[100], again[100];
            struct err e = {0};
            snprintf(line, sizeof line, "solve %s A refine fp32 on %s tol 1e-13 step; step %d", solvers[i]->name,
                     devices[d], STEPS);
            if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
            struct solve *v = t.s.solve;
            if (v->reason != RUNNING) fail_msg("%s: ended after %lld", line, (long long)v->iterations);
            assert_true(v->refine.now.n >= 1);
            assert_true(solve_read_x(v, x, &e));
            int64_t n = v->refine.now.n;
            for (int k = 0; k <= STEPS; k++) before[k] = v->history.residual[k];
            snprintf(line, sizeof line, "back %d", BACK);
            assert_true(talk_line(&t, line));
            assert_int_equal(v->iterations, STEPS - BACK);
            assert_int_equal(v->refine.now.n, 0);
            snprintf(line, sizeof line, "step %d", BACK);
            assert_true(talk_line(&t, line));
            assert_int_equal(v->refine.now.n, n);
            for (int k = 0; k <= STEPS; k++)
                if (before[k] != v->history.residual[k]) fail_msg("%s %s: %d", solvers[i]->name, devices[d], k);
            assert_true(solve_read_x(v, again, &e));
            assert_memory_equal(x, again, sizeof x);
            assert_true(talk_line(&t, "continue"));
            check_converged(t.s.solve, 1e-13, line);
        }
    talk_close(&t);
}

/* The factor by which refinement k multiplied the residual. */
static double gain_of(const struct solve *v, int64_t k)
{
    return v->history.truth[k].residual / (k ? v->history.truth[k - 1].residual : 1);
}

/* An inner solve ends at the first residual below its aim: cg, which loses nothing by an update, aims at a tenth, the
   others at a hundredth. The values 4 and -1 are the same in every type, so each aim is reached. The last inner solve
   ends at tol. */
TEST(inner_solves_reach_their_aim)
{
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 40 as A"));
    for (int i = 0; solvers[i]; i++)
        for (int k = 0; k < COUNT(stored) && solvers[i]->refines; k++) {
            double aim = strcmp(solvers[i]->name, "cg") ? 1e-2 : 1e-1;
            snprintf(line, sizeof line, "solve %s A refine %s on cpu tol 1e-13 b random", solvers[i]->name, stored[k]);
            const struct solve *v = ended(&t, line);
            check_converged(v, 1e-13, line);
            assert_true(v->history.ntruth >= (aim < 0.05 ? 6 : 12));
            for (int64_t r = 0; r < v->history.ntruth - 1; r++)
                if (!(gain_of(v, r) > aim / 5 && gain_of(v, r) < 1.05 * aim))
                    fail_msg("%s: refinement %d multiplies the residual by %g", line, (int)r, gain_of(v, r));
        }
    talk_close(&t);
}

/* Rounded to bf16, the values of this matrix are too far from A for a hundredth: the second inner solve leaves more
   than a tenth, so the next ones aim at a tenth, which takes about half as many iterations. */
TEST(a_missed_aim_is_raised)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen fem 32 as A"));
    const struct solve *v = ended(&t, "solve minres A refine bf16 on cpu tol 1e-10 b random");
    check_converged(v, 1e-10, "minres");
    const struct truth *at = v->history.truth;
    assert_true(gain_of(v, 0) < 0.1 && gain_of(v, 1) > 0.1);
    int64_t missed = at[1].iteration - at[0].iteration;
    for (int64_t r = 2; r < v->history.ntruth; r++)
        if (3 * (at[r].iteration - at[r - 1].iteration) > 2 * missed)
            fail_msg("refinement %d after %d iterations, not %d", (int)r, (int)(at[r].iteration - at[r - 1].iteration),
                     (int)missed);
    talk_close(&t);
}

TEST(settings_change_midway)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 12 as A"));
    talk_says(&t, "solve cg A refine fp32 on cpu step; step 20; change tol 1e-12; continue", "converged      yes");
    check_converged(t.s.solve, 1e-12, "change tol");
    talk_says(&t, "solve cg A refine fp32 on cpu step; step 20; change precond jacobi; continue",
              "converged       yes");
    assert_true(residual_of(t.s.solve) <= 1.01e-8);
    talk_says(&t, "solve cg A refine fp32 on cpu; change tol 1e-13; continue", "converged      yes");
    assert_true(residual_of(t.s.solve) <= 1.01e-13);
    talk_says(&t, "solve bicgstab A refine fp32 on emu step; step 9; stop", "stopped");
    assert_true(fabs(residual_of(t.s.solve) - t.s.solve->result.residual_true) < 1e-12);
    talk_says(&t, "solve cg A refine fp32 on cpu maxit 12", "limit of 12 iterations");
    assert_true(fabs(residual_of(t.s.solve) - t.s.solve->residual) < 1e-3 * t.s.solve->residual);
    talk_close(&t);
}

/* n x n, 1 / (i + j + 1): condition about 1e10 for n = 8. diagonal: 1, ..., 10^-digits */
static const char *ill_file(const char *name, int n, int digits)
{
    char text[8192];
    int at =
        snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real symmetric\n%d %d %d\n", n, n, 2 * n - 1);
    for (int i = 0; i < n; i++) {
        double d = pow(10, -(double)digits * i / (n - 1));
        at += snprintf(text + at, sizeof text - (size_t)at, "%d %d %.17g\n", i + 1, i + 1, d);
        if (i)
            at += snprintf(text + at, sizeof text - (size_t)at, "%d %d %.17g\n", i + 1, i,
                           0.9 * sqrt(d * pow(10, -(double)digits * (i - 1) / (n - 1))) / 2);
    }
    return write_file(name, text, (size_t)at);
}

TEST(too_large_a_condition_is_said)
{
    /* the reciprocals of the distances from 1 to the next number: 2^23, 2^10 and 2^7 */
    static const char *const limits[] = {"above 8e+06, too large for fp32", "above 1e+03, too large for fp16",
                                         "above 1e+02, too large for bf16"};
    struct talk t;
    char line[300];
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s as K", ill_file("ill.mtx", 40, 12));
    assert_true(talk_line(&t, line));
    for (int k = 0; k < COUNT(stored); k++) {
        snprintf(line, sizeof line, "solve cg K refine %s b random on cpu maxit 100000", stored[k]);
        const struct solve *v = ended(&t, line);
        if (v->reason == CONVERGED) fail_msg("%s: %s", line, v->why);
        char with[40];
        snprintf(with, sizeof with, "with values in %s", stored[k]);
        if (!strstr(v->why, with)) fail_msg("%s: %s", line, v->why);
        if (!strstr(v->why, limits[k])) fail_msg("%s: %s", line, v->why);
        if (!strstr(v->next, k ? "refine fp32" : "f64")) fail_msg("%s: try %s", line, v->next);
    }
    talk_close(&t);
}

/* cg diverges on a matrix that is not symmetric. x stays as it was, and the sentence is about the inner solve, not
   about a residual that grew: that of x has not. */
TEST(an_inner_solve_that_diverges_spoils_no_x)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 1000 4 as A"));
    const struct solve *v = ended(&t, "solve cg A b random refine fp32 on cpu maxit 3000");
    assert_int_equal(v->reason, STAGNATED);
    assert_non_null(strstr(v->why, "stagnated: the inner solves with values in fp32 no longer correct x"));
    assert_true(residual_of(v) <= 1);
    talk_close(&t);
}

TEST(every_failing_allocation_is_reported)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 6 as A; solve cg A refine fp32 on cpu"));
    for (int64_t nth = 1;; nth++) {
        mem_fail_at(nth);
        bool ok = talk_line(&t, "solve cg A refine fp32 on cpu tol 1e-12");
        mem_fail_at(0);
        if (ok) break;
        if (!strstr(t.err, "memory")) fail_msg("allocation %d: %s", (int)nth, t.err);
        talk_forget(&t);
        assert_true(nth < 500);
    }
    talk_close(&t);
}

SUITE(.teardown = tidy);
