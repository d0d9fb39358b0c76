/* Ctrl-C within an iteration of every solver, at every point where the iteration checks for Ctrl-C: the history and x
   stay as they were after the previous iteration, and the solve continues as if it had not been interrupted. Only the
   first thread checks for Ctrl-C, and with several threads the number of its checks varies: the tests run on one thread
   except where they say so. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "kits/amg_kit.h"
#include "kits/solve_kit.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "session/session_solve.h"
#include "solvers/amg.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <omp.h>

enum { ITERATIONS = 9, CYCLE = 4, LONG_CYCLE = 11, MAX_TICKS = 5000 };

/* on_threads has more than THREADS_FROM rows. */
static const struct problem on_cpu = {.generator = "poisson2d", .p = {70, 61}},
                            on_threads = {.generator = "poisson2d", .p = {131, 127}},
                            on_emu = {.generator = "poisson2d", .p = {23, 17}},
                            on_members = {.generator = "poisson2d", .p = {9, 7}},
                            tiny = {.generator = "poisson2d", .p = {3, 4}};

/* Returns true for the first `left` ticks, then cancels the work. */
static bool few_ticks(struct watch *w, const char *what, int64_t done, int64_t total)
{
    int *left = w->user;
    return (*left)-- > 0;
}

/* Ways to solve: a solver as it is, the matrix form of jacobi, and sums that the host adds; on the emulator also
   launches of many iterations. */
enum way { PLAIN, FORM_MATRIX, SUMS_HOST, WAYS, ONE_LAUNCH = WAYS };

static bool has_way(const struct solver *solver, enum way way)
{
    return way != FORM_MATRIX || solver->form_bytes;
}

struct run {
    struct bed bed;
    struct solve *v;
    double *b;
};

static void begin(struct run *r, const struct problem *p, const char *device, const struct solver *solver,
                  const struct precond *pre, enum way way)
{
    struct err e = {0};
    bed_make(&r->bed, p);
    const struct csr *A = &r->bed.s.current->csr;
    r->b = mem_new(A->rows, sizeof *r->b, "b", NULL);
    for (int64_t i = 0; i < A->rows; i++) r->b[i] = (double)(i % 7) - 2.5;
    struct solve_options o = {.solver = solver,
                              .pre = pre,
                              .dev = device_open(device, &e),
                              .real = P_F64,
                              .tol = 1e-30,
                              .m = !solver->restarts ? 0
                                   : p == &tiny      ? LONG_CYCLE
                                                     : CYCLE,
                              .maxit = 1000,
                              .b = r->b,
                              .form_matrix = way == FORM_MATRIX,
                              .sums_host = way == SUMS_HOST,
                              .launches = way == ONE_LAUNCH ? LAUNCHES_ONE : LAUNCHES_AUTO,
                              .keeps = true,
                              .force = true};
    if (!session_solve(&r->v, &r->bed.s, r->bed.s.current, &o, &e)) fail_msg("%s: %s", solver->name, e.text);
}

static void end(struct run *r)
{
    solve_free(r->v);
    mem_free(r->b);
    bed_free(&r->bed);
}

static void one_step(struct solve *v)
{
    struct err e = {0};
    v->steps_left = 1;
    if (!solve_slice(v, 0, &e)) fail_msg("%s: %s", v->solver->name, e.text);
}

static int64_t bytes_of_x(const struct solve *v)
{
    return v->n * (int64_t)sizeof(double);
}

/* The vector that holds the x of the last record. */
static void copy_x(const struct solve *v, double *to)
{
    int i = v->solver->alternates && (v->iterations - v->base) % 2 ? VEC_OWN : VEC_X;
    assert_true(v->dev->ops->get(v->dev, to, v->vec[i], bytes_of_x(v), NULL));
}

/* Interrupt one iteration at every point where it checks for Ctrl-C, then complete the iteration. Returns the number of
   interruptions. */
static int step_with_cuts(struct solve *v)
{
    int cuts = 0, stage = v->cut.stage;
    int64_t before = v->iterations;
    double *was = mem_new(v->n, sizeof *was, "x", NULL), *is = mem_new(v->n, sizeof *is, "x", NULL);
    copy_x(v, was);
    for (int ticks = 0; ticks < MAX_TICKS; ticks++) {
        int left = ticks;
        struct watch w = {few_ticks, &left};
        loop_enter(&w);
        one_step(v);
        loop_enter(NULL);
        /* the iteration is complete, but the computation of the true residual may have been interrupted */
        if (v->iterations > before) break;
        assert_true(v->cut.now);
        cuts++;
        assert_int_equal(v->iterations, before);
        assert_int_equal(v->reason, RUNNING);
        copy_x(v, is);
        assert_memory_equal(was, is, (size_t)bytes_of_x(v));
        if (v->cut.stage != stage) ticks = -1; /* interrupt the next part of the iteration at every point, too */
        stage = v->cut.stage;
    }
    assert_int_equal(v->iterations, before + 1);
    mem_free(was);
    mem_free(is);
    return cuts;
}

static void check_same(const struct run *cut, const struct run *whole)
{
    const struct solve *a = cut->v, *b = whole->v;
    assert_int_equal(a->iterations, b->iterations);
    assert_memory_equal(a->history.residual, b->history.residual, (size_t)(b->iterations + 1) * sizeof(double));
    assert_memory_equal(a->history.alpha, b->history.alpha, (size_t)(b->iterations + 1) * sizeof(double));
    assert_memory_equal(a->result.x, b->result.x, (size_t)bytes_of_x(b));
}

static void check(const struct problem *p, const char *device, const struct solver *solver, const struct precond *pre,
                  enum way way)
{
    struct run whole = {0}, cut = {0};
    struct err e = {0};
    int cuts = 0;
    begin(&whole, p, device, solver, pre, way);
    begin(&cut, p, device, solver, pre, way);
    for (int i = 0; i < ITERATIONS; i++) {
        one_step(whole.v);
        cuts += step_with_cuts(cut.v);
    }
    if (cuts <= 2 * ITERATIONS) fail_msg("%s: %d interruptions", solver->name, cuts);
    assert_true(solve_end(whole.v, &e) && solve_end(cut.v, &e));
    check_same(&cut, &whole);
    end(&whole);
    end(&cut);
}

static void check_all(const struct problem *p, const char *device)
{
    loop_check_all(true);
    for (int i = 0; solvers[i]; i++) {
        for (enum way way = 0; way < WAYS; way++)
            if (has_way(solvers[i], way)) check(p, device, solvers[i], NULL, way);
        for (int k = 0; preconds[k]; k++)
            if (takes_definite(solvers[i], preconds[k])) check(p, device, solvers[i], preconds[k], PLAIN);
    }
    loop_check_all(false);
}

TEST(iterations_on_cpu_can_be_cut)
{
    check_all(&on_cpu, "cpu");
}

TEST(iterations_on_several_threads_can_be_cut)
{
    omp_set_num_threads(3);
    loop_check_all(true);
    for (int i = 0; solvers[i]; i++) check(&on_threads, "cpu", solvers[i], NULL, PLAIN);
    loop_check_all(false);
    omp_set_num_threads(1);
}

TEST(iterations_on_the_emulator_can_be_cut)
{
    check_all(&on_emu, "emu");
    loop_check_all(true);
    for (int i = 0; solvers[i]; i++)
        if (solvers[i]->steps) check(&on_emu, "emu", solvers[i], NULL, ONE_LAUNCH);
    /* a cycle has almost as many iterations as A has rows */
    for (int i = 0; solvers[i]; i++)
        if (solvers[i]->restarts) check(&tiny, "emu", solvers[i], NULL, PLAIN);
    loop_check_all(false);
}

/* On a device with members, Ctrl-C may come between two members. */
TEST(iterations_on_members_can_be_cut)
{
    loop_check_all(true);
    for (int i = 0; solvers[i]; i++)
        if (solvers[i]->several) check(&on_members, "emu*2", solvers[i], NULL, PLAIN);
    check(&on_members, "emu*3", solver_find("cg"), precond_find("jacobi"), PLAIN);
    loop_check_all(false);
}

static void check_kept(const struct solver *solver, enum way way, int ticks)
{
    struct run whole = {0}, cut = {0};
    struct err e = {0};
    struct watch w = {few_ticks, &ticks};
    begin(&whole, &on_cpu, "cpu", solver, NULL, way);
    begin(&cut, &on_cpu, "cpu", solver, NULL, way);
    for (int k = 0; k < CYCLE + 1; k++) one_step(cut.v);
    loop_enter(&w);
    for (int k = 0; k < 20 && !cut.v->cut.now; k++) one_step(cut.v);
    assert_true(cut.v->cut.now);
    assert_true(solve_end(cut.v, &e));
    loop_enter(NULL);
    assert_true(solve_fetch_x(cut.v, &e));
    while (whole.v->iterations < cut.v->iterations) one_step(whole.v);
    assert_true(solve_end(whole.v, &e));
    assert_int_equal(cut.v->reason, STOPPED);
    check_same(&cut, &whole);
    end(&whole);
    end(&cut);
}

static void check_back(const struct solver *solver, enum way way)
{
    struct run whole = {0}, cut = {0};
    struct err e = {0};
    begin(&whole, &on_cpu, "cpu", solver, NULL, way);
    begin(&cut, &on_cpu, "cpu", solver, NULL, way);
    for (int k = 0; k < ITERATIONS; k++) one_step(whole.v);
    for (int k = 0; k < ITERATIONS; k++) one_step(cut.v);
    for (int ticks = 0; !cut.v->cut.stage && cut.v->iterations < ITERATIONS + 2 && ticks < 200; ticks++) {
        int left = ticks;
        struct watch w = {few_ticks, &left};
        loop_enter(&w);
        one_step(cut.v);
        loop_enter(NULL);
    }
    assert_true(solve_back(cut.v, 5, &e));
    while (cut.v->iterations < ITERATIONS) one_step(cut.v);
    assert_true(solve_end(whole.v, &e) && solve_end(cut.v, &e));
    check_same(&cut, &whole);
    end(&whole);
    end(&cut);
}

/* If a solve is ended after an iteration was interrupted, x is the x of the last record. */
TEST(a_solve_that_was_cut_keeps_x)
{
    loop_check_all(true);
    for (int i = 0; solvers[i]; i++)
        for (enum way way = 0; way < WAYS; way++)
            for (int ticks = 0; ticks < 40 && has_way(solvers[i], way); ticks += 3) check_kept(solvers[i], way, ticks);
    loop_check_all(false);
}

/* Compute the x that was left for later, and interrupt the computation at every point where it checks for Ctrl-C.
   Returns the number of interruptions. */
static int fetch_with_cuts(struct solve *v)
{
    bool done = false;
    int ticks = 0;
    for (; !done && ticks < MAX_TICKS; ticks++) {
        struct err e = {0};
        int left = ticks;
        struct watch w = {few_ticks, &left};
        loop_enter(&w);
        done = solve_fetch_x(v, &e);
        loop_enter(NULL);
        assert_true(done || e.code == E_CANCELLED);
    }
    assert_non_null(v->result.x);
    return ticks - 1;
}

static void check_later(const struct solver *solver, const struct precond *pre)
{
    struct run whole = {0}, cut = {0};
    struct err e = {0};
    int ticks = 3;
    struct watch w = {few_ticks, &ticks};
    begin(&whole, &on_cpu, "cpu", solver, pre, PLAIN);
    begin(&cut, &on_cpu, "cpu", solver, pre, PLAIN);
    for (int k = 0; k < CYCLE + 2; k++) one_step(cut.v);
    for (int k = 0; k < CYCLE + 2; k++) one_step(whole.v);
    loop_enter(&w);
    one_step(cut.v);
    assert_true(solve_end_soon(cut.v, 0, &e));
    loop_enter(NULL);
    assert_true(solve_end(whole.v, &e));
    assert_int_equal(cut.v->reason, STOPPED);
    bool right = pre && !solver->own_precond;
    assert_int_equal(cut.v->result.later, right || solver->restarts);
    assert_true(!cut.v->result.later || (isnan(cut.v->result.residual_true) && !cut.v->result.x));
    assert_true(solve_has_x(cut.v));
    assert_true(fetch_with_cuts(cut.v) > 0 || !(right || solver->restarts));
    assert_false(cut.v->result.later);
    check_same(&cut, &whole);
    end(&whole);
    end(&cut);
}

/* After Ctrl-C, an x that takes long is computed when it is asked for. */
TEST(x_can_be_left_for_later)
{
    loop_check_all(true);
    for (int i = 0; solvers[i]; i++) {
        check_later(solvers[i], NULL);
        for (int k = 0; preconds[k]; k++)
            if (takes_definite(solvers[i], preconds[k])) check_later(solvers[i], preconds[k]);
    }
    loop_check_all(false);
}

/* `stop` computes the true residual of a large matrix as long as it takes, unless Ctrl-C ends it: x stays. */
TEST(the_residual_of_a_stopped_solve_can_be_cut)
{
    static const struct problem large = {.generator = "poisson2d", .p = {700, 700}};
    for (int cut = 0; cut < 2; cut++) {
        struct run r = {0};
        struct err e = {0};
        int left = cut ? 2 : MAX_TICKS;
        struct watch w = {few_ticks, &left};
        begin(&r, &large, "cpu", solver_find("cg"), NULL, PLAIN);
        one_step(r.v);
        loop_check_all(true);
        loop_enter(&w);
        assert_true(solve_end(r.v, &e));
        loop_enter(NULL);
        loop_check_all(false);
        assert_true(solve_has_x(r.v) && isnan(r.v->result.residual_true) == cut);
        end(&r);
    }
}

static bool count_ticks(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return ++*(int *)w->user > 0;
}

/* The number of times that the set-up of gmres checks for Ctrl-C; m 0: m is estimated from a short cycle. */
static int ticks_of_set_up(int64_t m)
{
    struct run r = {0};
    struct err e = {0};
    int ticks = 0;
    struct watch w = {count_ticks, &ticks};
    bed_make(&r.bed, &on_cpu);
    int64_t n = r.bed.s.current->csr.rows;
    r.b = mem_new(n, sizeof *r.b, "b", NULL);
    for (int64_t i = 0; i < n; i++) r.b[i] = 1;
    struct solve_options o = {.solver = solver_find("gmres"),
                              .dev = device_open("cpu", &e),
                              .real = P_F64,
                              .tol = 1e-8,
                              .m = m,
                              .maxit = 10,
                              .b = r.b};
    loop_check_all(true);
    loop_enter(&w);
    assert_true(session_solve(&r.v, &r.bed.s, r.bed.s.current, &o, &e));
    loop_enter(NULL);
    loop_check_all(false);
    end(&r);
    return ticks;
}

/* Ctrl-C can end each iteration of the short cycle from which gmres estimates m. */
TEST(the_estimate_of_m_can_be_cut)
{
    enum { TRIAL = 5, PASSES = 5 };
    assert_true(ticks_of_set_up(0) > ticks_of_set_up(4) + TRIAL * PASSES);
}

/* If an iteration is interrupted between its two parts and the solve then goes back, the iteration runs again from its
   beginning. */
TEST(a_solve_that_was_cut_can_go_back)
{
    loop_check_all(true);
    for (int i = 0; solvers[i]; i++)
        for (enum way way = 0; way < WAYS; way++)
            if (has_way(solvers[i], way)) check_back(solvers[i], way);
    loop_check_all(false);
}

static int one_thread(void **state)
{
    omp_set_num_threads(1);
    return amg_of_few_rows(state);
}

SUITE(.setup = one_thread);
