/* Ritz values of tridiagonal and Hessenberg matrices with known eigenvalues, and of solves with matrices of known
   eigenvalues. */
#include "base/mem.h"
#include "kits/solve_kit.h"
#include "kits/test.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/random.h"
#include "session/session_solve.h"
#include "solvers/precond.h"
#include "solvers/ritz.h"
#include "solvers/solve.h"
#include "solvers/solve_state.h"
#include "solvers/solver.h"

static const double pi = 3.14159265358979323846;

static void assert_near(double found, double expected, double relative)
{
    if (!(fabs(found - expected) <= relative * fabs(expected)))
        fail_msg("expected %.15g, found %.15g", expected, found);
}

/* ---- conjugate gradients ---- */

enum { ROWS = 300 };

/* Run cg on diag(lambda) with a right-hand side of ones. Stores the coefficients and returns their number. */
static int64_t run_cg(int n, const double *lambda, int64_t most, double *alpha, double *beta)
{
    double r[ROWS], p[ROWS], rr = n;
    int64_t k = 0;
    for (int i = 0; i < n; i++) r[i] = p[i] = 1;
    for (; k < most && rr > 1e-26; k++) {
        double pq = 0, next = 0;
        for (int i = 0; i < n; i++) pq += p[i] * lambda[i] * p[i];
        alpha[k] = rr / pq;
        for (int i = 0; i < n; i++) r[i] -= alpha[k] * lambda[i] * p[i];
        for (int i = 0; i < n; i++) next += r[i] * r[i];
        beta[k] = next / rr;
        for (int i = 0; i < n; i++) p[i] = r[i] + beta[k] * p[i];
        rr = next;
    }
    return k;
}

TEST(test_spectra)
{
    static const struct {
        int n;
        double low, ratio;
    } table[] = {{1, 3, 1}, {2, 1, 2}, {2, 1e-9, 1e12}, {5, 0.25, 4}, {8, 1e-6, 10}, {12, 1e-150, 2}, {12, 1e150, 2}};
    for (int t = 0; t < COUNT(table); t++) {
        double lambda[ROWS], alpha[ROWS], beta[ROWS];
        int n = table[t].n;
        for (int i = 0; i < n; i++) lambda[i] = table[t].low * pow(table[t].ratio, i);
        int64_t k = run_cg(n, lambda, ROWS, alpha, beta);
        struct ritz r = {0};
        ritz_grow(&r, alpha, beta, k, 0);
        assert_true(r.settled);
        assert_int_equal(r.rows, k);
        assert_near(r.low, lambda[0], 1e-6);
        assert_near(r.high, lambda[n - 1], 1e-6);
    }
}

/* The coefficients of the n x n matrix T with 2 on the diagonal and -1 next to it, which is L D L' with D_j = (j + 1) /
   j. Its eigenvalues are 2 - 2 cos(j pi / (n + 1)). */
static void second_difference(int64_t n, double *alpha, double *beta)
{
    for (int64_t j = 0; j < n; j++) {
        alpha[j] = (double)(j + 1) / (double)(j + 2);
        beta[j] = alpha[j] * alpha[j];
    }
}

static double lowest(int64_t n)
{
    double half = sin(pi / 2 / (double)(n + 1));
    return 4 * half * half;
}

/* Add the rows one by one, with different budgets: whenever the result is settled, the lowest and the highest Ritz
   value are correct. */
TEST(test_growing)
{
    enum { N = 250 };
    double alpha[N], beta[N];
    second_difference(N, alpha, beta);
    for (int64_t budget = 0; budget < 2000; budget = 4 * budget + 3) {
        struct ritz r = {0};
        for (int64_t k = 1; k <= N; k++) {
            ritz_grow(&r, alpha, beta, k, budget);
            assert_int_equal(r.rows, k);
            if (!r.settled) continue;
            assert_near(r.low, lowest(k), 1.1e-7);
            assert_near(r.high, 4 - lowest(k), 1.1e-7);
        }
        for (int i = 0; i < 100000 && !r.settled; i++) ritz_grow(&r, alpha, beta, N, budget);
        assert_true(r.settled);
        assert_near(r.low, lowest(N), 1.1e-7);
        assert_near(r.high, 4 - lowest(N), 1.1e-7);
    }
}

/* The budget is respected: one call examines at most as many rows as the budget allows, plus the new rows. */
TEST(test_budget)
{
    enum { N = 100000, BUDGET = 20000 };
    double *alpha = malloc(N * sizeof *alpha), *beta = malloc(N * sizeof *beta);
    struct ritz r = {0};
    assert_true(alpha && beta);
    second_difference(N, alpha, beta);
    int calls = 0;
    for (; !r.settled; calls++) {
        assert_true(calls < 3000);
        ritz_grow(&r, alpha, beta, N, BUDGET);
    }
    assert_true(calls > 10);
    assert_near(r.low, lowest(N), 1.1e-7);
    assert_near(r.high, 4 - lowest(N), 1.1e-7);
    free(alpha);
    free(beta);
}

/* If a solve goes back, or a different solve begins, the coefficients change, and the Ritz values must be computed
   again. */
TEST(test_coefficients_restart)
{
    static const double alpha[] = {1, 0.5, 0.25}, other[] = {2, 0.5, 0.25}, beta[] = {0, 0, 0};
    struct ritz r = {0};
    ritz_grow(&r, alpha, beta, 3, 0);
    assert_near(r.high, 4, 2e-7);
    ritz_grow(&r, alpha, beta, 2, 0);
    assert_int_equal(r.rows, 2);
    assert_near(r.high, 2, 2e-7);
    assert_near(r.low, 1, 2e-7);
    ritz_grow(&r, other, beta, 3, 0);
    assert_near(r.low, 0.5, 2e-7);
    ritz_grow(&r, NULL, NULL, 0, 0);
    assert_int_equal(r.rows, 0);
    assert_true(isnan(r.low) && isnan(r.high));
}

TEST(test_invalid_coefficients)
{
    static const struct {
        double alpha[3], beta[3];
        int64_t rows;
    } table[] = {
        {{1, NAN, 1}, {0}, 1},      {{NAN, 1, 1}, {0}, 0},
        {{1, 0, 1}, {0}, 1},        {{1, 1, -1}, {0}, 2},
        {{1, INFINITY, 1}, {0}, 1}, {{1, 1, 1}, {1, NAN}, 2},
        {{1, 1, 1}, {-1, 1}, 1},    {{1, 1, 1}, {INFINITY}, 1},
        {{5e-324, 1, 1}, {0}, 0},   {{1e300, 1e300}, {1e300, 1}, 2},
    };
    for (int t = 0; t < COUNT(table); t++) {
        struct ritz r = {0};
        ritz_grow(&r, table[t].alpha, table[t].beta, 3, 0);
        assert_int_equal(r.rows, table[t].rows);
        assert_true(r.rows ? r.low > 0 && r.low <= r.high : isnan(r.low));
    }
}

/* ---- Hessenberg matrices ---- */

enum { MAX = 40 };
struct hessenberg {
    int64_t k;
    double H[MAX * (MAX + 1)]; /* columns of k + 1 rows */
    double re[MAX], im[MAX];   /* expected */
};

static double *entry(struct hessenberg *h, int64_t i, int64_t j)
{
    return &h->H[j * (h->k + 1) + i];
}

/* Check that each expected value is found exactly once. */
static void assert_values(struct hessenberg *h, double tolerance)
{
    double re[MAX], im[MAX];
    struct err e = {0};
    assert_true(ritz_hessenberg(h->H, h->k + 1, h->k, re, im, &e));
    for (int64_t i = 0; i < h->k; i++) {
        int64_t best = i;
        for (int64_t j = i; j < h->k; j++)
            if (hypot(re[j] - h->re[i], im[j] - h->im[i]) < hypot(re[best] - h->re[i], im[best] - h->im[i])) best = j;
        double off = hypot(re[best] - h->re[i], im[best] - h->im[i]);
        if (!(off <= tolerance)) fail_msg("%lld: %g%+gi is not there", (long long)h->k, h->re[i], h->im[i]);
        re[best] = re[i];
        im[best] = im[i];
    }
}

/* The eigenvalues are the roots of x^k = 1: QR steps with plain shifts make no progress for eigenvalues on the unit
   circle. */
TEST(test_companion)
{
    for (int64_t k = 1; k <= MAX; k++) {
        struct hessenberg h = {.k = k};
        *entry(&h, 0, k - 1) = 1;
        for (int64_t j = 0; j + 1 < k; j++) *entry(&h, j + 1, j) = 1;
        for (int64_t j = 0; j < k; j++)
            h.re[j] = cos(2 * pi * (double)j / (double)k), h.im[j] = sin(2 * pi * (double)j / (double)k);
        assert_values(&h, 1e-12);
    }
}

/* (x - 1)(x - 2)...(x - 8): small changes of the coefficients of this polynomial move the roots far. */
TEST(test_roots)
{
    static const double c[] = {40320, -109584, 118124, -67284, 22449, -4536, 546, -36};
    struct hessenberg h = {.k = 8};
    for (int j = 0; j < 8; j++) {
        *entry(&h, j, 7) = -c[j];
        if (j < 7) *entry(&h, j + 1, j) = 1;
        h.re[j] = j + 1;
    }
    assert_values(&h, 1e-7);
}

TEST(test_blocks)
{
    struct hessenberg h = {
        .k = 5}; /* a rotation, a double and a simple real eigenvalue, in a block upper triangular matrix */
    static const double a[5][5] = {
        {0.6, -0.8, 1, 2, 3}, {0.8, 0.6, 4, 5, 6}, {0, 0, 2, 7, 8}, {0, 0, 0, 2, 9}, {0, 0, 0, 0, -1}};
    static const double re[] = {0.6, 0.6, 2, 2, -1}, im[] = {0.8, -0.8, 0, 0, 0};
    for (int i = 0; i < 5; i++) {
        for (int j = 0; j < 5; j++)
            if (i <= j + 1) *entry(&h, i, j) = a[i][j];
        h.re[i] = re[i];
        h.im[i] = im[i];
    }
    assert_values(&h, 1e-14);
}

/* The second difference, with a diagonal similarity that makes it unsymmetric. */
TEST(test_tridiagonal)
{
    for (int64_t k = 1; k <= MAX; k += 3)
        for (double scale = 1e-140; scale < 1e150; scale *= 1e140) {
            struct hessenberg h = {.k = k};
            for (int64_t j = 0; j < k; j++) {
                *entry(&h, j, j) = 2 * scale;
                *entry(&h, j + 1, j) = -1.25 * scale;
                if (j) *entry(&h, j - 1, j) = -0.8 * scale;
                h.re[j] = (2 - 2 * cos(pi * (double)(j + 1) / (double)(k + 1))) * scale;
            }
            assert_values(&h, 1e-11 * scale);
        }
}

/* The sum and the product of the eigenvalues of a random matrix are its trace and determinant. */
TEST(test_random)
{
    uint64_t seed = 5;
    struct err e = {0};
    for (int t = 0; t < 200; t++) {
        struct hessenberg h = {.k = 1 + t % MAX};
        double trace = 0, sum = 0, imaginary = 0, re[MAX], im[MAX];
        for (int64_t j = 0; j < h.k; j++) {
            for (int64_t i = 0; i <= j + 1; i++) *entry(&h, i, j) = random_unit(&seed);
            trace += *entry(&h, j, j);
        }
        assert_true(ritz_hessenberg(h.H, h.k + 1, h.k, re, im, &e));
        for (int64_t j = 0; j < h.k; j++) sum += re[j], imaginary += im[j];
        assert_true(fabs(sum - trace) < 1e-12 && fabs(imaginary) < 1e-12);
    }
}

TEST(test_not_finite)
{
    struct err e = {0};
    double H[] = {1, NAN}, re, im, c;
    assert_true(ritz_hessenberg(H, 2, 1, &re, &im, &e)); /* the entry below the square part of H is ignored */
    assert_true(re == 1 && im == 0);
    assert_false(ritz_condition(H, 2, 1, &c, &e));
    assert_int_equal(e.code, E_NUMERIC);
    err_clear(&e);
    H[0] = INFINITY;
    assert_false(ritz_hessenberg(H, 2, 1, &re, &im, &e));
    assert_true(ritz_hessenberg(H, 2, 0, &re, &im, &e));
    err_clear(&e);
    mem_fail_at(1);
    assert_false(ritz_hessenberg(H, 2, 1, &re, &im, &e));
    mem_fail_at(0);
    assert_int_equal(e.code, E_MEMORY);
}

TEST(test_condition)
{
    struct err e = {0};
    double c;
    struct hessenberg h = {.k = 3};
    *entry(&h, 0, 0) = 2, *entry(&h, 1, 1) = -8, *entry(&h, 2, 2) = 0.5;
    assert_true(ritz_condition(h.H, 4, 3, &c, &e));
    assert_near(c, 16, 1e-4);
    *entry(&h, 3, 2) = 1.2; /* the norm of the last column is now sqrt(0.5^2 + 1.2^2) = 1.3 instead of 0.5 */
    assert_true(ritz_condition(h.H, 4, 3, &c, &e));
    assert_near(c, 8 / 1.3, 1e-4);
    *entry(&h, 3, 2) = 0, *entry(&h, 1, 1) = 0;
    assert_true(ritz_condition(h.H, 4, 3, &c, &e));
    assert_true(isinf(c));
}

/* ---- solves ---- */

enum { NX = 20, NY = 13 };

/* A random right-hand side has a component along every eigenvector. */
static struct solve_options options_of(const char *solver, const char *precond, double *b)
{
    uint64_t seed = 3;
    for (int i = 0; i < NX * NY; i++) b[i] = random_unit(&seed);
    return (struct solve_options){.solver = solver_find(solver),
                                  .real = P_F64,
                                  .tol = 1e-13,
                                  .maxit = 1000,
                                  .m = solver_find(solver)->restarts ? 90 : 0,
                                  .pre = precond ? precond_find(precond) : NULL,
                                  .b = b};
}

/* The eigenvalues of poisson2d, NX x NY, are 4 - 2 cos(i pi / (NX + 1)) - 2 cos(j pi / (NY + 1)); its diagonal is 4. */
static void check_poisson(const char *device, const char *precond, double scale)
{
    struct bed bed;
    struct ritz r = {0};
    double b[NX * NY], least = (lowest(NX) + lowest(NY)) * scale;
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {NX, NY}});
    bed_solve(&bed, options_of("cg", precond, b), device, 1e9);
    const struct solve *v = bed.s.solve;
    assert_int_equal(v->reason, CONVERGED);
    ritz_of(&r, v, 0);
    assert_int_equal(r.rows, v->iterations);
    assert_near(r.low, least, 1e-5);
    assert_near(r.high, 8 * scale - least, 1e-5);
    bed_free(&bed);
}

TEST(test_poisson)
{
    check_poisson("cpu", NULL, 1);
    check_poisson("emu", NULL, 1);
    check_poisson("cpu", "jacobi", 0.25);
}

TEST(test_other_solvers_have_none)
{
    struct bed bed;
    double b[NX * NY];
    for (int i = 0; solvers[i]; i++) {
        struct ritz r = {0};
        if (solvers[i]->symmetric) continue;
        bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {NX, NY}});
        bed_solve(&bed, options_of(solvers[i]->name, NULL, b), "cpu", 1e9);
        ritz_of(&r, bed.s.solve, 0);
        assert_true(r.rows == 0 && isnan(r.low) && isnan(r.high));
        bed_free(&bed);
    }
}

/* Steepest descent, x += alpha r: this solver needs a symmetric matrix, like cg, but its alpha gives no Ritz values. */
enum { TOY_R = VEC_OWN, TOY_Q };

static bool toy_residual(struct solve *v, struct err *e)
{
    v->ops.vec->dot(v->dev, v->n, v->scalars, v->vec[TOY_R], v->vec[TOY_R], S_RR);
    v->ops.vec->record(v->dev, v->scalars);
    return true;
}

static bool toy_init(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->vec[VEC_X], v->vec[TOY_Q], e)) return false;
    v->ops.vec->copy(v->dev, v->n, v->vec[VEC_B], v->vec[TOY_R]);
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_ONE, -1, v->vec[TOY_Q], v->vec[TOY_R]);
    return toy_residual(v, e);
}

static bool toy_step(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->vec[TOY_R], v->vec[TOY_Q], e)) return false;
    v->ops.vec->dot(v->dev, v->n, v->scalars, v->vec[TOY_R], v->vec[TOY_Q], S_PQ);
    v->ops.vec->div(v->dev, v->scalars, S_ALPHA, S_RR, S_PQ);
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_ALPHA, 1, v->vec[TOY_R], v->vec[VEC_X]);
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_ALPHA, -1, v->vec[TOY_Q], v->vec[TOY_R]);
    return toy_residual(v, e);
}

static double toy_bytes(const struct csr *A, size_t real, int64_t m)
{
    return csr_bytes(A, real);
}

static const struct solver toy_descent = {
    .name = "toy-descent",
    .vectors = 2,
    .window = 1000,
    .symmetric = true,
    .products = 1,
    .bytes = toy_bytes,
    .init = toy_init,
    .step = toy_step,
};

TEST(test_symmetric_is_not_lanczos)
{
    struct bed bed;
    struct ritz r = {0};
    double b[NX * NY];
    struct err e = {0};
    struct solve_options o = options_of("cg", NULL, b);
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {NX, NY}});
    o.dev = device_open("cpu", &e);
    o.solver = &toy_descent;
    o.tol = 1e-3;
    o.maxit = 10000;
    assert_true(session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, &e));
    struct solve *v = bed.s.solve;
    while (v->reason == RUNNING) assert_true(solve_slice(v, 1e5, &e));
    assert_int_equal(v->reason, CONVERGED);
    assert_true(v->iterations > 10 && v->history.alpha[1] > 0);
    ritz_of(&r, v, 0);
    assert_true(r.rows == 0 && isnan(r.low) && isnan(r.high));
    bed_free(&bed);
}

/* After 80 iterations of gmres, the extreme eigenvalues have converged, and all Ritz values are real and between the
   extreme eigenvalues. */
static void check_gmres(const char *device)
{
    enum { M = 90, STEPS = 80 };
    struct bed bed;
    struct err e = {0};
    double b[NX * NY], H[(M + 1) * M], re[M], im[M], low = 8, high = 0, condition;
    double least = lowest(NX) + lowest(NY);
    int64_t k = 0;
    struct solve_options o = options_of("gmres", NULL, b);
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {NX, NY}});
    o.dev = device_open(device, &e);
    assert_true(session_solve(&bed.s.solve, &bed.s, bed.s.current, &o, &e));
    struct solve *v = bed.s.solve;
    v->set.tol = 0;
    for (v->steps_left = STEPS; v->iterations < STEPS;) assert_true(solve_slice(v, 1e9, &e));
    assert_true(solve_hessenberg(v, H, &k, &e));
    assert_int_equal(k, STEPS);
    assert_true(ritz_hessenberg(H, M + 1, k, re, im, &e));
    for (int i = 0; i < k; i++) {
        assert_true(fabs(im[i]) < 1e-6);
        low = fmin(low, re[i]);
        high = fmax(high, re[i]);
    }
    assert_near(low, least, 1e-5);
    assert_near(high, 8 - least, 1e-5);
    assert_true(ritz_condition(H, M + 1, k, &condition, &e));
    assert_true(condition < (8 - least) / least * (1 + 1e-6) && condition > 0.9 * (8 - least) / least);
    bed_free(&bed);
}

TEST(test_gmres)
{
    check_gmres("cpu");
    check_gmres("emu");
}
