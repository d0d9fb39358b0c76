/* Going back in a solve and changing its settings. The tests call the functions for every solver, and run the
   commands. */
#include "base/mem.h"
#include "base/precision.h"
#include "kits/amg_kit.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/complete.h"
#include "machine/device.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "session/session_solve.h"
#include "solvers/amg.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

static const char *const devices[] = {"cpu", "emu"};
static const struct problem grid = {.generator = "poisson2d", .p = {12, 11}};
static const struct solve_change nothing = {.tol = NAN, .omega = NAN, .m = -1, .maxit = -1};

enum { N = 12 * 11, STEPS = 23 };

/* A solve with checkpoints that has begun but has not run any iterations. */
static struct solve *begun_by(struct bed *bed, const char *solver, const struct precond *pre, const char *device,
                              enum precision real, enum solve_launches launches)
{
    static double b[N];
    struct err e = {0};
    uint64_t seed = 9;
    for (int i = 0; i < N; i++) b[i] = random_unit(&seed);
    bed_make(bed, &grid);
    const struct solver *s = solver_find(solver);
    struct solve_options o = {.solver = s,
                              .dev = device_open(device, &e),
                              .real = real,
                              .tol = 1e-14,
                              .maxit = 500,
                              .m = s->restarts ? 7 : 0,
                              .keeps = true,
                              .force = true,
                              .pre = pre,
                              .launches = launches,
                              .b = b};
    if (!session_solve(&bed->s.solve, &bed->s, bed->s.current, &o, &e)) fail_msg("%s: %s", solver, e.text);
    return bed->s.solve;
}

static struct solve *begun_with(struct bed *bed, const char *solver, const struct precond *pre, const char *device,
                                enum precision real)
{
    return begun_by(bed, solver, pre, device, real, LAUNCHES_AUTO);
}

static struct solve *begun(struct bed *bed, const char *solver, const char *device, enum precision real)
{
    return begun_with(bed, solver, NULL, device, real);
}

/* Run one iteration at a time, as the command `step` does. */
static void steps(struct solve *v, int64_t n)
{
    struct err e = {0};
    for (; n > 0 && v->reason == RUNNING; n--) {
        v->steps_left = 1;
        if (!solve_slice(v, 0, &e)) fail_msg("%s: %s", v->solver->name, e.text);
    }
    if (!solve_drain(v, &e)) fail_msg("%s", e.text);
}

static void back(struct solve *v, int64_t n)
{
    struct err e = {0};
    int64_t target = v->iterations - n > v->base ? v->iterations - n : v->base;
    double residual = v->history.residual[target];
    if (!solve_back(v, n, &e)) fail_msg("%s: %s", v->solver->name, e.text);
    assert_int_equal(v->iterations, target);
    assert_true(v->residual == residual && v->reason == RUNNING && v->paused);
}

static void change(struct solve *v, struct solve_change c)
{
    struct err e = {0};
    if (!solve_change(v, &c, &e)) fail_msg("%s: %s", v->solver->name, e.text);
}

/* ---- back ---- */

static void check_same(struct solve *v, const double *hist, const char *what)
{
    for (int64_t i = 0; i <= v->iterations; i++)
        if (v->history.residual[i] != hist[i])
            fail_msg("%s on %s: %s, iteration %lld: %.17g, before it was %.17g", v->solver->name, v->dev->name, what,
                     (long long)i, v->history.residual[i], hist[i]);
}

/* Go back by one iteration, by several iterations, to the first iteration and beyond it; after going forward again, the
   residuals have the same bits. */
static void check_back_in(struct bed *bed, struct solve *v)
{
    static const int64_t by[] = {1, 2, 5, 11, 1, STEPS, 1000, 3};
    double hist[STEPS + 1];
    steps(v, STEPS);
    int64_t last = v->iterations;
    memcpy(hist, v->history.residual, (size_t)(last + 1) * sizeof *hist);
    for (int i = 0; i < COUNT(by) && v->reason == RUNNING; i++) {
        back(v, by[i]);
        check_same(v, hist, "back");
        steps(v, last - v->iterations);
        assert_int_equal(v->iterations, last);
        check_same(v, hist, "forward");
    }
    bed_free(bed);
}

static void check_back(const char *solver, const struct precond *pre, const char *device, enum precision real)
{
    struct bed bed;
    check_back_in(&bed, begun_with(&bed, solver, pre, device, real));
}

TEST(test_back)
{
    for (int d = 0; d < COUNT(devices); d++)
        for (int i = 0; solvers[i]; i++) {
            check_back(solvers[i]->name, NULL, devices[d], P_F64);
            check_back(solvers[i]->name, NULL, devices[d], P_F32);
        }
}

TEST(test_back_preconditioned)
{
    for (int d = 0; d < COUNT(devices); d++)
        for (int i = 0; solvers[i]; i++)
            for (int p = 0; preconds[p]; p++)
                if (takes_definite(solvers[i], preconds[p]))
                    check_back(solvers[i]->name, preconds[p], devices[d], P_F64);
}

/* Launches of many iterations. */
TEST(test_back_one_launch)
{
    for (int i = 0; solvers[i]; i++)
        for (int p = 0; p < 2 && solvers[i]->steps; p++) {
            struct bed bed;
            const struct precond *pre = p && cluster_takes_diagonal(solvers[i]) ? precond_find("jacobi") : NULL;
            check_back_in(&bed, begun_by(&bed, solvers[i]->name, pre, "emu", p ? P_F32 : P_F64, LAUNCHES_ONE));
        }
}

/* The solve makes more checkpoints than are kept, and steps in large batches: every iteration can still be reached. */
TEST(test_far_back)
{
    struct bed bed;
    struct err e = {0};
    double hist[201];
    struct solve *v = begun(&bed, "jacobi", "cpu", P_F64);
    steps(v, 100);
    while (v->iterations < 200) {
        v->steps_left = 200 - v->iterations;
        assert_true(solve_slice(v, 1e5, &e));
    }
    memcpy(hist, v->history.residual, sizeof hist);
    assert_true(v->checkpoints.n <= CHECKPOINTS);
    for (int n = 1; v->iterations > 0; n++) {
        back(v, n);
        check_same(v, hist, "back");
    }
    steps(v, 200);
    check_same(v, hist, "forward");
    bed_free(&bed);
}

/* A solve that went back ends like a solve that did not go back: with the same iterations, reason and bits of x. */
TEST(test_same_end)
{
    struct err e = {0};
    for (int i = 0; solvers[i]; i++) {
        struct bed one, two;
        struct solve *v = begun(&one, solvers[i]->name, "cpu", P_F64), *w = begun(&two, solvers[i]->name, "cpu", P_F64);
        v->set.tol = w->set.tol = 0;
        v->set.maxit = w->set.maxit = 60;
        steps(w, 30);
        back(w, 13);
        while (v->reason == RUNNING) assert_true(solve_slice(v, 1e4, &e));
        w->paused = false;
        while (w->reason == RUNNING) assert_true(solve_slice(w, 1e4, &e));
        assert_true(solve_end(v, &e) && solve_end(w, &e));
        assert_int_equal(v->iterations, w->iterations);
        assert_int_equal(v->reason, w->reason);
        assert_memory_equal(v->result.x, w->result.x, N * sizeof *v->result.x);
        bed_free(&one);
        bed_free(&two);
    }
}

TEST(test_back_refused)
{
    struct bed bed;
    struct err e = {0};
    struct solve *v = begun(&bed, "cg", "cpu", P_F64);
    v->checkpoints.wanted = false;
    steps(v, 5);
    assert_false(solve_back(v, 1, &e));
    assert_int_equal(e.code, E_USAGE);
    assert_int_equal(v->reason, RUNNING);
    steps(v, 1);
    assert_int_equal(v->iterations, 6);
    bed_free(&bed);
}

/* ---- change ---- */

static void to_the_end(struct solve *v)
{
    struct err e = {0};
    v->paused = false;
    while (v->reason == RUNNING)
        if (!solve_slice(v, 1e4, &e)) fail_msg("%s: %s", v->solver->name, e.text);
    if (!solve_end(v, &e)) fail_msg("%s", e.text);
}

/* With the looser tolerance, the solve would have ended earlier. */
TEST(test_tighter)
{
    for (int d = 0; d < COUNT(devices); d++) {
        struct bed bed;
        struct solve *v = begun(&bed, "cg", devices[d], P_F64);
        struct solve_change c = nothing;
        c.tol = 1e-2;
        change(v, c);
        steps(v, 10);
        assert_int_equal(v->reason, RUNNING);
        c.tol = 1e-11;
        change(v, c);
        assert_int_equal(v->base, 0);
        assert_int_equal(v->iterations, 10);
        to_the_end(v);
        assert_int_equal(v->reason, CONVERGED);
        assert_true(v->residual <= 1e-11 && v->result.residual_true <= 2e-11);
        bed_free(&bed);
    }
}

/* A solve in launches of many iterations is changed half-way: the solver starts again, and the iterations that follow
   have the residuals of a solve in launches of one iteration, up to rounding. */
TEST(test_change_one_launch)
{
    for (int i = 0; solvers[i]; i++) {
        bool diagonal = cluster_takes_diagonal(solvers[i]);
        if (!solvers[i]->steps || (!diagonal && solvers[i]->omega == 0)) continue; /* nothing to change */
        double residual[2];
        for (int one = 0; one < 2; one++) {
            struct bed bed;
            struct solve *v = begun_by(&bed, solvers[i]->name, NULL, "emu", P_F64, one ? LAUNCHES_ONE : LAUNCHES_MANY);
            struct solve_change c = nothing;
            if (!diagonal)
                c.omega = 0.8;
            else
                c.change_pre = true, c.pre = precond_find("jacobi");
            steps(v, 5);
            change(v, c);
            assert_int_equal(v->base, 5);
            steps(v, 5);
            assert_int_equal(v->iterations, 10);
            assert_int_equal(cluster_used(v), one);
            residual[one] = v->residual;
            bed_free(&bed);
        }
        if (!(fabs(residual[1] - residual[0]) <= 1e-9 * residual[0]))
            fail_msg("%s: residual %g in one launch, %g in many", solvers[i]->name, residual[1], residual[0]);
    }
}

TEST(test_looser)
{
    struct bed bed;
    struct solve *v = begun(&bed, "cg", "cpu", P_F64);
    struct solve_change c = nothing;
    steps(v, 10);
    c.tol = 2 * v->residual;
    change(v, c);
    to_the_end(v);
    assert_int_equal(v->reason, CONVERGED);
    assert_in_range(v->iterations, 10, 14);
    bed_free(&bed);
}

TEST(test_limit)
{
    struct bed bed;
    struct err e = {0};
    struct solve *v = begun(&bed, "jacobi", "cpu", P_F64);
    struct solve_change c = nothing;
    steps(v, 10);
    c.maxit = 10;
    assert_false(solve_change(v, &c, &e));
    assert_non_null(strstr(e.text, "10 iterations are already done"));
    c.maxit = 17;
    change(v, c);
    to_the_end(v);
    assert_int_equal(v->reason, MAX_ITERATIONS);
    assert_int_equal(v->iterations, 17);
    bed_free(&bed);
}

/* A solve restarted from the current x: the residual is unchanged, the iteration count continues, the history stays,
   and the result is right. */
static void check_anew(const char *solver, const char *device, struct solve_change c)
{
    struct bed bed;
    struct err e = {0};
    double hist[STEPS + 1];
    struct solve *v = begun(&bed, solver, device, P_F64);
    steps(v, STEPS);
    assert_int_equal(v->reason, RUNNING);
    memcpy(hist, v->history.residual, sizeof hist);
    change(v, c);
    assert_int_equal(v->iterations, STEPS);
    assert_int_equal(v->base, STEPS);
    assert_int_equal(v->reason, RUNNING);
    assert_memory_equal(v->history.residual, hist, STEPS * sizeof *hist);
    if (fabs(v->history.residual[STEPS] - hist[STEPS]) > 1e-9 * hist[0])
        fail_msg("%s on %s: the residual was %g, anew it is %g", solver, device, hist[STEPS],
                 v->history.residual[STEPS]);
    steps(v, 3);
    assert_int_equal(v->iterations, STEPS + 3);
    assert_true(v->history.residual[STEPS + 3] < v->history.residual[STEPS]);
    assert_true(solve_back(v, 100, &e));
    assert_int_equal(v->iterations, STEPS);
    c = nothing;
    c.tol = 1e-9;
    c.maxit = 3000;
    change(v, c);
    to_the_end(v);
    if (v->reason != CONVERGED) fail_msg("%s on %s: %s", solver, device, v->why);
    assert_true(v->result.residual_true <= 2e-9);
    bed_free(&bed);
}

TEST(test_restart)
{
    static const struct {
        const char *solver, *precond;
        double omega;
        int64_t m;
    } table[] = {{"cg", "jacobi", NAN, -1},    {"cg", "none", NAN, -1},         {"bicgstab", "jacobi", NAN, -1},
                 {"gmres", "jacobi", NAN, -1}, {"gmres", NULL, NAN, 12},        {"gmres", "jacobi", NAN, 9},
                 {"wjacobi", NULL, 0.9, -1},   {"qmrcgstab", "jacobi", NAN, -1}};
    for (int d = 0; d < COUNT(devices); d++)
        for (int i = 0; i < COUNT(table); i++) {
            struct solve_change c = nothing;
            c.change_pre = table[i].precond != NULL;
            c.pre = table[i].precond ? precond_find(table[i].precond) : NULL;
            c.omega = table[i].omega;
            c.m = table[i].m;
            if (solver_find(table[i].solver)->omega > 0 && d == 1) continue; /* wjacobi takes too long on emu */
            check_anew(table[i].solver, devices[d], c);
        }
}

/* A refused change leaves the solve unchanged. */
TEST(test_refusals)
{
    static const struct {
        const char *solver, *precond;
        double tol, omega;
        int64_t m;
        const char *expected;
    } table[] = {
        {"cg", NULL, NAN, 1, -1, "cg has no omega"},
        {"cg", NULL, NAN, NAN, 5, "cg does not restart"},
        {"cg", NULL, -1, NAN, -1, "tol"},
        {"gmres", NULL, NAN, NAN, 100000, "gmres takes 1 to"},
        {"wjacobi", NULL, NAN, 2, -1, "below 2"},
        {"wjacobi", NULL, NAN, -1, -1, "above 0"},
        {"jacobi", "jacobi", NAN, NAN, -1, "takes no preconditioner"},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct bed bed;
        struct err e = {0};
        struct solve *v = begun(&bed, table[i].solver, "cpu", P_F64);
        double tol = v->set.tol;
        steps(v, 4);
        struct solve_change c = {.tol = table[i].tol, .omega = table[i].omega, .m = table[i].m, .maxit = -1};
        c.change_pre = table[i].precond != NULL;
        c.pre = table[i].precond ? precond_find(table[i].precond) : NULL;
        assert_false(solve_change(v, &c, &e));
        if (!strstr(e.text, table[i].expected)) fail_msg("expected `%s`, found `%s`", table[i].expected, e.text);
        assert_true(v->reason == RUNNING && v->iterations == 4 && v->base == 0 && v->set.tol == tol);
        steps(v, 1);
        assert_int_equal(v->iterations, 5);
        bed_free(&bed);
    }
}

/* Whichever allocation fails, the change is made completely or not at all, and no data is lost. */
TEST(test_without_memory)
{
    static const char *const names[] = {"cg", "gmres"};
    for (int i = 0; i < COUNT(names); i++)
        for (int nth = 1; nth < 12; nth++) {
            struct bed bed;
            struct err e = {0};
            struct solve *v = begun(&bed, names[i], "cpu", P_F64);
            struct solve_change c = nothing;
            steps(v, 4);
            c.change_pre = true;
            c.pre = precond_find("jacobi");
            mem_fail_at(nth);
            bool ok = solve_change(v, &c, &e);
            mem_fail_at(0);
            assert_true(ok || e.code == E_MEMORY);
            err_clear(&e);
            if (v->reason == RUNNING) steps(v, 2);
            if (!solve_end(v, &e)) fail_msg("%s: %s", names[i], e.text);
            assert_non_null(v->result.x);
            bed_free(&bed);
        }
}

/* ---- continuing a solve that has ended ---- */

/* Every solver can continue a solve after any kind of end: x is the same within the tighter tolerance, and there is one
   history. */
TEST(test_again)
{
    static const char *const pres[] = {NULL, "jacobi", "columns"};
    for (int d = 0; d < COUNT(devices); d++)
        for (int i = 0; solvers[i]; i++)
            for (int p = 0; p < COUNT(pres); p++) {
                struct bed bed;
                struct err e = {0};
                const struct precond *pre = pres[p] ? precond_find(pres[p]) : NULL;
                if (pre && !solver_takes(solvers[i], pre)) continue;
                struct solve *v = begun_with(&bed, solvers[i]->name, pre, devices[d], P_F64);
                struct solve_change c = nothing;
                c.tol = 1e-2;
                change(v, c);
                to_the_end(v);
                assert_int_equal(v->reason, CONVERGED);
                int64_t first = v->iterations;
                double reached = v->result.residual_true;
                c.tol = 1e-5;
                c.maxit = 5000;
                if (!solve_again(v, &c, &e)) fail_msg("%s: %s", solvers[i]->name, e.text);
                assert_true(v->reason == RUNNING && v->paused && v->iterations == first && v->base == first &&
                            !v->result.x);
                assert_true(fabs(v->residual - reached) <= 1e-6 * reached);
                to_the_end(v);
                if (v->reason != CONVERGED) fail_msg("%s on %s: %s", solvers[i]->name, devices[d], v->why);
                const struct least *least = &v->result.least;
                double left =
                    solvers[i]->least_squares ? fmin(least->backward, least->normal) : v->result.residual_true;
                assert_true(v->iterations > first && left <= 2e-5);
                assert_true(fabs(v->history.residual[0] - 1) < 1e-12);
                bed_free(&bed);
            }
}

TEST(test_again_refused)
{
    struct bed bed;
    struct err e = {0};
    struct solve *v = begun(&bed, "cg", "cpu", P_F64);
    struct solve_change c = nothing;
    c.maxit = 6;
    change(v, c);
    to_the_end(v);
    assert_int_equal(v->reason, MAX_ITERATIONS);
    double residual = v->residual, *x = v->result.x;
    c = nothing;
    assert_false(solve_again(v, &c, &e));
    assert_non_null(strstr(e.text, "give a larger limit: `change maxit"));
    err_clear(&e);
    c.omega = 1;
    c.maxit = 50;
    assert_false(solve_again(v, &c, &e));
    assert_non_null(strstr(e.text, "cg has no omega"));
    for (int nth = 1; nth < 12; nth++) {
        err_clear(&e);
        c = nothing;
        c.maxit = 50;
        mem_fail_at(nth);
        bool ok = solve_again(v, &c, &e);
        mem_fail_at(0);
        if (ok) break;
        assert_int_equal(e.code, E_MEMORY);
        assert_true(v->reason == MAX_ITERATIONS && v->set.maxit == 6 && v->iterations == 6 && v->result.x == x);
        assert_true(v->residual == residual && v->history.residual[6] == residual && v->base == 0);
    }
    assert_int_equal(v->reason, RUNNING);
    to_the_end(v);
    assert_int_equal(v->iterations, 50);
    bed_free(&bed);
}

/* ---- the commands ---- */

static const struct {
    const char *line, *out, *err; /* text that the output contains; NULL: no output */
} lines[] = {
    {"back", NULL, "no solve is paused"},
    {"change tol 1", NULL, "no solve is paused"},
    {"gen poisson2d 20", "poisson2d", NULL},
    {"solve cg step on cpu", "iteration", NULL},
    {"back", NULL, "nothing before iteration 0"},
    {"step 5", "\n        5  ", NULL},
    {"back 2", "\n        3  ", NULL},
    {"back", "\n        2  ", NULL},
    {"back 0", NULL, "give 1 or more"},
    {"step 2", "\n        4  ", NULL},
    {"change", NULL, "change what?"},
    {"change omega 1", NULL, "cg has no omega"},
    {"change m 3", NULL, "cg does not restart, so it has no m"},
    {"change m 0", NULL, "cg does not restart, so it has no m"},
    {"change m -3", NULL, "m is -3"},
    {"change maxit 3", NULL, "4 iterations are already done"},
    {"change maxit -3", NULL, "maxit is -3"},
    {"change tol -3", NULL, "tol is -3"},
    {"change block 4", NULL, "name one after `precond`"},
    {"change block -4 precond jacobi", NULL, "block is negative"},
    {"change precond what", NULL, "is not a preconditioner"},
    {"change precond jacobi block 4", NULL, "jacobi has no blocks"},
    {"change precond bjacobi block 33", NULL, "blocks must have 1 to 32 rows"},
    {"change precond bjacobi block 34", NULL, "blocks must have 1 to 32 rows"},
    {"step", "\n        5  ", NULL},
    {"back", "\n        4  ", NULL},
    {"change tol 1e-3 maxit 2000", "tol        0.001", NULL},
    {"change precond jacobi", "restarted from x at iteration 4", NULL},
    {"back", NULL, "nothing before iteration 4"},
    {"step", "\n        5  ", NULL},
    {"back 7", "\n        4  ", NULL},
    {"change tol 1e-9", "tol        1e-09", NULL},
    {"continue", "converged", NULL},
    {"back", NULL, "no solve is paused"},
    {"change tol 1e-12", "restarted from x at iteration", NULL},
    {"step 2", "iteration", NULL},
    {"back", "iteration", NULL},
    {"continue", "tol 1.00e-12", NULL},
    {"solve cg maxit 5 on cpu", "limit of 5", NULL},
    {"change tol 1e-3", NULL, "give a larger limit: `change maxit"},
    {"change maxit 5", NULL, "5 iterations are already done"},
    {"change maxit 500", "`continue` resumes it", NULL},
    {"continue", "converged      yes", NULL},
    {"solve cg b zero on cpu", "b = 0", NULL},
    {"change tol 1e-3", NULL, "no x from which it could continue"},
    {"solve cg tol 1e-3 on cpu", "converged      yes", NULL},
    {"step", NULL, "`change` continues the solve that has ended"},
    {"change precond none tol 1e-9", "preconditioner  none", NULL},
    {"step 3", "iteration", NULL},
    {"back 2", "iteration", NULL},
    {"stop", "stopped by the user", NULL},
};

static const struct {
    const char *line, *part;
    bool is_said;
} remarks[] = {
    {"solve cg step on cpu; step 2; back 4", "went back by 2 iterations, not 4: the solve begins at iteration 0", true},
    {"step 3; back 3", "went back", false},
    {"step 3; change precond jacobi; step; back 2", "went back by 1 iteration, not 2: the solve was restarted", true},
    {"stop; solve cg tol 1e-3 on cpu; change tol 1e-6", "`continue` resumes it", true},
    {"continue; change precond jacobi", "`continue` resumes it",
     false}, /* x is accurate enough: the solve ends again */
};

/* What is said beside the numbers. */
TEST(test_remarks)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    for (int i = 0; i < COUNT(remarks); i++) {
        if (!talk_line(&t, remarks[i].line)) fail_msg("%s: %s", remarks[i].line, t.err);
        bool is_said = strstr(t.out, remarks[i].part) || strstr(t.err, remarks[i].part);
        if (is_said != remarks[i].is_said) fail_msg("`%s`: found\n%s%s", remarks[i].line, t.out, t.err);
        talk_forget(&t);
    }
    talk_close(&t);
}

TEST(test_commands)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(lines); i++) {
        bool ok = talk_line(&t, lines[i].line);
        if (ok != (lines[i].err == NULL) || (lines[i].err && !strstr(t.err, lines[i].err)) ||
            (lines[i].out && !strstr(t.out, lines[i].out)))
            fail_msg("`%s`: found\n%s%s", lines[i].line, t.out, t.err);
    }
    talk_close(&t);
}

TEST(test_json)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 20; solve gmres m 6 step on cpu; step 8"));
    assert_true(talk_line(&t, "back 3"));
    assert_non_null(strstr(t.out, "\"iteration\":5"));
    assert_true(talk_line(&t, "change m 9 tol 1e-6"));
    assert_non_null(strstr(t.out, "\"iteration\":5"));
    assert_non_null(strstr(t.out, "\"anew\":true"));
    assert_non_null(strstr(t.out, "\"m\":9"));
    assert_non_null(strstr(t.out, "\"omega\":null"));
    assert_non_null(strstr(t.out, "\"precond\":null"));
    assert_true(talk_line(&t, "change maxit 777"));
    assert_non_null(strstr(t.out, "\"anew\":false"));
    assert_non_null(strstr(t.out, "\"maxit\":777"));
    assert_true(talk_line(&t, "continue"));
    assert_non_null(strstr(t.out, "\"converged\":true"));
    talk_close(&t);
}

/* With tol 0, the two residuals drift apart. After a restart, they agree until they drift apart again. */
TEST(test_diverged_residuals)
{
    static const struct {
        const char *line;
        double from, to; /* iteration at which the residuals drift apart; 0: never */
    } table[] = {
        {"solve cg tol 0 maxit 600 force on cpu", 1, 600},
        {"change tol 1e-13 maxit 601; continue", 0, 0},
        {"change tol 0 maxit 1200; continue", 601, 1200},
    };
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 20"));
    for (int i = 0; i < COUNT(table); i++) {
        talk_forget(&t);
        assert_true(talk_line(&t, table[i].line));
        const char *at = strstr(t.out, "\"parted\":");
        assert_non_null(at);
        double parted = strtod(at + strlen("\"parted\":"), NULL);
        if (parted < table[i].from || parted > table[i].to || !strstr(t.err, "at the end, they are") != !table[i].to)
            fail_msg("%s: %s%s", table[i].line, at, t.err);
        assert_true(!strstr(t.out, "tol 0.00e+00 is below what fp64 can reach") == !table[i].to);
        assert_null(strstr(t.out, "`change maxit "));
    }
    talk_close(&t);
}

/* After a restart, the number of queued iterations begins at 0 again. The true residual must still be computed
   regularly. */
TEST(test_true_residual_is_checked_after_restart)
{
    struct talk t;
    struct err e = {0};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 60; solve cg tol 0 maxit 600 force on cpu"));
    assert_true(talk_line(&t, "change maxit 900 precond jacobi"));
    struct solve *v = t.s.solve;
    assert_int_equal(v->base, 600);
    v->paused = false;
    while (v->reason == RUNNING)
        if (!solve_slice(v, 1000, &e)) fail_msg("%s", e.text);
    assert_true(v->history.ntruth > 0 && v->history.truth[v->history.ntruth - 1].iteration > v->base);
    talk_close(&t);
}

/* A true residual is that of the iteration for which it is recorded: before rounding matters, the recurrence of cg
   gives the same one. */
TEST(test_true_residuals_belong_to_their_iterations)
{
    struct talk t;
    struct err e = {0};
    int checked = 0;
    talk_open(&t, OUT_TEXT);
    talk_line(&t, "gen poisson2d 110; solve cg tol 1e-9 maxit 5 on cpu");
    assert_true(talk_line(&t, "change maxit 2000"));
    struct solve *v = t.s.solve;
    v->paused = false;
    while (v->reason == RUNNING)
        if (!solve_slice(v, 0, &e)) fail_msg("%s", e.text);
    for (int64_t k = 0; k < v->history.ntruth; k++) {
        const struct truth *at = &v->history.truth[k];
        if (at->iteration == 0) continue;
        assert_float_equal(at->residual, v->history.residual[at->iteration], 1e-3 * at->residual);
        checked++;
    }
    if (!checked) fail_msg("no true residual in %lld iterations", (long long)v->iterations);
    talk_close(&t);
}

static void count_words(void *user, const char *word)
{
    ++*(int *)user;
}

TEST(test_completion)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    int all = 0, some = 0;
    complete(&t.s, "change ", 7, count_words, &all);
    assert_int_equal(all, 26);
    complete(&t.s, "change precond ja", 17, count_words, &some);
    assert_int_equal(some, 1);
    talk_close(&t);
}

/* If a solve of a large matrix is stopped, its true residual is computed without compensated sums. This residual agrees
   with the residual that is computed with compensated sums. */
TEST(test_stopped_at_once)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 650 as P; solve cg maxit 3 on cpu"));
    assert_true(t.s.current->csr.nnz > 1 << 21);
    double residual = t.s.solve->result.residual_true, error = t.s.solve->result.error_known;
    assert_true(talk_line(&t, "solve cg on cpu step; step 3; stop"));
    assert_int_equal(t.s.solve->reason, STOPPED);
    assert_true(fabs(t.s.solve->result.residual_true - residual) <= 1e-12 * residual);
    assert_true(fabs(t.s.solve->result.error_known - error) <= 1e-12 * error);
    talk_close(&t);
}

SUITE(.setup = amg_of_few_rows);
