/* Preconditioners on any device: compare the results of applying them with dense computations from their definitions
   and with the host's results. */
#include "precond_kit.h"
#include "base/mem.h"
#include "base/precision.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/gen.h"
#include "matrix/random.h"
#include "matrix/reorder.h"
#include "session/matrix.h"
#include "session/session_solve.h"
#include "solve_kit.h"
#include "solvers/level_schedule.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solve_state.h"
#include "solvers/solver.h"
#include "solvers/triangles.h"

enum { DENSE_MAX = 120 }; /* rows of the largest matrix that is also stored as dense */

/* ---- applying the preconditioner of a solve that has begun ---- */

struct triangle_settings bed_triangles;

const char *bed_solver;

const char *solver_taking(const struct precond *pre)
{
    return pre->saddle ? "minres" : pre->symmetric ? "cg" : "bicgstab";
}

bool bed_begin(struct bed *bed, const char *precond, int64_t block, const char *device, enum precision real,
               struct err *e)
{
    const struct csr *A = &bed->s.current->csr;
    double *b = mem_new(A->rows, sizeof *b, "b", NULL);
    for (int64_t i = 0; i < A->rows; i++) b[i] = i ? 1 : 2; /* not in the null space of a Laplacian: a solve begins */
    struct solve_options o = {
        .solver = solver_find(bed_solver ? bed_solver : "bicgstab"), .real = real, .b = b, .maxit = 9, .force = true};
    o.pre = precond_find(precond);
    o.pre_block = block;
    assert_non_null(o.pre);
    if (o.pre->triangles) o.triangles = bed_triangles;
    if (!(o.dev = device_open(device, e))) fail_msg("%s", e->text);
    solve_free(bed->s.solve);
    bed->s.solve = NULL;
    bool ok = session_solve(&bed->s.solve, &bed->s, bed->s.current, &o, e);
    mem_free(b);
    return ok;
}

/* z = M^-1 r */
void bed_apply(struct solve *v, const double *r, double *z)
{
    struct err e = {0};
    int64_t bytes = v->n * (int64_t)type_size(v->real);
    void *from = v->dev->ops->alloc(v->dev, bytes, "r", &e), *to = v->dev->ops->alloc(v->dev, bytes, "z", &e);
    assert_true(solve_set(v, S_DONE, RUNNING, &e) && solve_put(v, from, r, &e) &&
                v->pre.method->apply(v, from, to, &e));
    if (!v->dev->ops->sync(v->dev, &e)) fail_msg("%s: %s", v->pre.method->name, e.text);
    assert_true(solve_get(v, z, to, &e));
    v->dev->ops->free(v->dev, from);
    v->dev->ops->free(v->dev, to);
}

double *random_vector(int64_t n)
{
    uint64_t seed = 11;
    double *r = mem_new(n, sizeof *r, "r", NULL);
    for (int64_t i = 0; i < n; i++) r[i] = (double)(float)random_unit(&seed);
    return r;
}

void bed_take(struct bed *bed, struct csr *A)
{
    struct err e = {0};
    struct load_info info = {.file = "case"};
    bed->data = tmpfile();
    bed->messages = tmpfile();
    assert_true(session_new(&bed->s, bed->data, bed->messages, OUT_TEXT, &e));
    assert_true(session_add(&bed->s, NULL, A, &info, &e));
}

/* ---- dense n x n matrices, stored row by row ---- */

typedef double dense[DENSE_MAX * DENSE_MAX];
static dense A_, M_, L_, U_;
static bool there[DENSE_MAX * DENSE_MAX];

static int spread(const struct csr *A)
{
    int n = (int)A->rows;
    assert_true(n <= DENSE_MAX);
    memset(there, 0, sizeof there);
    memset(A_, 0, sizeof A_);
    for (int i = 0; i < n; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            A_[i * n + A->col[k]] = A->val[k];
            there[i * n + A->col[k]] = true;
        }
    return n;
}

static void multiply(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

/* Solve M z = r by Gaussian elimination; M is overwritten. */
static void solve_dense(int n, double *m, const double *r, double *z)
{
    memcpy(z, r, (size_t)n * sizeof *z);
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(m[i * n + k]) > fabs(m[best * n + k])) best = i;
        for (int j = 0; j < n; j++) {
            double t = m[k * n + j];
            m[k * n + j] = m[best * n + j];
            m[best * n + j] = t;
        }
        double t = z[k];
        z[k] = z[best], z[best] = t;
        for (int i = k + 1; i < n; i++) {
            double f = m[i * n + k] / m[k * n + k];
            for (int j = k; j < n; j++) m[i * n + j] -= f * m[k * n + j];
            z[i] -= f * z[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) z[k] -= m[k * n + j] * z[j];
        z[k] /= m[k * n + k];
    }
}

/* The definition of ILU(0): L U = A wherever A has entries; L and U have no entries elsewhere. */
static void dense_ilu0(int n)
{
    double *a = M_;
    memcpy(a, A_, sizeof A_);
    for (int i = 1; i < n; i++)
        for (int k = 0; k < i; k++) {
            if (!there[i * n + k]) continue;
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++)
                if (there[i * n + j]) a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            L_[i * n + j] = j < i ? a[i * n + j] : i == j;
            U_[i * n + j] = j < i ? 0 : a[i * n + j];
        }
    multiply(n, L_, U_, M_);
}

static void dense_ic0(int n)
{
    memset(L_, 0, sizeof L_);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A_[i * n + j];
            if (!there[i * n + j]) continue;
            for (int k = 0; k < j; k++) sum -= L_[i * n + k] * L_[j * n + k];
            L_[i * n + j] = i == j ? sqrt(sum) : sum / L_[j * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) U_[i * n + j] = L_[j * n + i];
    multiply(n, L_, U_, M_);
}

static void dense_blocks(int n, int size)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) M_[i * n + j] = i / size == j / size ? A_[i * n + j] : 0;
}

static void check_product_on_pattern(int n)
{
    for (int i = 0; i < n * n; i++)
        if (there[i]) assert_true(fabs(M_[i] - A_[i]) <= 1e-12 * (1 + fabs(A_[i])));
}

static void define(const char *precond, int n, int64_t block)
{
    if (!strcmp(precond, "jacobi")) dense_blocks(n, 1);
    if (!strcmp(precond, "bjacobi")) dense_blocks(n, block ? (int)block : 8);
    if (!strcmp(precond, "ilu0")) dense_ilu0(n);
    if (!strcmp(precond, "ic0")) dense_ic0(n);
    if (precond[0] == 'i') check_product_on_pattern(n);
}

void check_applied(struct bed *bed, const char *precond, int64_t block, const char *device, enum precision real)
{
    struct err e = {0};
    if (!bed_begin(bed, precond, block, device, real, &e)) fail_msg("%s: %s", precond, e.text);
    struct solve *v = bed->s.solve;
    double *r = random_vector(v->n), z[DENSE_MAX], expected[DENSE_MAX], size = 0;
    int n = spread(&bed->s.current->csr);
    define(precond, n, block);
    solve_dense(n, M_, r, expected);
    bed_apply(v, r, z);
    for (int i = 0; i < n; i++) size = fmax(size, fabs(expected[i]));
    for (int i = 0; i < n; i++)
        if (!(fabs(z[i] - expected[i]) <= size * (real == P_F32 ? 1e-5 : 1e-13)))
            fail_msg("%s of %d rows on %s: z[%d] is %.17g, not %.17g", precond, n, device, i, z[i], expected[i]);
    mem_free(r);
}

static const struct problem problems[] = {
    {.generator = "poisson2d", .p = {10, 9}},
    {.generator = "poisson3d", .p = {4, 3, 5}},
    {.generator = "poisson2d", .p = {33, 1}},
    {.generator = "poisson2d", .p = {1, 1}},
    {.upwind = {11, 8}},
    DENSE(4, 4, -1, 0, 2, -1, 5, 1, 0, 0, 1, 3, -1, 2, 0, -1, 6),
    DENSE(3, 2, 1, 0, 0, -4, 1, 1, 0, 8),
};
enum { SYMMETRIC_ONES = 4 }; /* the first four problems and the second to last problem are positive definite */

static bool definite(int i)
{
    return i < SYMMETRIC_ONES || i == COUNT(problems) - 2;
}

void check_preconds_applied(const char *device, enum precision real)
{
    for (int i = 0; i < COUNT(problems); i++) {
        struct bed bed;
        bed_make(&bed, &problems[i]);
        check_applied(&bed, "jacobi", 0, device, real);
        check_applied(&bed, "bjacobi", 0, device, real);
        check_applied(&bed, "bjacobi", 3, device, real);
        check_applied(&bed, "bjacobi", 32, device, real);
        check_applied(&bed, "ilu0", 0, device, real);
        if (definite(i)) check_applied(&bed, "ic0", 0, device, real);
        bed_free(&bed);
    }
}

/* ---- launches ---- */

static double *applied(struct bed *bed, const char *precond, const char *device, enum precision real)
{
    struct err e = {0};
    if (!bed_begin(bed, precond, 0, device, real, &e)) fail_msg("%s: %s", precond, e.text);
    double *r = random_vector(bed->s.solve->n), *z = mem_new(bed->s.solve->n, sizeof *z, "z", NULL);
    bed_apply(bed->s.solve, r, z);
    mem_free(r);
    return z;
}

static void check_close(int64_t n, const double *a, const double *b, double eps)
{
    double size = 0;
    for (int64_t i = 0; i < n; i++) size = fmax(size, fabs(a[i]));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= eps * size)) fail_msg("%lld: %.17g, not %.17g", (long long)i, b[i], a[i]);
}

/* Wide levels, narrow levels and a mixture of both give the result of the host's plain loop. */
static void check_launches(struct bed *bed, const char *precond, const char *device, enum precision real)
{
    static const int narrow[] = {-1, 0, 7};
    bed_triangles.way = TRIANGLES_LEVELS;
    double eps = real == P_F32 ? 1e-5 : 1e-13, *host = applied(bed, precond, "cpu", real);
    for (int k = 0; k < COUNT(narrow); k++) {
        level_schedule_hook(narrow[k]);
        double *z = applied(bed, precond, device, real);
        check_close(bed->s.current->csr.rows, host, z, eps);
        mem_free(z);
    }
    level_schedule_hook(-1);
    bed_triangles.way = TRIANGLES_AUTO;
    mem_free(host);
}

/* The host's result in the order of the rows that the device takes, by the host's loops. */
static void check_triangles(struct bed *bed, const struct precond *pre, const struct triangle_settings *t,
                            const char *device, enum precision real)
{
    const double eps = real == P_F32 ? 1e-5 : 1e-13;
    bool many = t->sweeps == SWEEPS_MAX;
    bed_triangles = *t;
    double *z = applied(bed, pre->name, device, real);
    if (many) bed_triangles = (struct triangle_settings){0};
    bed_triangles.order = bed->s.solve->pre.order;
    double *host = applied(bed, pre->name, "cpu", real);
    bed_triangles = *t;
    mem_free(z);
    z = applied(bed, pre->name, device, real);
    check_close(bed->s.solve->n, host, z, eps);
    memset(z, 0, (size_t)bed->s.solve->n * sizeof *z);
    double *r = random_vector(bed->s.solve->n); /* applied a second time, and after an interrupted launch */
    struct err e = {0};
    assert_true(!pre->restore || pre->restore(bed->s.solve, &e));
    bed_apply(bed->s.solve, r, z);
    check_close(bed->s.solve->n, host, z, eps);
    bed_triangles = (struct triangle_settings){0};
    mem_free(host);
    mem_free(z);
    mem_free(r);
}

void check_preconds_triangles(const char *device, enum precision real)
{
    static const struct problem some[] = {{.generator = "poisson2d", .p = {17, 11}},
                                          {.generator = "poisson3d", .p = {13, 12, 14}},
                                          {.generator = "poisson2d", .p = {90, 1}},
                                          {.generator = "fem", .p = {12, 9}},
                                          {.upwind = {14, 12}}};
    for (int i = 0; i < COUNT(some); i++) {
        struct bed bed;
        bed_make(&bed, &some[i]);
        for (int k = 0; preconds[k]; k++) {
            if (!preconds[k]->triangles || (i == COUNT(some) - 1 && !strcmp(preconds[k]->name, "ic0"))) continue;
            for (enum triangle_way way = TRIANGLES_AUTO; way <= TRIANGLES_SYNC_FREE; way++)
                check_triangles(&bed, preconds[k], &(struct triangle_settings){.way = way}, device, real);
            for (int64_t n = 1; n <= SWEEPS_MAX; n = n < 3 ? n + 1 : n < 9 ? 9 : n < SWEEPS_MAX ? SWEEPS_MAX : n + 1)
                if (n < SWEEPS_MAX || i < 1)
                    check_triangles(&bed, preconds[k],
                                    &(struct triangle_settings){.way = TRIANGLES_SWEEPS, .sweeps = n}, device, real);
            check_triangles(&bed, preconds[k], &(struct triangle_settings){.order = ordering_find("colours")}, device,
                            real);
            check_triangles(
                &bed, preconds[k],
                &(struct triangle_settings){.way = TRIANGLES_SWEEPS, .sweeps = 2, .order = ordering_find("rcm")},
                device, real);
        }
        bed_free(&bed);
    }
}

void check_preconds_launches(const char *device, enum precision real)
{
    static const struct problem some[] = {
        {.generator = "poisson2d", .p = {47, 31}}, {.generator = "poisson3d", .p = {13, 12, 14}}, {.upwind = {14, 12}}};
    for (int i = 0; i < COUNT(some); i++) {
        struct bed bed;
        bed_make(&bed, &some[i]);
        check_launches(&bed, "ilu0", device, real);
        check_launches(&bed, "bjacobi", device, real);
        if (i < 2) check_launches(&bed, "ic0", device, real);
        bed_free(&bed);
    }
}

/* Every row depends on the previous row and on some much earlier rows; `reach` > 16 makes rows long. The matrix is
   symmetric and diagonally dominant. */
static void make_comb(int n, int reach, struct csr *A)
{
    int *row = mem_new((int64_t)n * 2 * (reach + 2), sizeof *row, "rows", NULL), count = 0;
    int *col = mem_new((int64_t)n * 2 * (reach + 2), sizeof *col, "cols", NULL);
    double *val = mem_new((int64_t)n * 2 * (reach + 2), sizeof *val, "values", NULL);
    for (int i = 0; i < n; i++) {
        row[count] = col[count] = i;
        val[count++] = i ? 4 : 4 + n;
        for (int k = 0; k <= reach; k++) {
            int j = k == reach ? 0 : i - 1 - 3 * k; /* the last dependency of the row is row 0 */
            if (j < 0 || (k == reach && i <= 3 * reach)) continue;
            row[count] = col[count + 1] = i;
            col[count] = row[count + 1] = j;
            val[count] = val[count + 1] = -1. / (1 + k);
            count += 2;
        }
    }
    assert_true(csr_from_triplets(A, n, n, count, row, col, val, NULL, NULL, NULL));
    mem_free(row);
    mem_free(col);
    mem_free(val);
}

/* Check long runs of narrow levels whose results do not all fit in shared memory, and rows so long that each row takes
   a warp. */
void check_preconds_long_runs(const char *device)
{
    static const int combs[][2] = {{9000, 1}, {5000, 5}, {300, 30}};
    for (int i = 0; i < COUNT(combs); i++) {
        struct csr A;
        struct bed bed;
        make_comb(combs[i][0], combs[i][1], &A);
        bed_take(&bed, &A);
        double *host = applied(&bed, "ilu0", "cpu", P_F64);
        for (enum triangle_way way = TRIANGLES_LEVELS; way <= TRIANGLES_SYNC_FREE; way++) {
            bed_triangles.way = way;
            double *z = applied(&bed, "ilu0", device, P_F64);
            check_close(combs[i][0], host, z, 1e-13);
            assert_int_equal(bed.s.solve->pre.note[TRI_LEVELS_LOWER], combs[i][0]);
            mem_free(z);
        }
        bed_triangles.way = TRIANGLES_AUTO;
        mem_free(host);
        bed_free(&bed);
    }
}

/* Check large matrices with wide levels and with runs of narrow levels, at sizes that fill a GPU. */
void check_preconds_large(const char *device)
{
    static const struct problem some[] = {{.generator = "poisson2d", .p = {1000, 999}},
                                          {.generator = "poisson3d", .p = {90, 80, 70}},
                                          {.generator = "fem", .p = {150, 150}}};
    for (int i = 0; i < COUNT(some); i++) {
        struct bed bed;
        bed_make(&bed, &some[i]);
        double *host = applied(&bed, "ilu0", "cpu", P_F64);
        for (enum triangle_way way = TRIANGLES_LEVELS; way <= TRIANGLES_SYNC_FREE; way++) {
            bed_triangles.way = way;
            double *z = applied(&bed, "ilu0", device, P_F64);
            check_close(bed.s.current->csr.rows, host, z, 1e-11);
            mem_free(z);
        }
        bed_triangles.way = TRIANGLES_AUTO;
        mem_free(host);
        bed_free(&bed);
    }
}

/* A preconditioner does nothing after the solve is done. */
void check_preconds_guard(const char *device)
{
    for (int i = 0; preconds[i]; i++) {
        if (preconds[i]->saddle) continue;
        struct bed bed;
        struct err e = {0};
        double done = CONVERGED, ones[6] = {1, 1, 1, 1, 1, 1}, z[6];
        bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {3, 2}});
        assert_true(bed_begin(&bed, preconds[i]->name, 0, device, P_F64, &e));
        struct solve *v = bed.s.solve;
        assert_true(v->dev->ops->put(v->dev, v->scalars + S_DONE, &done, sizeof done, &e));
        assert_true(solve_put(v, v->vec[2], ones, &e) && solve_put(v, v->vec[3], ones, &e));
        assert_true(v->pre.method->apply(v, v->vec[2], v->vec[3], &e) && v->dev->ops->sync(v->dev, &e));
        assert_true(solve_get(v, z, v->vec[3], &e));
        for (int k = 0; k < 6; k++) assert_true(z[k] == 1);
        bed_free(&bed);
    }
}

/* ---- fewer iterations with a preconditioner ---- */

static int64_t iterations(struct bed *bed, const char *solver, const struct precond *pre, const char *device)
{
    struct solve_options o = {.solver = solver_find(solver), .real = P_F64, .tol = 1e-8, .maxit = 2000, .m = 20};
    if (!o.solver->restarts) o.m = 0;
    o.pre = pre;
    bed_solve(bed, o, device, 1e5);
    const struct solve *v = bed->s.solve;
    if (v->reason != CONVERGED) fail_msg("%s with %s on %s: %s", solver, pre ? pre->name : "none", device, v->why);
    assert_true(v->result.residual_true <= 2e-8 && v->result.error_known < 1e-5);
    return v->iterations;
}

/* A factorisation or multigrid saves iterations. Dividing by the diagonal saves no iterations, because the diagonal of
   these matrices is constant. */
static void check_gain(const struct problem *p, bool symmetric, const char *device)
{
    static const char *const solvers_that[] = {"cg", "bicgstab", "qmrcgstab", "gmres"};
    struct bed bed;
    bed_make(&bed, p);
    for (int i = symmetric ? 0 : 1; i < COUNT(solvers_that); i++) {
        int64_t plain = iterations(&bed, solvers_that[i], NULL, device);
        for (int k = 0; preconds[k]; k++) {
            bool factored = preconds[k]->name[0] == 'i' || preconds[k]->by_products;
            if (!symmetric && (!strcmp(preconds[k]->name, "ic0") || preconds[k]->by_products)) continue;
            if (preconds[k]->saddle || (solver_find(solvers_that[i])->own_precond && !preconds[k]->symmetric)) continue;
            int64_t with = iterations(&bed, solvers_that[i], preconds[k], device);
            if (!(factored ? with < 0.7 * (double)plain : with <= plain + plain / 4))
                fail_msg("%s on %s: %lld iterations with %s, %lld without", solvers_that[i], device, (long long)with,
                         preconds[k]->name, (long long)plain);
        }
    }
    bed_free(&bed);
}

void check_preconds_gain(const char *device)
{
    static const struct problem grid = {.generator = "poisson2d", .p = {40, 40}}, wind = {.upwind = {14, 12}};
    check_gain(&grid, true, device);
    check_gain(&wind, false, device);
}

/* ---- a diagonal that is applied in the solver's own passes ---- */

/* S A S for a grid A, where S is a diagonal that varies: symmetric, positive definite and badly scaled. */
static void take_scaled_grid(struct bed *bed)
{
    struct csr A;
    struct err e = {0};
    int64_t p[PARAMS_MAX] = {19, 17};
    assert_true(generator_find("poisson2d")->make(p, 1, NULL, &A, &e));
    for (int64_t i = 0; i < A.rows; i++)
        for (int64_t k = A.rowptr[i]; k < A.rowptr[i + 1]; k++)
            A.val[k] *= (double)(1 + i % 7) * (double)(1 + A.col[k] % 7);
    bed_take(bed, &A);
}

static void compare_diagonals(struct bed *bed, struct solve_options o, const char *device)
{
    double close = o.real == P_F32 ? 1e-3 : 1e-8, before[2][13];
    for (int k = 0; k < 2; k++) {
        o.pre = precond_find(k ? "bjacobi" : "jacobi");
        o.pre_block = k;
        bed_solve(bed, o, device, 1e9);
        assert_int_equal(bed->s.solve->iterations, o.maxit);
        memcpy(before[k], bed->s.solve->history.residual, sizeof before[k]);
    }
    for (int i = 0; i <= o.maxit; i++)
        if (!(fabs(before[0][i] - before[1][i]) <= close * before[1][i]))
            fail_msg("%s on %s: residual %g with jacobi, %g with blocks of one row, at iteration %d", o.solver->name,
                     device, before[0][i], before[1][i], i);
}

void check_preconds_diagonal(const char *device, enum precision real)
{
    struct bed bed;
    take_scaled_grid(&bed);
    for (int i = 0; solvers[i]; i++)
        for (int host = 0; host < 2 && solver_takes(solvers[i], precond_find("jacobi")); host++) {
            struct solve_options o = {.solver = solvers[i], .real = real, .maxit = 12, .sums_host = host};
            if (o.solver->restarts) o.m = 5;
            compare_diagonals(&bed, o, device);
        }
    bed_free(&bed);
}
