/* Colourings of rows; Gauss-Seidel and SOR compared with plain loops that process the rows in the order of the
   device. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "gpu/emu/emu.h"
#include "kits/dev_fake.h"
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "kits/test.h"
#include "matrix/colour.h"
#include "matrix/gen.h"
#include "session/matrix.h"
#include "session/session_solve.h"
#include "solvers/level_schedule.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

/* ---- colours ---- */

static void make(struct csr *A, const char *generator, const int64_t *p)
{
    struct err e = {0};
    if (!generator_find(generator)->make(p, 3, NULL, A, &e)) fail_msg("%s", e.text);
}

/* Entries of the longest row of A + A', without the diagonal; an entry that is in both A and A' counts twice. */
static int degree(const struct csr *A)
{
    int most = 0, *n = mem_zero(A->rows, sizeof *n, "degrees", NULL);
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (A->col[k] != i) n[i]++, n[A->col[k]]++;
    for (int64_t i = 0; i < A->rows; i++) most = n[i] > most ? n[i] : most;
    mem_free(n);
    return most;
}

/* Returns the number of colours. */
static int check_colours(const struct csr *A)
{
    struct err e = {0};
    int n = -1, used = 0, *colour = mem_new(A->rows, sizeof *colour, "colours", &e);
    assert_true(colour_of(A, colour, &n, &e));
    for (int64_t i = 0; i < A->rows; i++) {
        assert_in_range(colour[i], 0, n - 1);
        used = colour[i] >= used ? colour[i] + 1 : used;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            assert_true(A->col[k] == i || colour[A->col[k]] != colour[i]);
    }
    assert_int_equal(used, n);
    assert_true(n <= degree(A) + 1);
    mem_free(colour);
    return n;
}

TEST(test_colours)
{
    static const struct {
        const char *generator;
        int64_t p[PARAMS_MAX];
        int colours; /* 0: any number */
    } cases[] = {{"poisson2d", {17, 12}, 2},
                 {"poisson3d", {7, 6, 5}, 2},
                 {"circuit", {500, 4}, 0},
                 {"random", {300, 6, 300}, 0},
                 {"rmat", {8, 6}, 0}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        make(&A, cases[i].generator, cases[i].p);
        int n = check_colours(&A);
        if (cases[i].colours) assert_int_equal(n, cases[i].colours);
        csr_free(&A);
    }
}

/* An entry on only one side of the diagonal also separates two rows; a dense matrix has one colour per row. */
TEST(test_colours_of_small_ones)
{
    struct csr A;
    struct err e = {0};
    int row[9], col[9];
    double val[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < 9; i++) row[i] = i / 3, col[i] = i % 3;
    assert_true(csr_from_triplets(&A, 3, 3, 9, row, col, val, NULL, NULL, &e));
    assert_int_equal(check_colours(&A), 3);
    csr_free(&A);
    assert_true(csr_from_triplets(&A, 3, 3, 2, (int[]){0, 2}, (int[]){2, 1}, val, NULL, NULL, &e));
    assert_int_equal(check_colours(&A), 2);
    csr_free(&A);
    assert_true(csr_from_triplets(&A, 0, 0, 0, row, col, val, NULL, NULL, &e));
    assert_int_equal(check_colours(&A), 0);
    csr_free(&A);
}

TEST(test_many_rows)
{
    struct csr A;
    make(&A, "poisson2d", (int64_t[]){1000, 1000});
    double from = now_us();
    assert_int_equal(check_colours(&A), 2);
    print_message("10^6 rows coloured and checked in %.0f ms\n", (now_us() - from) / 1000);
    csr_free(&A);
}

TEST(test_failing_allocations)
{
    struct csr A;
    int colour[20], n;
    int64_t nth = 1;
    make(&A, "poisson2d", (int64_t[]){5, 4});
    for (;; nth++) {
        struct err e = {0};
        mem_fail_at(nth);
        bool ok = colour_of(&A, colour, &n, &e);
        mem_fail_at(0);
        if (ok) break;
        assert_int_equal(e.code, E_MEMORY);
    }
    assert_int_equal(nth, 4);
    csr_free(&A);
}

/* ---- sweeps ---- */

/* x after one sweep over the rows of colour c, or over all rows (colour NULL). */
static void sweep_rows(const struct csr *A, const double *b, double omega, const int *colour, int c, double *x)
{
    for (int64_t i = 0; i < A->rows; i++) {
        if (colour && colour[i] != c) continue;
        double sum = b[i], own = 0;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            sum -= A->val[k] * x[A->col[k]];
            if (A->col[k] == i) own = A->val[k];
        }
        x[i] += omega * sum / own;
    }
}

static double *reference(const struct csr *A, const double *b, double omega, bool coloured, int sweeps)
{
    int n = 1, *colour = mem_new(A->rows, sizeof *colour, "colours", NULL);
    double *x = mem_zero(A->rows, sizeof *x, "x", NULL);
    assert_true(!coloured || colour_of(A, colour, &n, NULL));
    for (int s = 0; s < sweeps; s++)
        for (int c = 0; c < n; c++) sweep_rows(A, b, omega, coloured ? colour : NULL, c, x);
    mem_free(colour);
    return x;
}

static void check_sweeps(const struct problem *p, const char *solver, const char *device, enum precision real,
                         int sweeps)
{
    struct bed bed;
    bed_make(&bed, p);
    const struct csr *A = &bed.s.current->csr;
    double *b = random_vector(A->rows), most = 0, worst = 0, size = 1;
    struct solve_options o = {.solver = solver_find(solver), .real = real, .b = b, .maxit = sweeps};
    bed_solve(&bed, o, device, 1e9);
    double omega = o.solver->omega > 0 ? o.solver->omega : 1;
    double *x = reference(A, b, omega, strcmp(device, "cpu") != 0, sweeps);
    double *before = reference(A, b, omega, strcmp(device, "cpu") != 0, sweeps - 1);
    assert_int_equal(bed.s.solve->iterations, sweeps);
    for (int64_t i = 0; i < A->rows; i++) {
        size = fmax(size, fabs(x[i]));
        worst = fmax(worst, fabs(x[i] - bed.s.solve->result.x[i]));
        most = fmax(most, fabs(x[i] - before[i]));
    }
    double close = size * (real == P_F32 ? 1e-5 : 1e-13);
    if (!(worst < close)) fail_msg("%s on %s: x is off by %g", solver, device, worst);
    assert_true(fabs(bed.s.solve->max_diff - most) < close);
    assert_true(fabs(bed.s.solve->result.residual_true - bed.s.solve->residual) < close);
    mem_free(b);
    mem_free(x);
    mem_free(before);
    bed_free(&bed);
}

/* Short and long rows, wide and narrow levels, on both devices. */
TEST(test_sweeps)
{
    static const struct problem problems[] = {{.generator = "poisson2d", .p = {23, 19}},
                                              {.generator = "poisson2d", .p = {61, 50}},
                                              {.generator = "fem", .p = {12, 3}},
                                              {.generator = "band", .p = {90, 14, 100}},
                                              {.upwind = {14, 12}}};
    static const char *const names[] = {"gs", "sor"}, *const devices[] = {"cpu", "emu"};
    static const int narrow[] = {-1, 0, 5};
    for (int i = 0; i < COUNT(problems); i++)
        for (int k = 0; k < COUNT(narrow) * 8; k++) {
            level_schedule_hook(narrow[k / 8]);
            check_sweeps(&problems[i], names[k & 1], devices[k >> 1 & 1], k & 4 ? P_F32 : P_F64, 3);
        }
    level_schedule_hook(-1);
    emu_order(23);
    check_sweeps(&problems[1], "gs", "emu", P_F64, 3);
    emu_order(0);
}

static void advance(struct solve *v, int64_t steps)
{
    struct err e = {0};
    v->paused = false;
    v->steps_left = steps;
    while (!v->paused && v->reason == RUNNING) assert_true(solve_slice(v, 1e9, &e));
}

/* Change omega at some iteration, then go back to a checkpoint, which restores the old omega. */
static void check_changed_omega(const char *device)
{
    struct bed bed;
    struct err e = {0};
    struct solve_change c = {.tol = NAN, .omega = 1.2, .m = -1, .maxit = -1};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {23, 19}});
    const struct csr *A = &bed.s.current->csr;
    double *b = random_vector(A->rows), *x = mem_zero(A->rows, sizeof *x, "x", NULL);
    int n = 1, *colour = mem_zero(A->rows, sizeof *colour, "colours", NULL);
    bool coloured = strcmp(device, "cpu") != 0;
    assert_true(!coloured || colour_of(A, colour, &n, &e));
    struct solve_options o = {.solver = solver_find("sor"), .real = P_F64, .b = b, .maxit = 99, .keeps = true};
    o.dev = device_open(device, &e);
    if (!session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, &e)) fail_msg("%s", e.text);
    advance(bed.s.solve, 3);
    if (!solve_change(bed.s.solve, &c, &e)) fail_msg("%s", e.text);
    advance(bed.s.solve, 5);
    if (!solve_back(bed.s.solve, 3, &e)) fail_msg("%s", e.text);
    assert_int_equal(bed.s.solve->iterations, 5);
    assert_true(solve_end(bed.s.solve, &e));
    for (int s = 0; s < 5; s++)
        for (int k = 0; k < n; k++) sweep_rows(A, b, s < 3 ? 1.5 : 1.2, colour, k, x);
    for (int64_t i = 0; i < A->rows; i++) assert_true(fabs(x[i] - bed.s.solve->result.x[i]) < 1e-13);
    mem_free(b);
    mem_free(x);
    mem_free(colour);
    bed_free(&bed);
}

TEST(test_changed_omega)
{
    check_changed_omega("cpu");
    check_changed_omega("emu");
}

/* Launches: a run of narrow levels is one launch, and a wide level is a launch of its own. */
TEST(test_runs)
{
    struct err e = {0};
    struct order o;
    int level[3000], begin[3001] = {0}, at = 0;
    for (int k = 0; k < 3000; k++) level[k] = k < 5 ? 0 : k < 12 ? 1 : k < 2500 ? 2 : 3;
    struct level_source f = {.entries = {begin, begin + 1, 0, &at, NULL}};
    assert_true(order_by(&o, 3000, level, 4, false, &e));
    struct device *d = device_open("emu", &e);
    void *piece[2] = {0};
    struct level_schedule *S = level_schedule_make(d, T_F64, &o, &f, piece, &e);
    assert_non_null(S);
    assert_int_equal(S->nruns, 3);
    assert_true(S->run[0].from == 0 && S->run[0].to == 2 && S->run[0].blocks == 1 && S->run[0].threads == 32);
    assert_true(S->run[1].from == 2 && S->run[1].to == 3 && S->run[1].blocks == 10 && S->run[1].threads == 256);
    assert_true(S->run[2].from == 3 && S->run[2].to == 4 && S->run[2].blocks == 1 && S->run[2].threads == 512);
    for (int k = 0; k < 2; k++) d->ops->free(d, piece[k]);
    mem_free(S);
    order_free(&o);
}

/* Each call of a device fails in turn: the failure is reported, and everything is released. */
static bool solve_on_fake(struct fake *f, enum fake_call call, int64_t nth, struct err *e)
{
    struct bed bed;
    double b[20] = {1};
    struct solve_options o = {.solver = solver_find("sor"), .real = P_F32, .tol = 1e-3, .maxit = 50, .b = b};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {5, 4}});
    o.dev = &f->dev;
    f->fail_in[call] = nth;
    bool ok = session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, e);
    while (ok && bed.s.solve->reason == RUNNING) ok = solve_slice(bed.s.solve, 100, e);
    ok = ok && solve_end(bed.s.solve, e);
    f->fail_in[call] = 0;
    bed_free(&bed);
    assert_int_equal(f->nblocks, 0);
    return ok;
}

TEST(test_failing_device)
{
    static const enum fake_call calls[] = {FAKE_ALLOC, FAKE_PUT, FAKE_GET, FAKE_SYNC};
    static struct fake f;
    struct err e = {0};
    if (!fake_open(&f, "fake", "emu", 1 << 20, &e)) fail_msg("%s", e.text);
    for (int i = 0; i < COUNT(calls); i++)
        for (int64_t nth = 1; !solve_on_fake(&f, calls[i], nth, &e); nth++) {
            assert_true(*e.text && (e.code == E_DEVICE || e.code == E_MEMORY));
            err_clear(&e);
        }
}

/* On a grid, Gauss-Seidel takes about half of Jacobi's iterations, and SOR with a good omega takes far fewer. */
TEST(test_fewer_iterations)
{
    static const char *const devices[] = {"cpu", "emu"};
    static const struct problem grid = {.generator = "poisson2d", .p = {20, 20}};
    for (int d = 0; d < COUNT(devices); d++) {
        struct bed bed;
        struct solve_options o = {.real = P_F64, .tol = 1e-6, .maxit = 5000};
        int64_t took[3];
        bed_make(&bed, &grid);
        for (int i = 0; i < 3; i++) {
            o.solver = solver_find((const char *[]){"jacobi", "gs", "sor"}[i]);
            o.omega = i == 2 ? 1.74 : 0;
            bed_solve(&bed, o, devices[d], 1e9);
            assert_int_equal(bed.s.solve->reason, CONVERGED);
            took[i] = bed.s.solve->iterations;
        }
        if (!(took[1] < 0.6 * (double)took[0] && took[2] < took[1] / 4))
            fail_msg("%s: %lld, %lld, %lld iterations", devices[d], (long long)took[0], (long long)took[1],
                     (long long)took[2]);
        bed_free(&bed);
    }
}
