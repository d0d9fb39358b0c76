/* Multigrid: the hierarchy (sizes, symmetry, P' A P, no dependence on threads), the cycle (symmetric, positive, equal
   on cpu and emu), iterations that hardly grow with the size, and refusals. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/watch.h"
#include "kits/amg_kit.h"
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "language/run_lines.h"
#include "machine/device.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "solvers/amg.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <omp.h>

static const char *const devices[] = {"cpu", "emu"};
static const enum precision reals[] = {P_F64, P_F32};

enum { FEW_ROWS = 12 }; /* so that small matrices have several levels */

static const struct problem some[] = {
    {.generator = "poisson2d", .p = {23, 19}},
    {.generator = "poisson3d", .p = {7, 8, 9}},
    {.generator = "fem", .p = {7, 6}},
};

static const struct csr *matrix_of(const struct bed *bed)
{
    return &bed->s.current->csr;
}

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* ---- the hierarchy ---- */

static void multiply(const struct csr *A, const double *x, double *y)
{
    for (int64_t i = 0; i < A->rows; i++) {
        y[i] = 0;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) y[i] += A->val[k] * x[A->col[k]];
    }
}

/* The next matrix times x is R A P x, R is the transpose of P, and the next matrix is symmetric. */
static void check_level(const struct amg_level *l, const struct csr *next)
{
    int64_t n = l->A->rows, m = next->rows;
    double *x = random_vector(n > m ? n : m), *work = mem_new(3 * n + 2 * m, sizeof *work, "vectors", NULL);
    double *Px = work, *APx = work + n, *coarse = work + 3 * n, *direct = coarse + m;
    assert_true(l->P.rows == n && l->P.cols == m && l->R.rows == m && l->R.cols == n && m < n);
    multiply(&l->P, x, Px);
    multiply(l->A, Px, APx);
    multiply(&l->R, APx, coarse);
    multiply(next, x, direct);
    for (int64_t i = 0; i < m; i++) assert_true(fabs(coarse[i] - direct[i]) < 1e-10);
    for (int64_t i = 0; i < m; i++)
        for (int k = next->rowptr[i]; k < next->rowptr[i + 1]; k++) {
            int64_t at = csr_find(next, next->col[k], i);
            assert_true(at >= 0 && next->val[at] == next->val[k]);
        }
    multiply(&l->R, x, coarse);
    for (int64_t j = 0; j < m; j++) {
        double sum = 0;
        for (int k = l->R.rowptr[j]; k < l->R.rowptr[j + 1]; k++) {
            int64_t at = csr_find(&l->P, l->R.col[k], j);
            assert_true(at >= 0 && l->P.val[at] == l->R.val[k]);
            sum += l->R.val[k] * x[l->R.col[k]];
        }
        assert_true(sum == coarse[j]);
    }
    mem_free(x);
    mem_free(work);
}

TEST(test_levels)
{
    for (int i = 0; i < COUNT(some); i++) {
        struct bed bed;
        struct amg g;
        struct err e = {0};
        bed_make(&bed, &some[i]);
        if (!amg_make(&g, matrix_of(&bed), &e)) fail_msg("%s", e.text);
        assert_true(g.n > 2 && g.inverse && !g.dropped && amg_entries_ratio(&g) < 2 && amg_rows_ratio(&g) < 1.5);
        for (int k = 0; k + 1 < g.n; k++) check_level(&g.level[k], g.level[k + 1].A);
        amg_free(&g);
        bed_free(&bed);
    }
}

/* The bound is above the largest eigenvalue of D^-1 A, which is 1 + cos(pi / 24) for this grid, but not far above. */
TEST(test_bound)
{
    struct bed bed;
    struct amg g;
    struct err e = {0};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {23, 23}});
    assert_true(amg_make(&g, matrix_of(&bed), &e));
    assert_true(g.level[0].bound >= 1.9914 && g.level[0].bound <= 2);
    amg_free(&g);
    bed_free(&bed);
}

TEST(test_threads)
{
    struct bed bed;
    struct amg one, many;
    struct err e = {0};
    int threads = omp_get_max_threads();
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {90, 91}});
    omp_set_num_threads(1);
    assert_true(amg_make(&one, matrix_of(&bed), &e));
    omp_set_num_threads(5);
    assert_true(amg_make(&many, matrix_of(&bed), &e));
    omp_set_num_threads(threads);
    assert_int_equal(one.n, many.n);
    for (int k = 1; k < one.n; k++) assert_true(csr_equal(one.level[k].A, many.level[k].A));
    int64_t n = one.level[one.n - 1].A->rows;
    assert_memory_equal(one.inverse, many.inverse, (size_t)(n * n) * sizeof *one.inverse);
    amg_free(&one);
    amg_free(&many);
    bed_free(&bed);
}

/* Rows without neighbours stay out of the aggregates, and a diagonal matrix has one level without an inverse. */
TEST(test_alone)
{
    struct amg g;
    struct csr A;
    struct err e = {0};
    assert_true(csr_identity(&A, 3, 500, &e) && amg_make(&g, &A, &e));
    assert_true(g.n == 1 && !g.inverse && g.level[0].bound == 1);
    amg_free(&g);
    csr_free(&A);
}

/* ---- levels made on a device ---- */

TEST(test_device)
{
    for (int i = 0; i < COUNT(some); i++)
        for (int r = 0; r < COUNT(reals); r++) check_amg_levels(&some[i], "emu", reals[r], AMG_LEVELS);
    /* levels for every size of the hash tables */
    check_amg_levels(&(struct problem){.generator = "poisson3d", .p = {17, 16, 15}}, "emu", P_F64, AMG_LEVELS);
}

/* A path, and a row in its middle with weak entries in every other row: the product of this row with P has more columns
   than the smallest hash tables hold. */
TEST(test_long_row)
{
    enum { N = 300, HUB = N / 2 };
    int row[5 * N], col[5 * N], n = 0;
    double val[5 * N];
    struct csr A;
    struct bed bed;
    struct err e = {0};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            bool weak = (i == HUB) != (j == HUB) && abs(i - j) > 1 && (i + j) % 2;
            if (abs(i - j) > 1 && !weak) continue;
            row[n] = i, col[n] = j;
            val[n++] = i == j ? (i == HUB ? 4 : 2.1) : weak ? -1e-3 : -1;
        }
    assert_true(csr_from_triplets(&A, N, N, n, row, col, val, NULL, NULL, &e));
    bed_take(&bed, &A);
    check_amg_levels_of(&bed, "emu", P_F64, AMG_LEVELS);
    bed_free(&bed);
}

/* ---- the cycle ---- */

/* x' M^-1 y = y' M^-1 x, and x' M^-1 x > 0 */
static void check_cycle(const struct problem *p, const char *device, enum precision real)
{
    struct bed bed;
    struct err e = {0};
    bed_make(&bed, p);
    if (!bed_begin(&bed, "amg", 0, device, real, &e)) fail_msg("%s", e.text);
    int64_t n = matrix_of(&bed)->rows;
    double *x = random_vector(n), *work = mem_new(3 * n, sizeof *work, "vectors", NULL), *y = work;
    for (int64_t i = 0; i < n; i++) y[i] = (double)(i % 7) - 3 + (double)(i % 5) / 4;
    bed_apply(bed.s.solve, x, work + n);
    bed_apply(bed.s.solve, y, work + 2 * n);
    double xMx = dot(n, x, work + n), yMy = dot(n, y, work + 2 * n);
    double xMy = dot(n, x, work + 2 * n), yMx = dot(n, y, work + n);
    assert_true(xMx > 0 && yMy > 0);
    assert_true(fabs(xMy - yMx) < (real == P_F64 && !bed_solver ? 1e-13 : 1e-5) * sqrt(xMx * yMy));
    mem_free(x);
    mem_free(work);
    bed_free(&bed);
}

TEST(test_cycle)
{
    for (int i = 0; i < COUNT(some); i++)
        for (int d = 0; d < COUNT(devices); d++)
            for (int r = 0; r < COUNT(reals); r++) check_cycle(&some[i], devices[d], reals[r]);
}

/* A cycle on emu differs from one on the host by rounding, and by that of fp32 if it is for cg. */
static void check_devices_agree(double most)
{
    for (int i = 0; i < COUNT(some); i++) {
        struct bed bed;
        struct err e = {0};
        bed_make(&bed, &some[i]);
        int64_t n = matrix_of(&bed)->rows;
        double *r = random_vector(n), *z = mem_new(2 * n, sizeof *z, "z", NULL);
        for (int d = 0; d < COUNT(devices); d++) {
            assert_true(bed_begin(&bed, "amg", 0, devices[d], P_F64, &e));
            bed_apply(bed.s.solve, r, z + d * n);
        }
        double difference = 0;
        for (int64_t k = 0; k < n; k++) difference = fmax(difference, fabs(z[k] - z[n + k]) / (1 + fabs(z[k])));
        assert_true(difference < most && (!bed_solver || difference > 1e-10));
        mem_free(r);
        mem_free(z);
        bed_free(&bed);
    }
}

TEST(test_devices_agree)
{
    check_devices_agree(1e-12);
}

/* cg takes a cycle in fp32 on emu, which is as symmetric and positive as fp32 allows. */
TEST(test_narrow_cycle)
{
    bed_solver = "cg";
    check_devices_agree(1e-5);
    for (int i = 0; i < COUNT(some); i++) check_cycle(&some[i], "emu", P_F64);
    bed_solver = NULL;
}

/* A grid whose entries along y are weak and whose rows sum to 0, as D A D, where the elements of D are powers of 2: P
   maps the coarse near-null vector to the fine one, D^-1 times ones, because weak entries are added to the diagonal. */
static void check_prolongation(int powers)
{
    enum { NX = 15, NY = 8, N = NX * NY };
    static const double weak = 0.01;
    static int row[5 * N], col[5 * N];
    static double val[5 * N], dinv[N], near[N];
    int n = 0;
    for (int i = 0; i < N; i++) near[i] = ldexp(1, 7 * i % powers);
    for (int i = 0; i < N; i++) {
        int x = i % NX, y = i / NX, to[] = {i - 1, i + 1, i - NX, i + NX};
        bool is[] = {x > 0, x<NX - 1, y> 0, y < NY - 1};
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            if (!is[k]) continue;
            double a = k < 2 ? 1 : weak;
            row[n] = i, col[n] = to[k], val[n++] = -a / (near[i] * near[to[k]]);
            sum += a;
        }
        row[n] = col[n] = i, val[n] = sum / (near[i] * near[i]);
        dinv[i] = 1 / val[n++];
    }
    struct csr A, P;
    struct amg_aggregates g;
    struct err e = {0};
    double *coarse = NULL, fine[N];
    assert_true(csr_from_triplets(&A, N, N, n, row, col, val, NULL, NULL, &e));
    assert_true(amg_aggregate(&g, &A, dinv, 0.25, &e) && amg_prolong(&P, &A, &g, near, 0.6, &coarse, &e));
    assert_true(g.n >= NY && g.n < N / 2); /* no aggregate joins two lines */
    multiply(&P, coarse, fine);
    for (int i = 0; i < N; i++)
        if (fabs(fine[i] / near[i] - 1) > 1e-13) fail_msg("row %d: %.17g", i, fine[i] / near[i]);
    mem_free(coarse);
    amg_aggregates_free(&g);
    csr_free(&P);
    csr_free(&A);
}

TEST(test_prolongation_of_constants)
{
    check_prolongation(1);
    check_prolongation(4);
}

/* On every level, a cycle leaves less of the residual than its first smoother and its correction. */
/* Lottes 2023: z_k = (2 k - 3) / (2 k + 1) z_k-1 + (8 k - 4) / (2 k + 1) / bound D^-1 r, and x += z. */
static double smoothed_by_hand(const struct amg_level *l)
{
    int64_t n = l->A->rows;
    double *r = mem_new(3 * n, sizeof *r, "vectors", NULL), *z = r + n, *q = z + n;
    random_fill(r, n, 1);
    double size = sqrt(dot(n, r, r));
    for (int k = 1; k <= AMG_DEGREE; k++) {
        double a = k > 1 ? (2. * k - 3) / (2 * k + 1) : 0, c = (8. * k - 4) / (2 * k + 1) / l->bound;
        for (int64_t i = 0; i < n; i++) z[i] = (k > 1 ? a * z[i] : 0) + c * l->dinv[i] * r[i];
        multiply(l->A, z, q);
        for (int64_t i = 0; i < n; i++) r[i] -= q[i];
    }
    double left = sqrt(dot(n, r, r)) / size;
    mem_free(r);
    return left;
}

TEST(test_trial)
{
    for (int i = 0; i < COUNT(some); i++) {
        struct bed bed;
        struct amg g;
        struct amg_trial t[AMG_LEVELS];
        struct err e = {0};
        bed_make(&bed, &some[i]);
        assert_true(amg_make(&g, matrix_of(&bed), &e) && amg_try(&g, t, &e));
        for (int k = 0; k + 1 < g.n; k++)
            assert_true(t[k].after < 0.7 * t[k].corrected && t[k].after < 0.6 && t[k].smoothed < 1);
        assert_true(t[g.n - 1].after < 1e-12 && isnan(t[g.n - 1].smoothed));
        assert_true(fabs(t[0].smoothed - smoothed_by_hand(&g.level[0])) < 1e-12);
        amg_free(&g);
        bed_free(&bed);
    }
}

/* Returns true for the first `left` ticks, then cancels the work. */
static bool few_ticks(struct watch *w, const char *of, int64_t done, int64_t total)
{
    int *left = w->user;
    return (*left)-- > 0;
}

/* The hierarchy and a trial of it that are cancelled at any of their ticks fail with E_CANCELLED, or are complete. */
TEST(test_cancelled_at_any_tick)
{
    struct bed bed;
    int ticks = 0;
    bed_make(&bed, &some[0]);
    loop_check_all(true);
    for (bool ok = false; !ok; ticks++) {
        int left = ticks;
        struct watch w = {few_ticks, &left};
        struct amg g;
        struct amg_trial t[AMG_LEVELS];
        struct err e = {0};
        loop_enter(&w);
        ok = amg_make(&g, matrix_of(&bed), &e);
        if (ok) {
            ok = amg_try(&g, t, &e);
            amg_free(&g);
        }
        loop_enter(NULL);
        assert_true(ok || e.code == E_CANCELLED);
    }
    loop_check_all(false);
    assert_true(ticks > 100);
    bed_free(&bed);
}

/* ---- solves ---- */

static void check_iterations(const struct problem *p, const char *device, int64_t most)
{
    struct bed bed;
    bed_make(&bed, p);
    int64_t n = amg_iterations(&bed, "cg", device);
    if (n > most) fail_msg("%s %lld on %s: %lld iterations", p->generator, (long long)p->p[0], device, (long long)n);
    bed_free(&bed);
}

/* Plain cg needs 531 iterations for the largest of these grids. */
TEST(test_iterations)
{
    amg_hook(0);
    check_iterations(&(struct problem){.generator = "poisson2d", .p = {30, 30}}, "emu", 12);
    check_iterations(&(struct problem){.generator = "poisson2d", .p = {30, 30}}, "cpu", 12);
    check_iterations(&(struct problem){.generator = "poisson2d", .p = {300, 300}}, "cpu", 14);
    check_iterations(&(struct problem){.generator = "poisson3d", .p = {32, 32, 32}}, "cpu", 12);
    /* three unknowns per node: each needs aggregates of its own, without which 39 iterations are needed */
    check_iterations(&(struct problem){.generator = "fem", .p = {60, 50}}, "cpu", 14);
    amg_hook(FEW_ROWS);
}

TEST(test_solvers)
{
    static const char *const all[] = {"cg", "minres", "bicgstab", "qmrcgstab", "gmres"};
    struct bed bed;
    bed_make(&bed, &some[0]);
    for (int i = 0; i < COUNT(all); i++)
        for (int d = 0; d < COUNT(devices); d++) assert_true(amg_iterations(&bed, all[i], devices[d]) < 25);
    bed_free(&bed);
}

static const struct {
    const char *line, *part;
} lines[] = {
    /* negative definite */
    {"solve cg N precond amg on cpu", "converged       yes"},
    {"solve minres N precond amg on emu", "converged       yes"},
    {"solve bicgstab N precond amg on cpu", "converged       yes"},
    {"solve cg D precond amg on cpu", "converged       yes"},
    {"solve cg P precond amg on cpu", " levels, with 1."},
    {"coarsen P", "level  rows  nonzeros  per row"},
    {"coarsen P", "All levels have 1."},
    {"coarsen P level 1 as C", "name      C\nmade of   P\nlevel     1\n"},
    {"stats C", "symmetric values          yes"},
    {"coarsen P level 9", "there is no level 9"},
    {"coarsen N", "level  rows"},
    {"help amg", "preconditioner  amg"},
    {"solve cg P precond multigrid on cpu", "preconditioner  amg"},
};

TEST(test_lines)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 16 15") && talk_line(&t, "let P = poisson2d"));
    assert_true(talk_line(&t, "let N = -2*P"));
    assert_true(talk_line(&t, "let D = P - P + 5*I"));
    for (int i = 0; i < COUNT(lines); i++) {
        talk_line(&t, lines[i].line);
        if (!strstr(t.out, lines[i].part) && !strstr(t.err, lines[i].part))
            fail_msg("%s: %s%s", lines[i].line, t.out, t.err);
    }
    talk_close(&t);
}

/* A path whose ends have no boundary: A ones = 0. */
TEST(test_singular)
{
    enum { N = 60 };
    int row[3 * N], col[3 * N], n = 0;
    double val[3 * N], b[N];
    struct csr A;
    struct bed bed;
    struct err e = {0};
    for (int i = 0; i < N; i++)
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < N) {
                row[n] = i, col[n] = j;
                val[n++] = i != j ? -1 : i == 0 || i == N - 1 ? 1 : 2;
            }
    for (int i = 0; i < N; i++) b[i] = i < N / 2 ? 1 : -1;
    assert_true(csr_from_triplets(&A, N, N, n, row, col, val, NULL, NULL, &e));
    bed_take(&bed, &A);
    struct solve_options o = {.solver = solver_find("cg"), .real = P_F64, .tol = 1e-9, .maxit = 60, .b = b};
    o.pre = precond_find("amg");
    for (int d = 0; d < COUNT(devices); d++) {
        bed_solve(&bed, o, devices[d], 1e5);
        assert_int_equal(bed.s.solve->reason, CONVERGED);
    }
    bed_free(&bed);
}

/* ---- scaled systems ---- */

enum { SIDE = 40, CELLS = SIDE * SIDE };

/* Flow between cells whose permeability is 1 or 1e6, with a boundary value on the left; as D A D if d is not NULL. */
static void jumping(struct csr *A, const double *d)
{
    static int row[5 * CELLS], col[5 * CELLS];
    static double val[5 * CELLS], k[CELLS];
    int n = 0;
    struct err e = {0};
    random_fill(k, CELLS, 4);
    for (int i = 0; i < CELLS; i++) k[i] = d || k[i] < 0 ? 1 : 1e6;
    for (int i = 0; i < CELLS; i++) {
        int x = i % SIDE, y = i / SIDE, to[] = {i - 1, i + 1, i - SIDE, i + SIDE};
        bool is[] = {x > 0, x<SIDE - 1, y> 0, y < SIDE - 1};
        double sum = x ? 0 : 2 * k[i];
        for (int f = 0; f < 4; f++) {
            if (!is[f]) continue;
            double flow = 2 * k[i] * k[to[f]] / (k[i] + k[to[f]]);
            row[n] = i, col[n] = to[f], val[n++] = -flow * (d ? d[i] * d[to[f]] : 1);
            sum += flow;
        }
        row[n] = col[n] = i, val[n++] = sum * (d ? d[i] * d[i] : 1);
    }
    assert_true(csr_from_triplets(A, CELLS, CELLS, n, row, col, val, NULL, NULL, &e));
}

static int64_t iterations_scaled(const double *d, const char *line)
{
    struct csr A;
    struct bed bed;
    jumping(&A, d);
    bed_take(&bed, &A);
    assert_true(run_line(&bed.s, line));
    assert_int_equal(bed.s.solve->reason, CONVERGED);
    int64_t n = bed.s.solve->iterations;
    bed_free(&bed);
    return n;
}

/* To scale A changes the vectors that it maps to almost 0: with ones, the first solve takes 411 iterations. What was
   scaled badly is mended by it. */
TEST(test_scaled)
{
    double d[CELLS];
    for (int i = 0; i < CELLS; i++) d[i] = ldexp(1, 11 * i % 23);
    for (int i = 0; i < COUNT(devices); i++) {
        char line[100];
        snprintf(line, sizeof line, "solve cg precond amg scaled b random on %s", devices[i]);
        assert_true(iterations_scaled(NULL, line) <= 40);
        assert_true(iterations_scaled(d, line) <= 20);
    }
    assert_true(iterations_scaled(d, "solve cg precond amg b random on cpu") > 60); /* the scales matter */
}

/* ---- refusals ---- */

static const struct refusal {
    struct problem problem;
    const char *error;
} refusals[] = {
    {DENSE(3, 1, 0, 0, 0, 0, 1, 0, 1, 2), "divides by the diagonal, but row 1 (counted from 0) has no entry there"},
    {DENSE(2, 4, 1, 0, 4), "symmetric matrix: entry (0, 1), counted from 0, is 1 and (1, 0) is 0"},
    {DENSE(2, 4, 1, 2, 4), "entry (0, 1), counted from 0, is 1 and (1, 0) is 2"},
    {DENSE(2, 4, 1, 1, -4), "the diagonal is positive in row 0 and negative in row 1"},
    {DENSE(2, 1, 2, 2, 1), "a pivot of its coarsest level is -3"},
};

TEST(test_refusals)
{
    for (int i = 0; i < 2 * COUNT(refusals); i++) {
        struct bed bed;
        struct err e = {0};
        bed_make(&bed, &refusals[i / 2].problem);
        assert_false(bed_begin(&bed, "amg", 0, devices[i % 2], P_F64, &e));
        if (!strstr(e.text, refusals[i / 2].error)) fail_msg("%s: %s", refusals[i / 2].error, e.text);
        assert_int_equal(e.code, E_NUMERIC);
        bed_free(&bed);
    }
}

/* ---- Ctrl-C and failing allocations ---- */

static bool counts_down(struct watch *w, const char *what, int64_t done, int64_t total)
{
    int *left = w->user;
    return (*left)-- > 0;
}

/* Ctrl-C at every point ends the set-up, and nothing remains allocated (which the sanitizers check). */
TEST(test_cancelled)
{
    struct bed bed;
    bool made = false;
    bed_make(&bed, &some[0]);
    loop_check_all(true);
    for (int ticks = 0; !made; ticks += 1 + ticks / 8) {
        struct amg g;
        struct err e = {0};
        int left = ticks;
        struct watch w = {counts_down, &left};
        loop_enter(&w);
        made = amg_make(&g, matrix_of(&bed), &e);
        loop_enter(NULL);
        if (!made) assert_int_equal(e.code, E_CANCELLED);
        if (made) amg_free(&g);
    }
    loop_check_all(false);
    bed_free(&bed);
}

TEST(test_failing_allocations)
{
    struct bed bed;
    bool made = false;
    bed_make(&bed, &some[1]);
    for (int64_t nth = 1; !made; nth++) {
        struct amg g;
        struct err e = {0};
        mem_fail_at(nth);
        made = amg_make(&g, matrix_of(&bed), &e);
        mem_fail_at(0);
        if (!made) assert_int_equal(e.code, E_MEMORY);
        if (made) amg_free(&g);
    }
    bed_free(&bed);
}

static int few_rows(void **state)
{
    amg_hook(FEW_ROWS);
    return 0;
}

SUITE(.setup = few_rows);
