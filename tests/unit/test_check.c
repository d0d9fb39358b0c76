/* The reference SpMV, which is compared with an SpMV in long double; its error bounds; and the verdicts on results. */
#include "base/base.h"
#include "base/mem.h"
#include "kits/shapes.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "matrix/reference.h"

#include <float.h>
#include <math.h>
#include <omp.h>

static double *random_vector(int64_t n, uint64_t seed)
{
    double *x = mem_new(n, sizeof *x, "a vector", NULL);
    for (int64_t i = 0; i < n; i++) x[i] = random_unit(&seed) / 3;
    return x;
}

static const struct {
    double alpha, beta;
} factors[] = {{1, 0}, {1, 1}, {-0.3, 0}, {0, 2}, {1.7, -0.9}, {0, 0}};

/* Number i of alpha A x + beta y in long double, and the sum for the error bound. If A is complex, the numbers are the
   real and imaginary parts. */
static long double naive(const struct csr *A, int64_t i, double alpha, const double *x, double beta, double y,
                         double *sizes)
{
    int64_t parts = A->imag ? 2 : 1, r = i / parts, part = i % parts;
    long double sum = 0;
    *sizes = beta == 0 ? 0 : fabs(beta * y);
    for (int64_t k = A->rowptr[r]; k < A->rowptr[r + 1]; k++) {
        const double *at = x + parts * A->col[k];
        sum += (long double)A->val[k] * at[part];
        *sizes += fabs(alpha * A->val[k] * at[part]);
        if (!A->imag) continue;
        sum += (part ? 1 : -1) * (long double)A->imag[k] * at[!part];
        *sizes += fabs(alpha * A->imag[k] * at[!part]);
    }
    return beta == 0 ? alpha * sum : alpha * sum + (long double)beta * y;
}

TEST(agrees_with_long_double)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 4);
        int64_t parts = A.imag ? 2 : 1, n = parts * A.rows;
        double *x = random_vector(parts * A.cols, 1), *bound = mem_new(n, sizeof *bound, "bounds", NULL);
        for (int f = 0; f < COUNT(factors); f++) {
            double alpha = factors[f].alpha, beta = factors[f].beta, sizes;
            double *old = random_vector(n, 2), *y = random_vector(n, 2);
            reference_spmv(&A, alpha, x, beta, y, P_F64, bound);
            for (int64_t i = 0; i < n; i++) {
                long double want = naive(&A, i, alpha, x, beta, old[i], &sizes);
                double formula = (double)(parts * csr_row_length(&A, i / parts) + 2) * DBL_EPSILON * sizes;
                assert_true(fabsl(y[i] - want) <= DBL_EPSILON * fabsl(want) + LDBL_EPSILON * 1e5L * sizes);
                assert_true(fabs(bound[i] - formula) <= 1e-9 * formula);
            }
            mem_free(old);
            mem_free(y);
        }
        mem_free(x);
        mem_free(bound);
        csr_free(&A);
    }
}

/* Cases in which a plain sum loses all digits: 1e16 + 1 - 1e16, and a product's rounding error. */
TEST(cancellation_is_exact)
{
    const double up = 1 + DBL_EPSILON;
    const struct {
        double a[3], x[3], sum;
    } cases[] = {
        {{1e16, 1, -1e16}, {1, 1, 1}, 1},
        {{up, -1, -2 * DBL_EPSILON}, {up, 1, 1}, DBL_EPSILON * DBL_EPSILON},
        {{1e300, 3, -1e300}, {1, 1, 1}, 3},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        static const int row[] = {0, 0, 0}, col[] = {0, 1, 2};
        struct csr A;
        double y = NAN;
        assert_true(csr_from_triplets(&A, 1, 3, 3, row, col, cases[i].a, NULL, NULL, NULL));
        reference_spmv(&A, 1, cases[i].x, 0, &y, P_F64, NULL);
        assert_true(y == cases[i].sum);
        csr_free(&A);
    }
}

TEST(beta_zero_does_not_read_y)
{
    static const int at[] = {0, 1};
    static const double val[] = {2, 3}, x[] = {5, 7};
    struct csr A;
    double y[] = {NAN, INFINITY, NAN}, bound[3];
    assert_true(csr_from_triplets(&A, 3, 2, 2, at, at, val, NULL, NULL, NULL));
    reference_spmv(&A, 2, x, 0, y, P_F32, bound);
    assert_true(y[0] == 20 && y[1] == 42 && y[2] == 0);
    assert_true(bound[0] == 3 * (double)FLT_EPSILON * 20 && bound[2] == 0);
    csr_free(&A);
}

TEST(infinities_and_nan_are_kept)
{
    static const struct {
        double a, x, want;
    } cases[] = {{INFINITY, 2, INFINITY}, {-INFINITY, 2, -INFINITY}, {1e308, 1e308, INFINITY}, {INFINITY, 0, NAN},
                 {NAN, 1, NAN},           {1, -INFINITY, -INFINITY}};
    for (int i = 0; i < COUNT(cases); i++) {
        static const int row[] = {0, 0}, col[] = {0, 1};
        const double val[] = {cases[i].a, 1}, x[] = {cases[i].x, 1};
        for (int f = 0; f < 2; f++) {
            struct csr A;
            double y = 1, bound;
            assert_true(csr_from_triplets(&A, 1, 2, 2, row, col, val, NULL, NULL, NULL));
            reference_spmv(&A, f ? 2 : 1, x, f, &y, P_F64, &bound);
            assert_true(isnan(cases[i].want) ? isnan(y) : y == cases[i].want);
            csr_free(&A);
        }
    }
}

/* If a value, a vector element or a product underflows in single precision, the error stays within the bound. */
TEST(underflow_is_within_the_bound)
{
    static const struct {
        double a, x;
    } cases[] = {{1e-60, 1}, {1e-30, 1e-30}, {1e-43, 1e6}, {1e6, 1e-44}, {3e-39, 1}};
    for (int i = 0; i < COUNT(cases); i++) {
        static const int at[] = {0};
        struct csr A;
        double ref = 0, bound, flushed = (float)((float)cases[i].a * (float)cases[i].x);
        assert_true(csr_from_triplets(&A, 1, 1, 1, at, at, &cases[i].a, NULL, NULL, NULL));
        reference_spmv(&A, 1, &cases[i].x, 0, &ref, P_F32, &bound);
        assert_true(verdict_of(1, &flushed, &ref, &bound).ok);
        assert_true(bound < 1e-30);
        csr_free(&A);
    }
}

TEST(verdicts)
{
    static const struct {
        double y, ref, bound;
        bool ok;
        double relative;
    } cases[] = {
        {1, 1, 0, true, 0},
        {1.5, 1, 0.5, true, 0.5},
        {1.5, 1, 0.25, false, 0.5},
        {1, 0, 0, false, INFINITY},
        {0, 0, 0, true, 0},
        {-0.0, 0, 0, true, 0},
        {5e-324, 0, 0, false, INFINITY},
        {NAN, 1, 10, false, INFINITY},
        {INFINITY, 1, 10, false, INFINITY},
        {INFINITY, 1, INFINITY, false, INFINITY},
        {NAN, NAN, 1, true, NAN},
        {1, NAN, NAN, false, INFINITY},
        {INFINITY, INFINITY, INFINITY, true, NAN},
        {-INFINITY, INFINITY, INFINITY, false, INFINITY},
        {NAN, INFINITY, INFINITY, false, INFINITY},
        {1, INFINITY, INFINITY, false, INFINITY},
        {1.25, 1, NAN, false, 0.25},
        {1e200, 2e200, 1e200, true, 0.5},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct verdict v = verdict_of(1, &cases[i].y, &cases[i].ref, &cases[i].bound);
        bool same = isnan(cases[i].relative) ? isnan(v.relative) : v.relative == cases[i].relative;
        if (v.ok != cases[i].ok || !same) fail_msg("case %d", i);
        assert_int_equal(v.row, v.worst > 0 ? 0 : -1);
    }
}

TEST(the_worst_row_is_named)
{
    static const double y[] = {1, 2.5, 3.5, 4}, ref[] = {1, 2, 3, 4}, bound[] = {1, 1, 0.25, 0};
    struct verdict v = verdict_of(4, y, ref, bound);
    assert_true(!v.ok && v.row == 2 && v.worst == 2);
    assert_true(fabs(v.relative - sqrt(0.5 / 30)) < 1e-15);
    v = verdict_of(4, ref, ref, NULL);
    assert_true(v.ok && v.row == -1 && v.worst == 0 && v.relative == 0);
    v = verdict_of(0, NULL, NULL, NULL);
    assert_true(v.ok && v.row == -1);
}

/* The first of equal places counts, whichever thread finds it, and the sums do not depend on the threads. */
TEST(long_vectors_are_compared_by_all_threads)
{
    enum { N = 5000000 };
    double *y = mem_new(N, sizeof *y, "y", NULL), *ref = mem_new(N, sizeof *ref, "ref", NULL);
    int threads = omp_get_max_threads();
    assert_true(y && ref);
    random_fill(ref, N, 3);
    for (int i = 0; i < N; i++) y[i] = ref[i] * (1 + 1e-3 * (i % 7));
    y[4500000] = ref[4500000] + 100;
    y[300000] = ref[300000] + 100;
    struct verdict v[2];
    for (int k = 0; k < 2; k++) {
        omp_set_num_threads(k ? 1 : 4);
        v[k] = verdict_of(N, y, ref, NULL);
    }
    omp_set_num_threads(threads);
    assert_true(v[0].relative == v[1].relative && v[0].relative > 0.08 && v[0].relative < 0.12);
    assert_true(isinf(v[0].worst) && v[0].row == 1 && v[1].row == 1);
    for (int i = 0; i < N; i++) y[i] = ref[i];
    y[4500000] = NAN;
    y[300000] = NAN;
    v[0] = verdict_of(N, y, ref, NULL);
    assert_true(v[0].row == 300000 && isinf(v[0].relative));
    mem_free(y);
    mem_free(ref);
}
