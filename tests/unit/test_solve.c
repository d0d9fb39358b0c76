/* The solvers on cpu and emu: known results, equal bits in every run, stepping, cancelling, failing allocations, and
   the commands. */
#include "base/mem.h"
#include "base/precision.h"
#include "files/matrix_market.h"
#include "kits/complex_kit.h"
#include "kits/dev_fake.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/run_lines.h"
#include "machine/kernel.h"
#include "machine/passes.h"
#include "machine/sum_tree.h"
#include "session/matrix.h"
#include "session/session_solve.h"
#include "solvers/hessenberg.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <complex.h>
#include <omp.h>
#include <unistd.h>

static const char *const devices[] = {"cpu", "emu"};
static const enum precision reals[] = {P_F64, P_F32};

static void everywhere(void (*check)(const char *device, enum precision real))
{
    for (int d = 0; d < COUNT(devices); d++)
        for (int r = 0; r < COUNT(reals); r++) check(devices[d], reals[r]);
}

TEST(test_vectors)
{
    everywhere(check_vectors);
    everywhere(check_cg_sums);
}

TEST(test_known_ends)
{
    everywhere(check_known_ends);
}

TEST(test_frozen)
{
    everywhere(check_frozen);
}

TEST(test_formats)
{
    everywhere(check_formats);
}

TEST(test_kernels)
{
    everywhere(check_kernels);
}

TEST(test_forms)
{
    everywhere(check_forms);
}

TEST(test_clusters)
{
    check_clusters("emu", P_F64);
    check_clusters("emu", P_F32);
}

TEST(test_host_sums)
{
    everywhere(check_host_sums);
}

/* THESIS 3.3.2: at most 512 blocks; from 512 * 512 elements on, 512 blocks of 512 threads. */
TEST(test_sum_tree)
{
    static const struct {
        int64_t n;
        struct sum_tree tree;
    } known[] = {
        {0, {128, 1, 128}},        {1, {128, 1, 128}},        {128, {128, 1, 128}},        {129, {128, 2, 128}},
        {65536, {128, 512, 128}},  {65537, {256, 257, 256}},  {131072, {256, 512, 256}},   {131073, {512, 257, 512}},
        {262144, {512, 512, 512}}, {262145, {512, 512, 513}}, {1000000, {512, 512, 1954}},
    };
    for (int i = 0; i < COUNT(known); i++) {
        struct sum_tree t = sum_tree_of(known[i].n), k = known[i].tree;
        if (t.threads != k.threads || t.blocks != k.blocks || t.each != k.each)
            fail_msg("%lld: %d threads, %d blocks, %lld each", (long long)known[i].n, t.threads, t.blocks,
                     (long long)t.each);
    }
    for (int64_t n = 1; n < 3000000; n += 1 + n / 7) {
        struct sum_tree t = sum_tree_of(n);
        assert_true(t.blocks <= 512 && t.blocks * t.each >= n && (t.blocks - 1) * t.each < n);
    }
}

TEST(test_agreement)
{
    check_agreement("cpu", "emu", P_F64);
    check_agreement("cpu", "emu", P_F32);
}

static const struct problem grid = {.generator = "poisson2d", .p = {201, 190}};

/* The sums do not depend on the number of threads. */
TEST(test_threads)
{
    struct bed bed;
    struct solve_options o = {.solver = solver_find("cg"), .real = P_F64, .tol = 0, .maxit = 30};
    int threads = omp_get_max_threads();
    bed_make(&bed, &grid);
    bed_solve(&bed, o, "cpu", 1e9);
    double last = bed.s.solve->residual;
    assert_int_equal(bed.s.solve->set.window, 2000);
    omp_set_num_threads(threads > 1 ? 1 : 3);
    bed_solve(&bed, o, "cpu", 1e9);
    omp_set_num_threads(threads);
    assert_true(bed.s.solve->residual == last);
    bed_free(&bed);
}

/* `step N` runs N iterations and pauses; `stop` keeps x and its residual. */
TEST(test_steps)
{
    struct bed bed;
    struct err e = {0};
    for (int i = 0; solvers[i]; i++) {
        struct solve_options o = {.solver = solvers[i], .real = P_F64, .tol = 1e-10, .maxit = 1000};
        bed_make(&bed, &grid);
        o.dev = device_open("cpu", &e);
        double *b = mem_zero(bed.s.current->csr.rows, sizeof *b, "b", &e);
        b[7] = 1;
        o.b = b;
        assert_true(session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, &e));
        struct solve *v = bed.s.solve;
        v->steps_left = 3;
        while (!v->paused) assert_true(solve_slice(v, 1e9, &e));
        assert_int_equal(v->iterations, 3);
        assert_true(v->time.nphases > 0 && v->time.phase[0].n > 0);
        assert_true(solve_end(v, &e));
        assert_int_equal(v->reason, STOPPED);
        assert_true(fabs(v->result.residual_true - v->residual) < 1e-12);
        assert_true(isnan(v->result.error_known));
        mem_free(b);
        bed_free(&bed);
    }
}

/* A solve with its nth allocation failing; returns true if there were fewer allocations. */
static bool solve_failing(const struct solver *solver, bool form, int64_t nth)
{
    struct bed bed;
    struct err e = {0};
    double b[20] = {1};
    struct solve_options o = {.solver = solver, .real = P_F32, .tol = 1e-3, .maxit = 500, .b = b, .form_matrix = form};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {5, 4}});
    o.dev = device_open("cpu", &e);
    mem_fail_at(nth);
    bool done = session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, &e);
    while (done && bed.s.solve->reason == RUNNING) done = solve_slice(bed.s.solve, 1e9, &e);
    done = done && solve_end(bed.s.solve, &e);
    mem_fail_at(0);
    if (!done) assert_int_equal(e.code, E_MEMORY);
    bed_free(&bed);
    return done;
}

/* Each allocation of a solve fails in turn; each failure is reported, and nothing leaks. */
TEST(test_failing_allocations)
{
    for (int i = 0; solvers[i]; i++)
        for (int form = 0; form <= (solvers[i]->form_bytes != NULL); form++) {
            int64_t nth = 1;
            while (!solve_failing(solvers[i], form, nth)) nth++;
            assert_true(nth > 10);
        }
}

/* The nth call of a kind fails on the device: the failure is reported, device memory is released, and the session can
   continue. */
static bool solve_on_fake(struct fake *f, const char *solver, enum fake_call call, int64_t nth, struct err *e)
{
    struct bed bed;
    double b[20] = {1};
    struct solve_options o = {.solver = solver_find(solver), .real = P_F64, .tol = 1e-6, .maxit = 50, .b = b};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {5, 4}});
    o.dev = &f->dev;
    f->fail_in[call] = nth;
    bool ok = session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, e);
    while (ok && bed.s.solve->reason == RUNNING) ok = solve_slice(bed.s.solve, 100, e);
    ok = ok && solve_end(bed.s.solve, e);
    f->fail_in[call] = 0;
    if (f->dev.lost) session_device_lost(&bed.s, &f->dev);
    bed_free(&bed);
    assert_int_equal(f->nblocks, 0);
    return ok;
}

static void check_failing_calls(struct fake *f, const char *solver, enum fake_call call)
{
    struct err e = {0};
    int64_t nth = 1;
    for (; !solve_on_fake(f, solver, call, nth, &e); nth++) {
        assert_true(e.code == E_DEVICE || e.code == E_MEMORY);
        assert_true(*e.text && !f->dev.lost);
        err_clear(&e);
    }
    assert_true(nth > 2);
}

TEST(test_failing_device)
{
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC};
    static const char *const some[] = {"cg", "gmres"};
    static struct fake f;
    struct err e = {0};
    if (!fake_open(&f, "fake", "emu", 1 << 20, &e)) fail_msg("%s", e.text);
    for (int lose = 0; lose < 2; lose++) {
        f.sticky = lose;
        for (int i = 0; i < COUNT(calls) * COUNT(some); i++) check_failing_calls(&f, some[i % 2], calls[i / 2]);
    }
}

/* The bytes that a solver reports equal the bytes in its documentation. */
TEST(test_bytes)
{
    struct csr A = {.rows = 1000, .cols = 1000, .nnz = 5000};
    assert_true(solver_find("jacobi")->bytes(&A, 8, 0) == 12 * 5000 + 4 * 1000 + 24 * 1000);
    assert_true(solver_find("cg")->bytes(&A, 8, 0) == 12 * 5000 + 4 * 1000 + 72 * 1000);
    assert_true(solver_find("bicgstab")->bytes(&A, 8, 0) == 2 * (12 * 5000 + 4 * 1000) + 152 * 1000);
    assert_true(solver_find("gmres")->bytes(&A, 8, 10) == 1.1 * (12 * 5000 + 4 * 1000) + 8000 * (2 * 10 + 13 + 1.8));
    assert_true(solver_find("qmrcgstab")->bytes(&A, 8, 0) == 2 * (12 * 5000 + 4 * 1000) + 200 * 1000);
    assert_true(solver_find("minres")->bytes(&A, 8, 0) == 12 * 5000 + 4 * 1000 + 96 * 1000);
    assert_true(solver_find("cg")->bytes(&A, 4, 0) == 8 * 5000 + 4 * 1000 + 36 * 1000);
}

/* In f32, the residual that gmres estimates becomes smaller than the true residual. Each estimate is checked and
   rejected, and the solve ends. */
TEST(test_estimates_of_gmres_are_checked)
{
    static const struct problem poisson = {.generator = "poisson2d", .p = {30, 30}};
    struct solve_options o = {.solver = solver_find("gmres"), .m = 100, .real = P_F32, .tol = 1e-7, .maxit = 150};
    static const char *const both[] = {"cpu", "emu"};
    for (int i = 0; i < COUNT(both); i++) {
        struct bed bed;
        bed_make(&bed, &poisson);
        bed_solve(&bed, o, both[i], 1e9);
        assert_int_equal(bed.s.solve->reason, MAX_ITERATIONS);
        assert_int_equal(bed.s.solve->iterations, 150);
        assert_true(bed.s.solve->residual > 1e-7);
        bed_free(&bed);
    }
}

/* The reduction of the residual by the first TRIAL iterations without a restart. */
static double reduction_of(struct bed *bed, struct solve_options o)
{
    enum { TRIAL = 5 };
    o.m = o.maxit = TRIAL;
    bed_solve(bed, o, "cpu", 1e9);
    const double *residual = bed->s.solve->history.residual;
    return residual[TRIAL] / residual[0];
}

/* m = (1 + d) (log tol / log tau - 1) - 3 - d for d entries per row and the reduction tau of a short cycle (THESIS
   3.3), from 30 to 200, and at most the number of rows. */
TEST(test_estimate_of_m)
{
    static const struct {
        struct problem problem;
        double tol;
        int64_t m; /* 0: from the formula, between the bounds */
    } cases[] = {
        {{.generator = "poisson2d", .p = {30, 30}}, 1e-8, 40}, /* d = 4.87, tau = 0.138: 5.87 * 8.30 - 7.87 */
        {{.generator = "poisson2d", .p = {30, 30}}, 1e-10, 0},
        {{.generator = "poisson2d", .p = {30, 30}}, 0, 40}, /* as for 1e-8 */
        {{.generator = "poisson3d", .p = {10, 10, 10}}, 1e-8, 0},
        {{.generator = "fem", .p = {12, 12}}, 1e-8, 0},
        {{.generator = "circuit", .p = {2000, 4}}, 1e-8, 30},
        {{.generator = "random", .p = {300, 5}}, 1e-8, 200},
        {{.generator = "random", .p = {150, 5}}, 1e-8, 150},
        {{.generator = "poisson2d", .p = {5, 5}}, 1e-8, 25},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct bed bed;
        struct solve_options o = {.solver = solver_find("gmres"), .real = P_F64, .tol = cases[i].tol, .maxit = 1};
        bed_make(&bed, &cases[i].problem);
        const struct csr *A = &bed.s.current->csr;
        double d = (double)A->nnz / (double)A->rows, tau = reduction_of(&bed, o);
        double formula = (1 + d) * (log(cases[i].tol) / log(tau) - 1) - 3 - d;
        int64_t want = cases[i].m ? cases[i].m : (int64_t)formula;
        if (!cases[i].m) assert_true(formula > 31 && formula < 199);
        bed_solve(&bed, o, "cpu", 1e9);
        if (bed.s.solve->set.m != want)
            fail_msg("case %d: m is %lld, not %lld", i, (long long)bed.s.solve->set.m, (long long)want);
        bed_free(&bed);
    }
}

/* The estimate is kept as the formula gives it, also if m is kept within bounds, and not if m was given. */
TEST(test_estimate_is_kept)
{
    static const struct problem poisson = {.generator = "poisson2d", .p = {30, 30}};
    static const struct problem circuit = {.generator = "circuit", .p = {2000, 4}};
    struct solve_options o = {.solver = solver_find("gmres"), .real = P_F64, .tol = 1e-8, .maxit = 1};
    struct bed bed;
    bed_make(&bed, &poisson);
    double tau = reduction_of(&bed, o), delta = 4380.0 / 900;
    bed_solve(&bed, o, "cpu", 1e9);
    const struct restart_estimate *m = &bed.s.solve->estimate;
    assert_true(m->made && fabs(m->tau - tau) < 1e-6 * tau && fabs(m->delta - delta) < 1e-12);
    assert_true(fabs(m->m - ((1 + delta) * (log(1e-8) / log(tau) - 1) - 3 - delta)) < 1e-4);
    bed_free(&bed);
    bed_make(&bed, &circuit);
    bed_solve(&bed, o, "cpu", 1e9);
    assert_true(bed.s.solve->estimate.made && bed.s.solve->estimate.m < 29 && bed.s.solve->set.m == 30);
    o.m = 7;
    bed_solve(&bed, o, "cpu", 1e9);
    assert_false(bed.s.solve->estimate.made);
    bed_free(&bed);
}

/* ---- the least-squares problem on the host (THESIS 3.3.3, step 4) ---- */

/* One column: H = (3, 4)' and beta = 5, so y = 5 * 3 / 25. Two columns: y solves H'H y = beta H' e_1, here
   (5 4; 4 14) y = (2; 4), so y = (2 * 14 - 4 * 4, 5 * 4 - 4 * 2) / 54. */
TEST(test_hessenberg_minimise)
{
    double one[] = {3, 4}, two[] = {1, 2, 0, 2, 1, 3}, g[3], y[2];
    assert_int_equal(hessenberg_minimise(1, one, 2, 5, g, y), 4 + 5);
    assert_true(fabs(y[0] - 0.6) < 1e-15);
    assert_true(fabs(g[1]) == 4); /* the residual that is left */
    assert_int_equal(hessenberg_minimise(2, two, 3, 2, g, y), 4 * 4 + 5 * 2);
    assert_true(fabs(y[0] - 12.0 / 54) < 1e-15 && fabs(y[1] - 12.0 / 54) < 1e-15);
    double large[31 * 30] = {0}, room[31], x[30];
    for (int j = 0; j < 30; j++)
        for (int i = 0; i <= j + 1; i++) large[j * 31 + i] = 1 + (i * 7 + j * 3) % 11;
    assert_int_equal(hessenberg_minimise(30, large, 31, 1, room, x), 4 * 30 * 30 + 5 * 30);
}

/* The host finds the same x as the device, in as many iterations, also beyond a restart. */
TEST(test_least_squares_on_the_host)
{
    static const struct problem poisson = {.generator = "poisson2d", .p = {12, 11}};
    static const char *const both[] = {"cpu", "emu"};
    for (int d = 0; d < COUNT(both); d++)
        for (int real = 0; real < 2; real++) {
            struct solve_options o = {.solver = solver_find("gmres"), .m = 9, .real = real ? P_F32 : P_F64};
            struct bed bed;
            double x[132];
            o.tol = real ? 1e-4 : 1e-9;
            o.maxit = 200;
            bed_make(&bed, &poisson);
            bed_solve(&bed, o, both[d], 1e9);
            int64_t iterations = bed.s.solve->iterations;
            memcpy(x, bed.s.solve->result.x, sizeof x);
            o.least_host = true;
            bed_solve(&bed, o, both[d], 1e9);
            struct solve *v = bed.s.solve;
            assert_int_equal(v->reason, CONVERGED);
            assert_int_equal(v->iterations, iterations);
            assert_true(iterations > 2 * 9);
            for (int i = 0; i < COUNT(x); i++) assert_true(fabs(v->result.x[i] - x[i]) < (real ? 1e-5 : 1e-12));
            assert_int_equal(v->work.cycle[OP_LEAST_SQUARES], 1);
            assert_int_equal(v->work.cycle[OP_LEAST_OPERATIONS], 4 * 9 * 9 + 5 * 9);
            bed_free(&bed);
        }
}

/* ---- operations of a cycle (THESIS table 3.1) ---- */

/* The passes of gmres and the kernel, which count their calls and pass them on. */
static struct kernel counting_kernel;
static const struct kernel *real_kernel;
static int64_t called[OPERATIONS_OF_CYCLE], cycle_called[OPERATIONS_OF_CYCLE];

static bool counted_spmv(const struct launch *L, struct err *e)
{
    called[OP_SPMV]++;
    called[OP_PASS]++;
    return real_kernel->product[P_F64](L, e);
}

static void pass_on(const char *name, const struct pass_call *c)
{
    struct err e = {0};
    called[OP_PASS]++;
    assert_true(pass_run(&passes_gmres, name, c, &e));
}

static void counted_dots(const struct pass_call *c)
{
    called[OP_DOT] += c->number[2] - c->number[1];
    pass_on("dots", c);
}

static void counted_subtract(const struct pass_call *c)
{
    called[OP_UPDATE] += c->number[2] - c->number[1];
    called[OP_NORM] += c->number[4];
    pass_on("subtract", c);
}

static void counted_column(const struct pass_call *c)
{
    pass_on("column", c);
}

static void counted_solve(const struct pass_call *c)
{
    called[OP_LEAST_SQUARES]++;
    pass_on("solve", c);
}

static void counted_add(const struct pass_call *c)
{
    called[OP_BASIS]++;
    called[OP_UPDATE]++;
    pass_on("add", c);
}

static void counted_residual(const struct pass_call *c)
{
    called[OP_UPDATE]++;
    called[OP_NORM]++;
    pass_on("residual", c);
}

/* The scaling after a residual is the end of a cycle. */
static void counted_scale(const struct pass_call *c)
{
    called[OP_SCALE]++;
    pass_on("scale", c);
    if (!called[OP_LEAST_SQUARES]) return;
    memcpy(cycle_called, called, sizeof called);
    memset(called, 0, sizeof called);
}

static const struct pass counting[] = {{"dots", 3, 4, counted_dots},     {"subtract", 3, 5, counted_subtract},
                                       {"column", 1, 3, counted_column}, {"solve", 1, 1, counted_solve},
                                       {"add", 3, 1, counted_add},       {"residual", 3, 1, counted_residual},
                                       {"scale", 2, 0, counted_scale},   {NULL}};
static const struct pass_tables counting_tables = {
    {[SUMS_BY_DEVICE][T_F64] = counting, [SUMS_BY_HOST][T_F64] = counting}};
static const struct passes counting_gmres = {"gmres", {[DEV_CPU] = &counting_tables, [DEV_EMU] = &counting_tables}};

static void count_calls(struct solve *v)
{
    real_kernel = v->matrix.kernel;
    counting_kernel = *real_kernel;
    counting_kernel.product[P_F64] = counted_spmv;
    v->ops.passes = &counting_gmres;
    v->matrix.kernel = &counting_kernel;
    memset(called, 0, sizeof called);
    memset(cycle_called, 0, sizeof cycle_called);
}

/* Table 3.1 gives m + 1 SpMVs, m (m + 3) / 2 + 1 inner products and norms, one product of a dense matrix and a vector
   and one least-squares system. Modified Gram-Schmidt has these counts; classical Gram-Schmidt, which we do twice, has
   m (m + 1) / 2 more inner products. The table gives six additions and scalings; its algorithm (figure 3.3) has
   m (m + 3) / 2 + 3, and we have one less, because v_(m + 1) is not needed. */
static void check_table_3_1(const struct solve *v)
{
    int64_t m = v->set.m, again = v->set.modified ? 0 : m * (m + 1) / 2;
    const int64_t *c = v->work.cycle;
    assert_int_equal(c[OP_SPMV], m + 1);
    assert_int_equal(c[OP_DOT] + c[OP_NORM], m * (m + 3) / 2 + 1 + again);
    assert_int_equal(c[OP_NORM], m + 1);
    assert_int_equal(c[OP_BASIS], 1);
    assert_int_equal(c[OP_LEAST_SQUARES], 1);
    assert_int_equal(c[OP_UPDATE] + c[OP_SCALE], m * (m + 3) / 2 + 3 - 1 + again);
    assert_int_equal(c[OP_PASS], v->set.modified ? m + 1 + m * (m + 1) + 2 * m + 3 : m + 1 + 4 * m + 2 * m + 3);
}

static void check_cycle(const char *device, int64_t m, bool modified, bool sums_host)
{
    struct bed bed;
    struct err e = {0};
    double b[99];
    for (int i = 0; i < COUNT(b); i++) b[i] = 1 + i % 5;
    struct solve_options o = {
        .solver = solver_find("gmres"), .m = m, .modified = modified, .sums_host = sums_host, .real = P_F64};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {11, 9}});
    o.dev = device_open(device, &e);
    o.maxit = 2 * m + 1;
    o.tol = 1e-14;
    o.b = b;
    assert_true(session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, &e));
    struct solve *v = bed.s.solve;
    assert_int_equal(v->work.cycle[OP_PASS], 0);
    count_calls(v);
    while (v->reason == RUNNING) assert_true(solve_slice(v, 1e9, &e));
    assert_memory_equal(v->work.cycle, cycle_called, sizeof cycle_called);
    check_table_3_1(v);
    v->ops.passes = NULL;
    v->matrix.kernel = real_kernel;
    bed_free(&bed);
}

TEST(test_operations_of_a_cycle)
{
    static const int64_t m[] = {1, 2, 5, 13};
    static const char *const both[] = {"cpu", "emu"};
    for (int d = 0; d < COUNT(both); d++)
        for (int i = 0; i < COUNT(m); i++)
            for (int way = 0; way < 4; way++) check_cycle(both[d], m[i], way % 2, way / 2);
}

/* ---- the commands ---- */

static char printed[1 << 16];

/* Run a line; returns all that it printed. */
static const char *say(struct bed *bed, const char *line, bool ok)
{
    rewind(bed->data);
    rewind(bed->messages);
    assert_int_equal(ftruncate(fileno(bed->data), 0), 0);
    assert_int_equal(ftruncate(fileno(bed->messages), 0), 0);
    if (run_line(&bed->s, line) != ok) fail_msg("%s: ended %s", line, ok ? "badly" : "well");
    rewind(bed->data);
    rewind(bed->messages);
    size_t n = fread(printed, 1, sizeof printed - 1, bed->data);
    n += fread(printed + n, 1, sizeof printed - 1 - n, bed->messages);
    printed[n] = 0;
    return printed;
}

static void expect(struct bed *bed, const char *line, bool ok, const char *part)
{
    if (!strstr(say(bed, line, ok), part)) fail_msg("%s: expected '%s' in:\n%s", line, part, printed);
}

TEST(test_commands)
{
    static const struct {
        const char *line;
        bool ok;
        const char *part;
    } lines[] = {
        {"step", false, "no solve is paused"},
        {"solve cg on cpu", true, "because        relative residual"},
        {"solve cg on cpu", true, "error in x"},
        {"continue", false, "no solve is paused"},
        {"solve cg on cpu step", true, "        0  1.000000e+00"},
        {"step 2", true, "        2  "},
        {"stop", true, "stopped by the user after iteration 2; x is kept"},
        {"solve jacobi on cpu step; step 3; continue", true, "converged"},
        {"solve jacobi on emu tol 1e-3 f32 using ell b random seed 4 x0 ones", true, "fp32"},
        {"solve jacobi on cpu eps 1e-4", true, "max |x' - x|"},
        {"solve cg on cpu maxit 3", true, "limit of 3 iterations"},
        {"solve cg on cpu b /nowhere/b.mtx", false, "/nowhere/b.mtx"},
        {"solve cg on cpu save /nowhere/x.mtx", false, "/nowhere/x.mtx"},
        {"solve cg on cpu b rnadom", false,
         "`rnadom` is neither a readable file nor one of aones, avaried, ones, random, zero"},
        {"solve cg on cpu x0 aones", false, "`aones` is neither a readable file nor one of zero, ones, random"},
        {"solve cg on cpu tol -1", false, "tol is -1; it must not be negative"},
        {"solve cg on cpu maxit -3", false, "maxit is -3; it must not be negative"},
        {"solve jacobi on cpu eps -2", false, "eps is -2; it must not be negative"},
        {"solve cg on cpu kernel ell using csr", false, "works on format"},
        {"solve wjacobi on cpu omega 0.9", true, "converged"},
        {"solve jacobi on cpu form matrix", true, "kernel         vab-"},
        {"solve jacobi on cpu form matrix", true, "form           x' = B x + f; the residual is D (x' - x), "},
        {"solve jacobi on cpu form matrix eps 1e-4", true, "max |x' - x|"},
        {"solve wjacobi on cpu form matrix using ell", true, "converged      yes"},
        {"solve jacobi on cpu form matrix step; step 3; back 2; continue", true, "converged"},
        {"solve wjacobi on cpu form matrix step; step 3; change omega 0.9; continue", true, "converged"},
        {"solve cg on cpu sums host", true, "sums           added on the host: 1 block of 128 threads, 128 elements"},
        {"solve gmres on emu sums host m 5", true, "sums            added on the host: 1 block of 128 threads"},
        {"solve cg on cpu orth modified", false, "cg: `orth modified` is for gmres"},
        {"solve gmres m 3 orth modified on cpu", true,
         "a cycle         25 passes: 4 SpMVs, 10 inner products and norms, 11 vector updates\n"},
        {"solve gmres on emu orth modified launches one", false, "launches one: with `orth modified`, an iteration"},
        {"solve jacobi on emu form matrix launches one", false, "launches one: with `form matrix`, an iteration"},
        {"solve cg on emu sums host launches one", false, "launches one: with `sums host`, an iteration"},
        {"solve bicgstab on emu precond ilu0 launches one", false, "launches one: the preconditioner ilu0 has"},
        {"solve minres on emu precond jacobi launches one", false, "with a preconditioner, an iteration of minres has"},
        {"solve cg kernel csr-vector on emu launches one", false, "products of its own; leave out `kernel csr-vector`"},
        {"solve cg on cpu launches one", false, "launches one: cpu has no clusters of thread blocks"},
        {"solve gmres m 3 on emu launches one", true, "products of its own: 1 thread block of 256"},
        {"solve gmres m 3 on emu launches one", true, ": 4 SpMVs, 16 inner products and norms, 17 vector"},
        {"solve bicgstab on emu launches one step; step 3; back 2; continue", true, "converged"},
        {"solve jacobi on emu launches one step; step 3; back 2; stop", true, "after iteration 1; x is kept"},
        {"solve jacobi on cpu step; step 2", true, " us  max |x' - x|\n"},
        {"solve cg on cpu form matrix", false, "cg forms no iteration matrix: `form matrix` is for jacobi and wjacobi"},
        {"race jacobi cg form matrix", true, "cg"},
        {"solve wjacobi on cpu omega 2.5", false, "omega is 2.5"},
        {"solve cg on emu", true, "time           -\nper iteration  -\n"},
        {"solve cg on cpu tol 0 force maxit 100000", true, "converged      no"},
        {"solve cg on cpu tol 1e-300", false, "tol 1e-300 is below what fp64 can reach"},
        {"solve cg on cpu tol 1e-300 f32", false, "tol 1e-300 is below what fp32 can reach"},
        {"solve cg on cpu tol 1e-18", true, "because        not converged: tol 1.00e-18 is below what fp64 can reach"},
        {"solvers", true, "conjugate gradients"},
        {"solvers", true, "directions so far; needs a symmetric positive definite matrix [THESIS 3]\n"},
        {"solvers", true, "\nPreconditioners\n"},
    };
    struct bed bed;
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {8, 7}});
    for (int i = 0; i < COUNT(lines); i++) expect(&bed, lines[i].line, lines[i].ok, lines[i].part);
    bed_free(&bed);
}

static bool always_idle(struct device *d)
{
    return true;
}

/* Where launches take time, a small system takes launches of many iterations, unless the user names a kernel. */
TEST(test_named_kernel)
{
    struct talk t;
    struct device *d = device_open("emu", NULL);
    const struct device_ops *before = d->ops;
    struct device_ops ops = *before;
    ops.idle = always_idle;
    d->ops = &ops;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 9 as A"));
    talk_says(&t, "solve cg A on emu", "\"launches\":\"one\"");
    assert_non_null(strstr(t.out, "\"kernel\":null"));
    talk_says(&t, "solve cg A kernel csr-vector on emu", "\"launches\":\"many\"");
    assert_non_null(strstr(t.out, "\"kernel\":\"csr-vector\""));
    talk_close(&t);
    d->ops = before;
}

/* ---- complex systems ---- */

TEST(test_complex)
{
    struct talk t;
    for (int d = 0; d < COUNT(devices); d++) check_complex(devices[d]);
    talk_open(&t, OUT_TEXT);
    complex_add(&t, true, "H");
    complex_add(&t, false, "Z");
    solve_complex(&t, "solve cg H on cpu precond jacobi", 1e-8);
    assert_true(t.s.solve->result.error_known < 1e-7);
    solve_complex(&t, "solve bicgstab H on cpu precond jacobi", 1e-8);
    talk_says(&t, "solve gmres Z on cpu", "complex fp64");
    talk_says(&t, "print x 0", "0:");
    talk_line(&t, "solve cg Z on cpu maxit 3");
    assert_non_null(strstr(t.err, "is not hermitian"));
    talk_refuses(&t, "solve bicgstab Z precond ic0",
                 "ic0 needs a hermitian matrix, but the diagonal entry (0, 0), counted from 0, is");
    /* The factors of a tridiagonal matrix have no fill, so ilu0 and ic0 are exact. */
    solve_complex(&t, "solve bicgstab Z on cpu precond ilu0", 1e-14);
    assert_true(t.s.solve->iterations <= 1);
    solve_complex(&t, "solve cg H on cpu precond ic0", 1e-14);
    assert_true(t.s.solve->iterations <= 1);
    talk_close(&t);
}

static void times_complex(const struct csr *A, const double complex *x, double complex *y)
{
    for (int64_t i = 0; i < A->rows; i++) {
        y[i] = 0;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) y[i] += CMPLX(A->val[k], A->imag[k]) * x[A->col[k]];
    }
}

static double complex inner(const double complex *a, const double complex *b)
{
    double complex sum = 0;
    for (int i = 0; i < COMPLEX_ROWS; i++) sum += conj(a[i]) * b[i];
    return sum;
}

/* ||r|| / ||b|| after each iteration of the textbook's bicgstab, from x = 0. */
static void textbook_bicgstab(const struct csr *A, const double complex *b, int iterations, double *residual)
{
    double complex r[COMPLEX_ROWS], shadow[COMPLEX_ROWS], p[COMPLEX_ROWS], v[COMPLEX_ROWS], t[COMPLEX_ROWS], rho;
    for (int i = 0; i < COMPLEX_ROWS; i++) r[i] = shadow[i] = p[i] = b[i];
    rho = inner(shadow, r);
    for (int k = 0; k < iterations; k++) {
        times_complex(A, p, v);
        double complex alpha = rho / inner(shadow, v);
        for (int i = 0; i < COMPLEX_ROWS; i++) r[i] -= alpha * v[i];
        times_complex(A, r, t);
        double complex omega = inner(t, r) / inner(t, t), before = rho;
        for (int i = 0; i < COMPLEX_ROWS; i++) r[i] -= omega * t[i];
        rho = inner(shadow, r);
        for (int i = 0; i < COMPLEX_ROWS; i++) p[i] = r[i] + rho / before * alpha / omega * (p[i] - omega * v[i]);
        residual[k] = sqrt(creal(inner(r, r)) / creal(inner(b, b)));
    }
}

/* ||r|| / ||b|| after each iteration of a textbook's algorithm. */
typedef void textbook(const struct csr *A, const double complex *b, int iterations, double *residual);

/* Run the line, which solves Z to 1e-9, and compare the residuals of the first iterations with those of the textbook.
 */
static void compare_with(textbook *residuals_of, struct talk *t, const char *line, int iterations)
{
    double expected[COMPLEX_ROWS];
    solve_complex(t, line, 1e-9);
    const struct solve *v = t->s.solve;
    residuals_of(v->matrix.csr, (const double complex *)v->b, iterations, expected);
    assert_true(v->iterations >= iterations);
    for (int i = 0; i < iterations; i++)
        if (!(fabs(v->history.residual[i + 1] / expected[i] - 1) < 1e-6))
            fail_msg("%s: residual %g after iteration %d, not %g", line, v->history.residual[i + 1], i + 1,
                     expected[i]);
}

/* The coefficients of bicgstab are complex: its residuals are those of the textbook's algorithm. */
TEST(test_complex_bicgstab)
{
    static const char *const lines[] = {"solve bicgstab Z on cpu b random tol 1e-9",
                                        "solve bicgstab Z on emu b random tol 1e-9",
                                        "solve bicgstab Z on cpu b random tol 1e-9 sums host"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    complex_add(&t, false, "Z");
    for (int k = 0; k < COUNT(lines); k++) compare_with(textbook_bicgstab, &t, lines[k], 6);
    talk_close(&t);
}

/* ||r|| / ||b|| after each iteration of gmres without restart: by Arnoldi's method, x = V y minimises ||b - A V y||,
   whose minimum is found here by orthogonalising the columns of A V. */
static void textbook_gmres(const struct csr *A, const double complex *b, int iterations, double *residual)
{
    static double complex V[COMPLEX_ROWS][COMPLEX_ROWS], Q[COMPLEX_ROWS][COMPLEX_ROWS];
    double complex r[COMPLEX_ROWS], w[COMPLEX_ROWS];
    double size = sqrt(creal(inner(b, b)));
    for (int i = 0; i < COMPLEX_ROWS; i++) r[i] = b[i], V[0][i] = b[i] / size;
    for (int k = 0; k < iterations; k++) {
        times_complex(A, V[k], w);
        for (int i = 0; i < COMPLEX_ROWS; i++) Q[k][i] = V[k + 1][i] = w[i];
        for (int twice = 0; twice < 2; twice++) {
            for (int j = 0; j <= k; j++) {
                double complex h = inner(V[j], V[k + 1]);
                for (int i = 0; i < COMPLEX_ROWS; i++) V[k + 1][i] -= h * V[j][i];
            }
            for (int j = 0; j < k; j++) {
                double complex h = inner(Q[j], Q[k]);
                for (int i = 0; i < COMPLEX_ROWS; i++) Q[k][i] -= h * Q[j][i];
            }
        }
        double v = sqrt(creal(inner(V[k + 1], V[k + 1]))), q = sqrt(creal(inner(Q[k], Q[k])));
        for (int i = 0; i < COMPLEX_ROWS; i++) V[k + 1][i] /= v, Q[k][i] /= q;
        double complex along = inner(Q[k], r);
        for (int i = 0; i < COMPLEX_ROWS; i++) r[i] -= along * Q[k][i];
        residual[k] = sqrt(creal(inner(r, r))) / size;
    }
}

TEST(test_complex_gmres)
{
    static const char *const lines[] = {"solve gmres Z on cpu b random tol 1e-9 m 30",
                                        "solve gmres Z on emu b random tol 1e-9 m 30",
                                        "solve gmres Z on cpu b random tol 1e-9 m 30 orth modified"};
    struct talk t;
    talk_open(&t, OUT_TEXT);
    complex_add(&t, false, "Z");
    for (int k = 0; k < COUNT(lines); k++) compare_with(textbook_gmres, &t, lines[k], 8);
    solve_complex(&t, "solve gmres Z on emu b random tol 1e-9 m 4", 1e-9);
    solve_complex(&t, "solve gmres Z on cpu b random tol 1e-9 sums host", 1e-9);
    talk_close(&t);
}

TEST(test_complex_files)
{
    struct talk t;
    char file[] = "/tmp/solve-complex-XXXXXX", line[120];
    close(mkstemp(file));
    talk_open(&t, OUT_TEXT);
    complex_add(&t, false, "Z");
    snprintf(line, sizeof line, "solve bicgstab Z on cpu b random save %s force", file);
    solve_complex(&t, line, 1e-8);
    double re = t.s.solve->result.x[2], im = t.s.solve->result.x[3];
    snprintf(line, sizeof line, "solve gmres Z on cpu b %s", file);
    solve_complex(&t, line, 1e-8);
    assert_true(t.s.solve->b[2] == re && t.s.solve->b[3] == im && im != 0);
    unlink(file);
    talk_close(&t);
}

static double number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    assert_non_null(at);
    return strtod(at + strlen(key), NULL);
}

TEST(test_times_agree)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 30") && talk_line(&t, "solve cg on cpu"));
    double ms = number_after(t.out, "\"time_ms\":"), us = number_after(t.out, "\"us_per_iteration\":");
    assert_true(fabs(us * number_after(t.out, "\"iterations\":") / (1000 * ms) - 1) < 1e-9);
    assert_true(talk_line(&t, "solve cg on emu"));
    assert_non_null(strstr(t.out, "\"time_ms\":null,\"us_per_iteration\":null"));
    talk_close(&t);
}

static bool twice(struct watch *w, const char *what, int64_t done, int64_t total)
{
    int *left = w->user;
    *left -= !strcmp(what, "jacobi");
    return *left >= 0;
}

/* Ctrl-C: the current results are printed, x is kept, and the command fails. */
TEST(test_cancel)
{
    struct bed bed;
    int left = 2;
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {400, 400}});
    say(&bed, "stats", true);
    bed.s.watch = (struct watch){twice, &left};
    say(&bed, "solve jacobi on cpu tol 0", false);
    assert_non_null(strstr(printed, "stopped by the user"));
    assert_non_null(strstr(printed, "cancelled at iteration"));
    assert_int_equal(bed.s.solve->reason, STOPPED);
    assert_non_null(bed.s.solve->result.x);
    bed_free(&bed);
}

TEST(test_save)
{
    struct bed bed;
    char file[] = "/tmp/warpspy-x-XXXXXX", line[120];
    double x[56];
    struct err e = {0};
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {8, 7}});
    snprintf(line, sizeof line, "solve cg on cpu tol 1e-12 save %s", file);
    say(&bed, line, false);
    assert_non_null(strstr(printed, "file exists; add `force` to the command to overwrite it"));
    snprintf(line, sizeof line, "solve cg on cpu tol 1e-12 save %s force", file);
    say(&bed, line, true);
    assert_non_null(strstr(printed, "x was written to /tmp/warpspy-x-"));
    assert_true(mtx_load_vector(file, 56, x, &e));
    for (int i = 0; i < 56; i++) assert_true(fabs(x[i] - 1) < 1e-9);
    remove(file);
    bed_free(&bed);
}

/* The coefficients of cg on a matrix that is not symmetric are not those of a Lanczos matrix. */
TEST(test_unsymmetric_has_no_ritz_values)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen band 40 3"));
    assert_true(talk_line(&t, "stats"));
    assert_true(talk_line(&t, "solve cg on cpu maxit 20"));
    assert_null(strstr(t.out, "Ritz"));
    assert_true(talk_line(&t, "gen poisson2d 9"));
    assert_true(talk_line(&t, "solve cg on cpu maxit 20"));
    assert_non_null(strstr(t.out, "Ritz"));
    talk_close(&t);
}

/* Every solver has the same passes on cpu and emu, in both precisions, whoever adds the sums. */
TEST(test_passes_are_those_of_each_device)
{
#define PASSES(id) &passes_##id,
    static const struct passes *const passes[] = {
#include "machine/passes.def"
    };
#undef PASSES
    struct err e = {0};
    const struct device *cpu = device_open("cpu", &e), *emu = device_open("emu", &e);
    for (int i = 0; i < COUNT(passes); i++)
        for (const struct pass *p = passes[i]->on[DEV_CPU]->by[SUMS_BY_DEVICE][0]; p->name; p++)
            for (int k = 0; k < 8; k++) {
                enum type type = k & 1 ? T_F64 : T_F32;
                const struct pass *same =
                    pass_find(passes[i], k & 2 ? emu : cpu, type, k & 4 ? SUMS_BY_HOST : SUMS_BY_DEVICE, p->name);
                if (!same) fail_msg("%s: no pass %s", passes[i]->name, p->name);
                assert_int_equal(same->vectors, p->vectors);
                assert_int_equal(same->numbers, p->numbers);
            }
}

/* A call of a pass that does not exist, or with other arguments than it takes, fails and runs nothing. */
TEST(test_pass_with_wrong_arguments)
{
    struct err e = {0};
    struct pass_call c = {.d = device_open("cpu", &e), .type = T_F64, VECTORS(NULL, NULL)};
    assert_false(pass_run(&passes_cg, "nothing", &c, &e));
    assert_string_equal(e.text, "cpu has no pass nothing of cg in fp64");
    assert_false(pass_run(&passes_cg, "direction", &(struct pass_call){.d = c.d, .type = T_C64}, &e));
    e = (struct err){0};
    assert_false(pass_run(&passes_cg, "dots", &c, &e));
    assert_string_equal(e.text, "the pass dots of cg takes 4 vectors and 0 numbers, not 2 and 0");
}
