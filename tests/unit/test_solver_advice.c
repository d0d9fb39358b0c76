/* `advise solver` and `solve` without a solver: which methods are tried, which are refused and why, which one is taken,
   and what is kept after Ctrl-C. */
#include "advice/peer_options.h"
#include "advice/solver_advice.h"
#include "base/base.h"
#include "base/clock.h"
#include "card/card.h"
#include "direct/direct.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <math.h>
#include <unistd.h>

/* ---- asking ---- */

/* Runs the lines, and asks about the current matrix, with the watch unless it is NULL. */
static void ask_with(struct talk *t, const char *lines, const char *b, struct solver_question q, struct watch *w,
                     struct solver_advice *out)
{
    struct err e = {0};
    talk_open(t, OUT_TEXT);
    assert_true(talk_line(t, lines));
    q.matrix = t->s.current;
    q.options.dev = device_open("cpu", &e);
    q.options.real = P_F64;
    q.options.tol = 1e-8;
    q.options.maxit = 10000;
    if (!(q.limit_us > 0)) q.limit_us = 1e6, q.wait_us = INFINITY;
    struct right_sides right = {0};
    assert_true(right_sides_make(q.matrix, b, 1, &right, &e));
    q.options.b = right.b;
    q.options.known_ones = right.known_ones;
    struct watch old = t->s.watch;
    if (w) t->s.watch = *w;
    if (!solver_advise(out, &t->s, &q, &e)) fail_msg("%s: %s", lines, e.text);
    t->s.watch = old;
    right_sides_free(&right);
}

static void ask(struct talk *t, const char *lines, const char *b, struct solver_question q, struct solver_advice *out)
{
    ask_with(t, lines, b, q, NULL, out);
}

static void done(struct talk *t, struct solver_advice *a)
{
    solver_advice_free(a);
    talk_close(t);
}

static const struct trial *find(const struct solver_advice *a, const struct solver *s, const struct precond *p)
{
    for (int i = 0; i < a->n; i++)
        if (a->at[i].solver == s && a->at[i].pre == p) return &a->at[i];
    return NULL;
}

static const struct trial *taken(const struct solver_advice *a)
{
    assert_true(a->taken == 0 && *a->because);
    return &a->at[0];
}

/* What converged did so by its true residual. */
static void assert_honest(const struct solver_advice *a)
{
    for (int i = 0; i < a->n; i++) {
        const struct trial *t = &a->at[i];
        if (t->state == TRIAL_CONVERGED && !(t->residual_true <= 2e-8))
            fail_msg("%s: %g", trial_name(t).text, t->residual_true);
        double parts = t->setup_us + t->each_us * (double)t->iterations;
        if (t->solver && t->state == TRIAL_CONVERGED && !(parts <= t->guess_us * (1 + 1e-9)))
            fail_msg("%s: %g us each do not add up to %g us", trial_name(t).text, t->each_us, t->guess_us);
        if ((t->state == TRIAL_ENDED || t->state == TRIAL_REFUSED) && !*t->why)
            fail_msg("%s ended without a reason", trial_name(t).text);
    }
}

/* ---- which candidates there are ---- */

TEST(every_pair_of_the_registries_is_a_candidate)
{
    struct talk t;
    struct solver_advice a;
    ask(&t, "gen poisson2d 12", NULL, (struct solver_question){.direct = true}, &a);
    assert_non_null(find(&a, NULL, NULL));
    for (int i = 0; solvers[i]; i++) {
        assert_true((find(&a, solvers[i], NULL) != NULL) == !(solvers[i]->least_squares || solvers[i]->flexible));
        for (int k = 0; preconds[k]; k++) {
            bool may = takes_definite(solvers[i], preconds[k]) && !preconds[k]->least_squares && !solvers[i]->flexible;
            if ((find(&a, solvers[i], preconds[k]) != NULL) != may)
                fail_msg("%s, %s", solvers[i]->name, preconds[k]->name);
        }
    }
    assert_honest(&a);
    done(&t, &a);
}

TEST(solvers_for_symmetric_matrices_are_refused_once)
{
    struct talk t;
    struct solver_advice a;
    ask(&t, "gen random 400 4", NULL, (struct solver_question){.direct = true}, &a);
    for (int i = 0; solvers[i]; i++) {
        const struct trial *x = find(&a, solvers[i], NULL);
        if (!solvers[i]->symmetric) continue;
        assert_int_equal(x->state, TRIAL_REFUSED);
        assert_non_null(strstr(x->why, "not symmetric"));
        for (int k = 0; preconds[k]; k++) assert_null(find(&a, solvers[i], preconds[k]));
    }
    assert_true(!taken(&a)->solver || !taken(&a)->solver->symmetric);
    assert_honest(&a);
    done(&t, &a);
}

TEST(a_named_preconditioner_is_the_only_one)
{
    struct talk t;
    struct solver_advice a;
    for (int k = 0; preconds[k]; k++) {
        if (preconds[k]->saddle) continue;
        struct solver_question q = {.pre_is_given = true, .options = {.pre = preconds[k]}};
        ask(&t, "gen poisson2d 12", NULL, q, &a);
        for (int i = 0; i < a.n; i++) assert_ptr_equal(a.at[i].pre, preconds[k]);
        assert_ptr_equal(taken(&a)->pre, preconds[k]);
        assert_int_equal(taken(&a)->state, TRIAL_CONVERGED);
        done(&t, &a);
    }
}

/* ---- known answers ---- */

/* Or one that is about as fast. */
TEST(a_tiny_system_takes_the_fastest)
{
    static const char *const lines[] = {"gen poisson2d 6", "gen random 80 4", "load tests/golden/complex.mtx"};
    struct talk t;
    struct solver_advice a;
    for (int i = 0; i < COUNT(lines); i++) {
        ask(&t, lines[i], NULL, (struct solver_question){.direct = true}, &a);
        assert_int_equal(taken(&a)->state, TRIAL_CONVERGED);
        for (int k = 0; k < a.n; k++)
            if (a.at[k].state == TRIAL_CONVERGED)
                assert_true(taken(&a)->guess_us <= fmax(8 * a.at[k].guess_us, a.at[k].guess_us + 5e4));
        assert_honest(&a);
        done(&t, &a);
    }
}

/* Its factors have hundreds of times as many entries, and its condition is below 2. */
TEST(a_definite_matrix_gets_an_iterative_solver)
{
    struct talk t;
    struct solver_advice a;
    ask(&t, "gen poisson3d 22 as P; let A = P + 20*I", NULL, (struct solver_question){.direct = true}, &a);
    assert_non_null(strstr(a.kind, "symmetric positive definite"));
    assert_non_null(taken(&a)->solver);
    assert_int_equal(taken(&a)->state, TRIAL_CONVERGED);
    const struct trial *cg = find(&a, solver_find("cg"), NULL);
    assert_true(cg->state == TRIAL_CONVERGED && cg->iterations < 20);
    assert_honest(&a);
    done(&t, &a);
}

TEST(an_indefinite_matrix_gets_no_cg)
{
    struct talk t;
    struct solver_advice a;
    ask(&t, "gen poisson3d 14 as P; let A = P - 4.1*I", NULL, (struct solver_question){0}, &a);
    const struct trial *cg = find(&a, solver_find("cg"), NULL), *ic0 = find(&a, solver_find("cg"), precond_find("ic0"));
    assert_int_equal(cg->state, TRIAL_ENDED);
    assert_non_null(strstr(cg->why, "not positive definite: p'Ap"));
    assert_int_equal(ic0->state, TRIAL_REFUSED);
    assert_false(taken(&a)->solver->definite);
    assert_honest(&a);
    done(&t, &a);
}

/* The third column is the sum of the first two, and b is not in the range of A: only a direct solver finds the x with
   the smallest residual. */
TEST(a_singular_system_gets_least_squares)
{
    struct talk t;
    struct solver_advice a;
    ask(&t, "load tests/golden/singular.mtx", "random", (struct solver_question){.direct = true}, &a);
    assert_true(taken(&a)->least_squares && !taken(&a)->solver);
    assert_true(taken(&a)->residual_true > 1e-3);
    assert_non_null(strstr(a.because, "no method met tol; least squares"));
    assert_honest(&a);
    done(&t, &a);
    ask(&t, "load tests/golden/singular.mtx", "random", (struct solver_question){.direct = false}, &a);
    assert_int_equal(a.taken, -1);
    assert_non_null(strstr(a.because, "no method is known"));
    done(&t, &a);
}

/* D^-1 changes which of many x is found, so it is tried only if there is one. */
TEST(a_rectangular_matrix_has_solvers_of_least_squares)
{
    static const char *const lines[] = {"gen random 30 3 20", "gen random 20 3 30"};
    struct talk t;
    struct solver_advice a;
    for (int k = 0; k < COUNT(lines); k++) {
        ask(&t, lines[k], NULL, (struct solver_question){.direct = true}, &a);
        int scaled = 0;
        for (int i = 0; i < a.n; i++) {
            assert_true(!a.at[i].solver || a.at[i].solver->least_squares);
            assert_int_equal(a.at[i].state, TRIAL_CONVERGED);
            scaled += a.at[i].pre != NULL;
        }
        assert_true(a.n == 1 + 3 + scaled && scaled == (k ? 0 : 3));
        assert_non_null(taken(&a)->solver);
        done(&t, &a);
    }
}

TEST(a_complex_matrix_has_candidates)
{
    struct talk t;
    struct solver_advice a;
    ask(&t, "load tests/files/hermitian.mtx", NULL, (struct solver_question){.direct = false}, &a);
    assert_int_equal(taken(&a)->state, TRIAL_CONVERGED);
    assert_non_null(strstr(a.kind, "complex, hermitian"));
    assert_honest(&a);
    done(&t, &a);
}

/* ---- the same choice in every run ---- */

/* A factor between 1 / most and most. */
static double noise(uint64_t *seed, double most)
{
    return pow(most, random_unit(seed));
}

static void assert_same_choice(struct solver_advice *a, const char *line, double most)
{
    struct trial_name first = trial_name(taken(a));
    struct trial *before = malloc((size_t)a->n * sizeof *before);
    assert_non_null(before);
    memcpy(before, a->at, (size_t)a->n * sizeof *before);
    uint64_t seed = 7;
    for (int run = 0; run < 200; run++) {
        for (int i = 0; i < a->n; i++) {
            a->at[i] = before[a->n - 1 - i];
            a->at[i].guess_us *= noise(&seed, most);
        }
        solver_choose(a);
        if (strcmp(trial_name(taken(a)).text, first.text))
            fail_msg("%s: %s, and in run %d %s", line, first.text, run, trial_name(taken(a)).text);
    }
    free(before);
}

/* Times that differ by 20% from run to run, in any order of the candidates, decide nothing. */
TEST(noise_does_not_change_the_choice)
{
    static const char *const lines[] = {"gen poisson2d 30", "gen random 300 4",
                                        "gen poisson3d 12 as P; let A = P + 20*I", "gen circuit 1000 3"};
    struct talk t;
    struct solver_advice a;
    for (int i = 0; i < COUNT(lines); i++) {
        ask(&t, lines[i], "random", (struct solver_question){.direct = true}, &a);
        assert_same_choice(&a, lines[i], 1.2);
        done(&t, &a);
    }
}

static struct trial made(int order, const char *solver, const char *pre, double us, double work)
{
    return (struct trial){.order = order,
                          .solver = solver_find(solver),
                          .pre = pre ? precond_find(pre) : NULL,
                          .state = TRIAL_CONVERGED,
                          .iterations = 10,
                          .guess_iterations = 10,
                          .guess_us = us,
                          .work_each_us = work / 10,
                          .needs = {10, 10},
                          .us = {us / 2, us * 2},
                          .setup_ended_us = NAN};
}

/* Methods that take about as long are decided by their work, those with the same work by their order. A method that
   takes more than three times as long is slower, whatever its work. */
TEST(ties_are_decided_by_rule)
{
    struct trial at[] = {made(1, "cg", NULL, 1e5, 1e5), made(2, "cg", "jacobi", 1.2e5, 0.98e5),
                         made(3, "minres", NULL, 0.9e5, 2e5), made(4, "gmres", NULL, 4e5, 1e3),
                         made(5, "bicgstab", NULL, 2e5, 1.05e5)};
    struct solver_advice a = {.n = COUNT(at), .at = at};
    assert_ptr_equal(solver_best(&a), &at[0]);
    at[4].work_each_us = 0.5e4;
    assert_ptr_equal(solver_best(&a), &at[4]);
    at[4].guess_us = 3e5;
    assert_ptr_equal(solver_best(&a), &at[0]);
    at[3].guess_us = 2e5;
    assert_ptr_equal(solver_best(&a), &at[3]);
}

/* ---- a busy machine ---- */

/* A machine on which other programs get the processor for OTHERS times as long as this one. */
struct busy_machine {
    int others;
    double worked_us;
};
static bool tick_busy(struct watch *w, const char *what, int64_t done_of, int64_t total)
{
    struct busy_machine *m = w->user;
    if (m->worked_us > 0) usleep((useconds_t)(m->others * (worked_us() - m->worked_us)));
    m->worked_us = worked_us();
    return true;
}

/* Also if the trials take longer than their limit on the wall clock. */
TEST(other_programs_change_no_choice)
{
    static const char *const lines[] = {"gen poisson2d 10", "gen random 200 4"};
    for (int i = 0; i < COUNT(lines); i++) {
        struct talk t, u;
        struct solver_advice alone, busy;
        struct busy_machine m = {.others = 5};
        struct watch w = {tick_busy, &m};
        ask(&t, lines[i], "random", (struct solver_question){.direct = true, .limit_us = 1e7}, &alone);
        double limit_us = 3 * alone.worked_us;
        ask_with(&u, lines[i], "random",
                 (struct solver_question){.direct = true, .limit_us = limit_us, .wait_us = INFINITY}, &w, &busy);
        if (!(busy.us > limit_us)) fail_msg("%s: not busy, %g of %g us", lines[i], busy.us, limit_us);
        assert_false(busy.late);
        assert_string_equal(trial_name(taken(&busy)).text, trial_name(taken(&alone)).text);
        for (int k = 0; k < alone.n; k++) {
            const struct trial *a = &alone.at[k], *b = find(&busy, a->solver, a->pre);
            if (a->state != b->state || a->iterations != b->iterations)
                fail_msg("%s, %s: %lld iterations, and %lld on a busy machine", lines[i], trial_name(a).text,
                         (long long)a->iterations, (long long)b->iterations);
        }
        done(&t, &alone);
        done(&u, &busy);
    }
}

/* Nobody waits for much longer than the limit. */
TEST(the_trials_end_on_a_busy_machine)
{
    struct talk t;
    struct solver_advice a;
    struct busy_machine m = {.others = 20};
    struct watch w = {tick_busy, &m};
    ask_with(&t, "gen poisson2d 100", NULL, (struct solver_question){.limit_us = 50000}, &w, &a);
    assert_true(a.late && a.delayed && a.us > 50000);
    done(&t, &a);
}

/* ---- limits ---- */

static int ticks_left;

static bool tick(struct watch *w, const char *what, int64_t done_of, int64_t total)
{
    return ticks_left-- > 0;
}

/* Whenever Ctrl-C comes, the trials before it are kept. */
TEST(ctrl_c_keeps_the_trials)
{
    int most = 0;
    for (int after = 0; after < 3000; after = 1 + after * 3 / 2) {
        struct talk t;
        struct solver_advice a;
        struct err e = {0};
        struct right_sides right = {0};
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, "gen poisson2d 40"));
        assert_true(right_sides_make(t.s.current, NULL, 1, &right, &e));
        struct solver_question q = {.matrix = t.s.current, .direct = true, .limit_us = 1e6};
        q.options = (struct solve_options){.dev = device_open("cpu", &e),
                                           .real = P_F64,
                                           .tol = 1e-8,
                                           .maxit = 10000,
                                           .b = right.b,
                                           .known_ones = true};
        struct watch old = t.s.watch;
        t.s.watch = (struct watch){tick, NULL};
        ticks_left = after;
        bool ok = solver_advise(&a, &t.s, &q, &e);
        t.s.watch = old;
        assert_true(ok || e.code == E_CANCELLED);
        int tried = 0;
        for (int i = 0; i < a.n; i++) tried += a.at[i].spent_us > 0;
        assert_true(tried >= 0 && (a.stopped || !ok || tried > 1));
        if (tried > most) most = tried;
        solver_advice_free(&a);
        right_sides_free(&right);
        talk_close(&t);
    }
    assert_true(most > 10);
}

TEST(the_limit_ends_the_trials)
{
    struct talk t;
    struct solver_advice a;
    ask(&t, "gen poisson2d 300", NULL, (struct solver_question){.limit_us = 20000}, &a);
    assert_true(a.late && a.worked_us < 2e6);
    int untried = 0;
    for (int i = 0; i < a.n; i++) untried += a.at[i].state == TRIAL_NONE;
    assert_true(untried > 0);
    done(&t, &a);
}

/* ---- the commands ---- */

/* A direct solver whose analysis did not end was not tried; a residual that overflows blames no finite A or b. */
TEST(verdicts_are_true)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen circuit 100000 4 as C; load tests/files/neumann.mtx as N"));
    talk_says(&t, "advise solver C within 0.001", "\ndirect ");
    const char *row = strstr(t.out, "\ndirect ") + 1;
    if (memmem(row, strcspn(row, "\n"), "no sign of convergence", 22)) fail_msg("%s", t.out);
    assert_true(talk_line(&t, "advise solver N b random"));
    assert_null(strstr(t.out, "look for NaN"));
    talk_close(&t);
}

TEST(the_command_says_what_it_takes)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20; gen random 50 3 as R"));
    talk_says(&t, "advise solver poisson2d", "Take `solve ");
    talk_says(&t, "advise solver R", "direct (spqr) ");
    talk_says(&t, "advise solver R", "cg: needs a symmetric positive definite matrix, but A is not symmetric");
    assert_true(talk_line(&t, "gen random 30 3 20 as W"));
    talk_says(&t, "advise solver W", "Take `solve lsqr W");
    talk_refuses(&t, "solve cg W on cpu", "20 columns; lsqr, lsmr and cgls find a least-squares solution");
    assert_true(talk_line(&t, "solve direct W"));
    talk_says(&t, "advise solver R on emu", "does not model time, so the trials ran on cpu");
    talk_says(&t, "advise solver poisson2d precond jacobi top 1", "jacobi");
    talk_refuses(&t, "advise solver for 5 products", "`for` is for advice on kernels");
    talk_refuses(&t, "advise tol 1e-3", "`tol` is for `advise solver`");
    talk_refuses(&t, "advise solver within 0", "leaves no time");
    talk_close(&t);
}

TEST(solve_takes_what_is_advised)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(
        talk_line(&t, "gen poisson2d 8 as P; gen random 300 4 as R; gen poisson2d 30 as B; let S = B*B; let T = S*S"));
    talk_says(&t, "solve T within 60", "method");
    assert_non_null(strstr(t.err, "`solve direct T`: symmetric positive definite; "));
    assert_true(t.s.direct && t.s.direct->accurate);
    talk_says(&t, "solve T tol 1e-10", "direct");
    talk_says(&t, "solve plan P", "nothing was factored");
    talk_says(&t, "solve klu R", "klu");
    talk_says(&t, "solve P precond jacobi on cpu", "preconditioner  jacobi");
    assert_string_equal(t.s.solve->pre.method->name, "jacobi");
    assert_int_equal(t.s.solve->reason, CONVERGED);
    talk_says(&t, "solve P m 4 on cpu", "restarts after  4");
    talk_says(&t, "solve P step on cpu", "iteration");
    assert_int_equal(t.s.solve->reason, RUNNING);
    talk_says(&t, "solve P b random f32", "fp32");
    talk_refuses(&t, "solve P eps -1", "no method is known");
    talk_refuses(&t, "solve cgg", "did you mean `cg`?");
    talk_close(&t);
}

/* Only a set-up that was ended is said to take long: methods without a preconditioner have none. */
TEST(only_a_set_up_takes_long)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson3d 40"));
    for (double seconds = 0.005; seconds < 0.2; seconds *= 2) {
        char line[80];
        snprintf(line, sizeof line, "advise solver within %g", seconds);
        talk_forget(&t);
        assert_true(talk_line(&t, line));
        for (const char *row = t.out, *next; *row; row = next) {
            size_t n = strcspn(row, "\n");
            next = row + n + (row[n] == '\n');
            bool set_up = memmem(row, n, "its set-up takes more than", 26);
            if (set_up && !memchr(row, ',', 24)) fail_msg("%.*s", (int)n, row);
        }
        assert_null(strstr(t.out, "takes too long"));
    }
    talk_close(&t);
}

/* If b = 0, or if x0 is the solution, nothing is compared, and `solve` ends at once. */
TEST(nothing_is_recommended_for_a_trivial_system)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 20 as P; gen random 90 4 as R"));
    talk_says(&t, "advise solver P b zero", "None is taken: b = 0 and x = 0");
    assert_null(strstr(t.out, "Take `"));
    talk_says(&t, "advise solver R b zero", "None is taken: b = 0 and x = 0");
    talk_says(&t, "advise solver P b aones x0 ones", "None is taken: x0 solves the system");
    talk_says(&t, "solve P b zero", "b = 0, so x = 0");
    assert_true(t.s.solve->reason == CONVERGED && t.s.solve->iterations == 0);
    talk_says(&t, "solve R b aones x0 ones", "converged");
    talk_close(&t);
}

/* ---- solve watches itself ---- */

/* wjacobi is said to have converged in 2 iterations. */
static void flatter(struct solver_advice *a)
{
    for (int i = 0; i < a->n; i++) {
        struct trial *t = &a->at[i];
        t->guess_us *= 1e3;
        if (!t->solver || strcmp(t->solver->name, "wjacobi")) continue;
        *t = made(t->order, "wjacobi", NULL, 1, 1);
        t->iterations = 2;
        t->needs = (struct span){2, 2};
    }
}

TEST(a_missed_forecast_changes_the_method)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    solver_advice_hook(flatter);
    assert_true(talk_line(&t, "gen poisson2d 40"));
    talk_says(&t, "solve b random on cpu precond none", "converged      yes");
    solver_advice_hook(NULL);
    assert_non_null(strstr(t.err, "`solve wjacobi poisson2d"));
    const char *change = strstr(t.err, "more than three times its forecast: changing to ");
    if (!change) fail_msg("%s", t.err);
    assert_int_equal(t.s.solve->reason, CONVERGED);
    assert_string_not_equal(t.s.solve->solver->name, "wjacobi");
    talk_close(&t);
}

/* A method is said to converge although it does not: the next one takes over, and at the end the reasons are said. */
static void promise_gs(struct solver_advice *a)
{
    int kept = 0;
    for (int i = 0; i < a->n; i++)
        if (a->at[i].solver && !a->at[i].pre && !strcmp(a->at[i].solver->name, "gs")) a->at[kept++] = a->at[i];
    for (int i = 0; i < a->n && kept < 2; i++)
        if (a->at[i].solver && !a->at[i].pre && !strcmp(a->at[i].solver->name, "sor")) a->at[kept++] = a->at[i];
    a->n = kept;
    for (int i = 0; i < kept; i++) a->at[i] = made(i, a->at[i].solver->name, NULL, 1e6, 1e6);
}

TEST(solve_says_why_no_method_reached_tol)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    solver_advice_hook(promise_gs);
    assert_true(talk_line(&t, "gen poisson2d 40"));
    talk_says(&t, "solve b random maxit 25 on cpu f32", "converged      no");
    solver_advice_hook(NULL);
    assert_non_null(strstr(t.err, "changing to "));
    assert_non_null(strstr(t.err, "no method reached tol: gs: iteration-limit; sor: iteration-limit"));
    talk_close(&t);
}

TEST(within_ends_a_solve)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson3d 60; gen poisson2d 9 as P"));
    double start = steady_us();
    talk_says(&t, "solve poisson3d within 0.2 precond none tol 1e-12", "converged  ");
    assert_true(steady_us() - start < 20e6);
    assert_true(t.s.solve->reason == CONVERGED || strstr(t.err, "the time was over"));
    talk_says(&t, "solve P within 20", "yes");
    talk_refuses(&t, "solve P within 0", "leaves no time");
    talk_refuses(&t, "solve cg P within 5", "`within` is for `solve` without a solver");
    talk_refuses(&t, "solve direct P within 5", "`within` is for iterative solvers");
    talk_refuses(&t, "solve P within 5 step", "`within` is for a solve with one right side");
    talk_close(&t);
}

/* Every method of the registries can be written for every library that has it, and the result is complete. */
TEST(options_are_written_for_every_method)
{
    for (int p = 0; registry_at(&peer_registry, p); p++) {
        const struct peer *peer = peer_find(registry_at(&peer_registry, p)->name);
        int written = 0;
        for (int i = 0; solvers[i]; i++)
            for (int k = -1; k < 0 || preconds[k]; k++) {
                char text[2000] = "";
                struct peer_request r = {.solver = &solvers[i]->peers,
                                         .pre = k < 0 ? NULL : &preconds[k]->peers,
                                         .takes_precond = !solvers[i]->no_precond,
                                         .krylov = true,
                                         .tol = 1e-8,
                                         .maxit = 321,
                                         .m = solvers[i]->restarts ? 30 : 0};
                if ((k >= 0 && solvers[i]->no_precond) || !peer->has(&r)) continue;
                peer->write(&r, text, sizeof text);
                written++;
                size_t n = strlen(text);
                if (n + 1 == sizeof text || text[n - 1] != '\n' || !strstr(text, "1e-08") || !strstr(text, "321"))
                    fail_msg("%s, %s: %s", peer->name, solvers[i]->name, text);
                int open = 0;
                for (const char *c = text; *c; c++) open += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
                assert_int_equal(open, 0);
            }
        assert_true(written >= 6);
    }
}

TEST(the_command_writes_options)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 8 as P; gen poisson3d 20 as Q; let A = Q + 20*I; gen poisson2d 30 as B; "
                              "let S = B*B; let T = S*S"));
    talk_says(&t, "advise solver T options petsc",
              "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type cholmod");
    talk_says(&t, "advise solver P options hypre precond jacobi", "SetPrecond(solver, HYPRE_ParCSRDiagScale, ");
    talk_says(&t, "advise solver A options petsc tol 1e-6", "-ksp_rtol 1e-06 -ksp_atol 0 -ksp_max_it 10000");
    talk_says(&t, "advise solver A options ginkgo", "\"reduction_factor\": 1e-08}");
    talk_says(&t, "advise solver A options amgx precond jacobi", "\"preconditioner\": {\"solver\": \"BLOCK_JACOBI\"");
    talk_refuses(&t, "advise solver options scipy", "is not a library");
    talk_refuses(&t, "advise options petsc", "`options` is for `advise solver`");
    talk_close(&t);
}

/* ---- the words for iterations and times ---- */

/* A span has the unit of its longer time, and two digits. */
TEST(spans_have_the_unit_of_the_longer_time)
{
    static const struct {
        double low, high;
        const char *says;
    } cases[] = {
        {0.4, 0.994, "0.40 to 0.99 us"},
        {0.995, 9.94, "1.0 to 9.9 us"},
        {9.96, 940, "10 to 940 us"},
        {20, 999, "20 to 999 us"},
        {20, 1000, "0.02 to 1.0 ms"},
        {500, 1500, "0.50 to 1.5 ms"},
        {2000, 999e3, "2.0 to 999 ms"},
        {2e5, 1e6, "0.20 to 1.0 s"},
        {9e5, 3e6, "0.90 to 3.0 s"},
        {1e6, 12e6, "1.0 to 12 s"},
        {5, 2e7, "0.00 to 20 s"},
        {NAN, NAN, "-"},
        {NAN, 1e3, "-"},
        {20, INFINITY, "not yet known"},
    };
    for (int i = 0; i < COUNT(cases); i++)
        assert_string_equal(time_text(&(struct trial){.us = {cases[i].low, cases[i].high}}).text, cases[i].says);
}

TEST(spans_of_iterations_have_no_unit)
{
    static const struct {
        double low, high;
        const char *says;
    } cases[] = {{45, 45, "45"},       {1200, 1200, "1,200"}, {900, 3400, "900 to 3,400"},
                 {44, 45, "44 to 45"}, {0, 0, "0"},           {9, INFINITY, "not yet known"},
                 {NAN, NAN, "-"}};
    for (int i = 0; i < COUNT(cases); i++)
        assert_string_equal(needs_text(&(struct trial){.needs = {cases[i].low, cases[i].high}}).text, cases[i].says);
}
