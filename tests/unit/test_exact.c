/* Sums without rounding errors, what follows from them about a matrix, and scales that make its rows and columns
   equally large. */
#include "base/base.h"
#include "base/exact_sum.h"
#include "kits/test.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "matrix/dominance.h"
#include "matrix/equilibrate.h"
#include "matrix/extract.h"
#include "matrix/random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

TEST(sums_are_exact)
{
    static const struct {
        double x[6], sum;
    } cases[] = {
        {{1e300, 1, -1e300}, 1},
        {{0.1, 0.2, -0.3}, 0x1p-55},
        {{1, DBL_TRUE_MIN, -1}, DBL_TRUE_MIN},
        {{1e16, 1, 1, -1e16, -2}, 0},
        {{DBL_MAX, 1e-300, -DBL_MAX, 3, -1e-300, -3}, 0},
        {{DBL_MAX, DBL_MAX}, NAN},
        {{INFINITY, 1}, NAN},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct exact_sum s = {0};
        for (int k = 0; k < COUNT(cases[i].x); k++) exact_sum_add(&s, cases[i].x[k]);
        double sum = exact_sum_value(&s);
        if (isnan(cases[i].sum) ? !isnan(sum) : sum != cases[i].sum)
            fail_msg("sum %d: expected %.17g, found %.17g", i, cases[i].sum, sum);
    }
}

/* Numbers of all sizes and their negatives, in another order, fit into the parts of a sum. */
TEST(sums_of_all_sizes_fit)
{
    enum { N = 5000 };
    static double x[2 * N];
    struct exact_sum s = {0};
    uint64_t seed = 7;
    for (int i = 0; i < N; i++) {
        x[i] = ldexp(random_unit(&seed), (int)(random_unit(&seed) * 1020));
    }
    for (int i = 0; i < N; i++) x[N + (i * 7) % N] = -x[i];
    for (int i = 0; i < 2 * N; i++) {
        exact_sum_add(&s, x[i]);
        assert_true(s.n <= EXACT_SUM_PARTS);
    }
    assert_true(exact_sum_value(&s) == 0);
}

static void make_dense(struct csr *A, int n, const double *a)
{
    int row[16], col[16];
    for (int i = 0; i < n * n; i++) row[i] = i / n, col[i] = i % n;
    assert_true(csr_from_triplets(A, n, n, n * n, row, col, a, NULL, NULL, NULL));
}

TEST(dominance_is_exact)
{
    static const double TINY = 0x1p-60;
    const struct {
        int n;
        double a[16];
        enum dominant is;
    } cases[] = {
        {2, {2, 1, 1, 2}, DOMINANT_CHAINED},
        {2, {1, 1, 1, 1}, DOMINANT_WEAKLY},
        {2, {1, 1, 1, 1 + DBL_EPSILON}, DOMINANT_CHAINED},
        {2, {1, 1, 1, 1 - DBL_EPSILON}, DOMINANT_NOT},
        {3, {1, 1, 0, 1, 1, 0, 0, 0, 5}, DOMINANT_WEAKLY},    /* no path from row 0 to row 2 */
        {3, {1, 1, 0, 0, 1, 1, 0, 1, 2}, DOMINANT_CHAINED},   /* 0 to 1 to 2 */
        {3, {1, 1, TINY, 1, 2, 1, 0, 0, 5}, DOMINANT_NOT},    /* 1 + TINY rounds to 1 */
        {3, {0.3, 0.1, 0.2, 0, 1, 0, 0, 0, 1}, DOMINANT_NOT}, /* 0.1 + 0.2 exceeds 0.3 by 2^-55 */
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        enum dominant is;
        make_dense(&A, cases[i].n, cases[i].a);
        assert_true(dominant_of(&A, &is, NULL));
        if (is != cases[i].is) fail_msg("matrix %d: expected %d, found %d", i, cases[i].is, is);
        csr_free(&A);
    }
}

TEST(rows_that_sum_to_0)
{
    static const struct {
        int n;
        double a[16];
        bool all;
    } cases[] = {
        {2, {1e17, -1e17, -3, 3}, true},
        {3, {0.1, 0.2, -0.3, 0, 0, 0, 1, -1, 0}, false},
        {3, {1, 1e17, -1e17, 0, 0, 0, 1, -1, 0}, false},
        {3, {1, 1e17, -1e17 - 16, 0, 0, 0, 1, -1, 0}, false},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        bool all;
        make_dense(&A, cases[i].n, cases[i].a);
        assert_true(rows_sum_to_0(&A, &all, NULL));
        if (all != cases[i].all) fail_msg("matrix %d", i);
        csr_free(&A);
    }
}

/* 2 A + 3 B, where (0, 0) is in both, (0, 1) in A only and (1, 0) in B only. */
TEST(complex_sums_have_both_factors)
{
    static const int row_a[] = {0, 0}, col_a[] = {0, 1}, row_b[] = {0, 1}, col_b[] = {0, 0};
    static const double re_a[] = {1, 5}, im_a[] = {-1, 7}, re_b[] = {10, 20}, im_b[] = {30, 40};
    static const double re[] = {32, 10, 60}, im[] = {88, 14, 120};
    struct csr A, B, C;
    assert_true(csr_from_triplets(&A, 2, 2, 2, row_a, col_a, re_a, im_a, NULL, NULL));
    assert_true(csr_from_triplets(&B, 2, 2, 2, row_b, col_b, re_b, im_b, NULL, NULL));
    assert_true(csr_sum(&C, 2, &A, 3, &B, NULL));
    assert_int_equal(C.nnz, 3);
    for (int k = 0; k < 3; k++) assert_true(C.val[k] == re[k] && C.imag[k] == im[k]);
    csr_free(&A);
    csr_free(&B);
    csr_free(&C);
}

/* A value at the limit stays. */
TEST(pruned_values_lie_below_the_limit)
{
    static const int at[] = {0, 1, 2, 3}, kept[] = {0, 2};
    static const double val[] = {-0.5, 0.49, 3, 0};
    struct csr A, B;
    assert_true(csr_from_triplets(&A, 4, 4, 4, at, at, val, NULL, NULL, NULL) && csr_prune(&B, &A, 0.5, NULL, NULL));
    assert_int_equal(B.nnz, 2);
    for (int k = 0; k < 2; k++) assert_int_equal(B.col[k], kept[k]);
    csr_free(&A);
    csr_free(&B);
}

/* Both parts of each sum are 0. */
TEST(complex_rows_that_sum_to_0)
{
    static const int row[] = {0, 0, 1, 1}, col[] = {0, 1, 0, 1};
    static const double re[] = {1, -1, -2, 2}, sum_0[] = {3, -3, 1, -1}, sum_1[] = {3, -3, 1, 0};
    for (int i = 0; i < 2; i++) {
        struct csr A;
        bool all;
        assert_true(csr_from_triplets(&A, 2, 2, 4, row, col, re, i ? sum_1 : sum_0, NULL, NULL));
        assert_true(rows_sum_to_0(&A, &all, NULL));
        assert_int_equal(all, !i);
        csr_free(&A);
    }
}

/* Whatever powers of 2 its rows and columns were multiplied by, the largest entries of the equilibrated matrix are near
   1. */
TEST(equilibrated_rows_and_columns_are_near_1)
{
    enum { N = 4 };
    uint64_t seed = 3;
    for (int turn = 0; turn < 20; turn++) {
        double a[N * N];
        int row[N], col[N], by_row[N], by_col[N];
        struct csr A;
        for (int i = 0; i < N; i++) {
            by_row[i] = (int)(random_unit(&seed) * 200);
            by_col[i] = (int)(random_unit(&seed) * 200);
        }
        for (int k = 0; k < N * N; k++) a[k] = ldexp(1.5 + random_unit(&seed), by_row[k / N] + by_col[k % N]);
        make_dense(&A, N, a);
        assert_true(equilibrate(&A, row, col, NULL));
        for (int i = 0; i < N; i++) {
            double in_row = 0, in_col = 0;
            for (int j = 0; j < N; j++) {
                in_row = fmax(in_row, ldexp(a[i * N + j], row[i] + col[j]));
                in_col = fmax(in_col, ldexp(a[j * N + i], row[j] + col[i]));
            }
            assert_true(in_row >= 0.25 && in_row <= 8 && in_col >= 0.25 && in_col <= 8);
        }
        csr_free(&A);
    }
}
