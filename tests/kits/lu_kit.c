/* Check dense LU against its definition: P A = L U element by element, exact factors, messages that name singular
   columns, known determinants. */
#include <stdio.h>

#include "base/err.h"
#include "base/precision.h"
#include "lu/lu.h"
#include "lu_kit.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "matrix/reference.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- matrices ---- */

static void make_dense(struct csr *A, int64_t n, const double *value)
{
    struct err e = {0};
    assert_true(csr_new(A, n, n, n * n, false, &e));
    for (int64_t i = 0; i < n; i++) {
        A->rowptr[i + 1] = (int)((i + 1) * n);
        for (int64_t j = 0; j < n; j++) {
            A->col[i * n + j] = (int)j;
            A->val[i * n + j] = value[j * n + i];
        }
    }
}

void lu_random(struct csr *A, int64_t n, uint64_t seed)
{
    double *value = malloc((size_t)(n * n + 1) * sizeof *value);
    for (int64_t k = 0; k < n * n; k++) value[k] = random_unit(&seed);
    make_dense(A, n, value);
    free(value);
}

void lu_wilkinson(struct csr *A, int64_t n)
{
    double *value = malloc((size_t)(n * n) * sizeof *value);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) value[j * n + i] = j == n - 1 || i == j ? 1 : i > j ? -1 : 0;
    make_dense(A, n, value);
    free(value);
}

static double product_at(int64_t n, const double *lu, int64_t i, int64_t j)
{
    double sum = i <= j ? lu[j * n + i] : 0;
    for (int64_t k = 0; k < n && k < i && k <= j; k++) sum += lu[k * n + i] * lu[j * n + k];
    return sum;
}

void lu_exact(struct csr *A, int64_t n, int64_t zero, uint64_t seed, double *lu, int *row)
{
    double *value = malloc((size_t)(n * n) * sizeof *value);
    for (int64_t i = 0; i < n; i++) row[i] = (int)i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t at = (int64_t)(random_next(&seed) % (uint64_t)(i + 1));
        int held = row[i];
        row[i] = row[at];
        row[at] = held;
    }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            int draw = (int)(random_next(&seed) >> 33);
            if (i > j)
                lu[j * n + i] = j == zero ? 0 : (draw % 5 - 2) / 4.0;
            else if (i < j)
                lu[j * n + i] = draw % 7 - 3;
            else
                lu[j * n + i] = i == zero ? 0 : (1 << draw % 3) * (draw & 64 ? 1 : -1);
        }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) value[j * n + row[i]] = product_at(n, lu, i, j);
    make_dense(A, n, value);
    free(value);
}

/* ---- checks ---- */

struct lu *lu_done(const struct csr *A, const struct lu_method *m, struct device *d, enum precision real)
{
    struct err e = {0};
    struct lu *v = NULL;
    struct lu_options o = {.method = m, .dev = d, .real = real};
    if (!lu_begin(&v, A, &o, &e) || !lu_factor(v, &e))
        fail_msg("%s on %s, n = %lld: %s", m ? m->name : "lu", d->name, (long long)A->rows, e.text);
    return v;
}

/* The row of A that is row i of L U. */
static void order_of(const struct lu *v, int *row)
{
    for (int64_t i = 0; i < v->n; i++) row[i] = (int)i;
    for (int64_t k = 0; k < v->n; k++) {
        assert_true(v->swap[k] >= k && v->swap[k] < v->n);
        int held = row[k];
        row[k] = row[v->swap[k]];
        row[v->swap[k]] = held;
    }
}

static double *factors_of(struct lu *v)
{
    struct err e = {0};
    double *lu = malloc((size_t)(v->n * v->n) * sizeof *lu);
    assert_true(lu_get(v, lu, &e));
    return lu;
}

void lu_check_factors(struct lu *v)
{
    int64_t n = v->n;
    double *lu = factors_of(v), eps = v->real == T_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    int *row = malloc((size_t)n * sizeof *row);
    order_of(v, row);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            int64_t at = csr_find(v->of, row[i], j);
            double value = at < 0 ? 0 : v->of->val[at], size = fabs(value) + (i <= j ? fabs(lu[j * n + i]) : 0);
            for (int64_t k = 0; k < i && k <= j; k++) size += fabs(lu[k * n + i] * lu[j * n + k]);
            double off = fabs(product_at(n, lu, i, j) - value);
            if (!(off <= (double)(n + 3) * eps * size))
                fail_msg("%s on %s, n = %lld, b = %d, %s: L U is off by %g in row %lld, column %lld (bound %g)",
                         v->method->name, v->dev->name, (long long)n, v->b, type_name(v->real), off, (long long)i,
                         (long long)j, (double)(n + 3) * eps * size);
            if (i > j) assert_true(fabs(lu[j * n + i]) <= 1 + 2 * eps);
        }
    free(row);
    free(lu);
}

/* ---- complex matrices ---- */

static struct csr dense_complex(int64_t n)
{
    struct csr A;
    uint64_t seed = (uint64_t)n;
    assert_true(csr_new(&A, n, n, n * n, true, NULL));
    for (int64_t k = 0; k < n * n; k++) {
        A.rowptr[k / n + 1] = (int)(k + 1);
        A.col[k] = (int)(k % n);
        A.val[k] = random_unit(&seed);
        A.imag[k] = random_unit(&seed);
    }
    return A;
}

/* P A must be L U, and no element of L may be larger than 1. */
static void check_complex_factors(struct lu *v)
{
    int64_t n = v->n;
    double eps = v->real == T_C64 ? DBL_EPSILON : (double)FLT_EPSILON;
    double complex *lu = malloc((size_t)(n * n) * sizeof *lu);
    int *row = malloc((size_t)n * sizeof *row);
    assert_true(lu_get(v, (double *)lu, NULL));
    order_of(v, row);
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            double complex sum = i <= j ? lu[j * n + i] : 0;
            double size = cabs(sum) + 1;
            for (int64_t k = 0; k < i && k <= j; k++) {
                sum += lu[k * n + i] * lu[j * n + k];
                size += cabs(lu[k * n + i] * lu[j * n + k]);
            }
            int64_t at = row[i] * n + j;
            double off = cabs(sum - CMPLX(v->of->val[at], v->of->imag[at]));
            if (!(off <= 3 * (double)(n + 3) * eps * size))
                fail_msg("%s on %s, n = %lld, %s: L U is off by %g in row %lld, column %lld", v->method->name,
                         v->dev->name, (long long)n, type_name(v->real), off, (long long)i, (long long)j);
            if (i > j) assert_true(cabs(lu[j * n + i]) <= 1 + 8 * eps);
        }
    free(row);
    free(lu);
}

void lu_check_complex(const char *device, enum precision real, const int64_t *sizes, int count)
{
    struct err e = {0};
    struct device *d = device_open(device, &e);
    assert_non_null(d);
    for (int s = 0; s < count; s++) {
        struct csr A = dense_complex(sizes[s]);
        for (int i = 0; lu_methods[i]; i++) {
            if (lu_methods[i]->vendor || !lu_runs_on(lu_methods[i], d)) continue;
            struct lu *v = lu_done(&A, lu_methods[i], d, real);
            assert_int_equal(v->singular, -1);
            check_complex_factors(v);
            if (!lu_measure(v, &e)) fail_msg("%s", e.text);
            assert_true(v->backward < (real == P_F64 ? 1e-14 : 1e-5) && v->growth >= 0.5);
            lu_free(v);
        }
        csr_free(&A);
    }
}

typedef void method_check(const struct lu_method *m, struct device *d, enum precision real);

/* Run the check for every method that runs on the device. ours: skip the methods of libraries, because a library may
   invert triangles and then does not compute exact values. */
static void every_method(const char *device, enum precision real, bool ours, method_check *check)
{
    struct err e = {0};
    struct device *d = device_open(device, &e);
    assert_non_null(d);
    for (int i = 0; lu_methods[i]; i++) {
        bool there = !lu_methods[i]->vendor || (!ours && lu_version(lu_methods[i]));
        if (there && lu_runs_on(lu_methods[i], d)) check(lu_methods[i], d, real);
    }
}

void lu_check_sizes(const char *device, enum precision real, const int64_t *sizes, int count)
{
    struct err e = {0};
    struct device *d = device_open(device, &e);
    assert_non_null(d);
    for (int i = 0; i < count; i++) {
        struct csr A;
        lu_random(&A, sizes[i], 7 + (uint64_t)sizes[i]);
        for (int m = 0; lu_methods[m]; m++) {
            if (!lu_runs_on(lu_methods[m], d) || (lu_methods[m]->vendor && !lu_version(lu_methods[m]))) continue;
            struct lu *v = lu_done(&A, lu_methods[m], d, real);
            lu_check_factors(v);
            assert_int_equal(v->singular, -1);
            assert_true(lu_factor(v, &e)); /* a second run on the same matrix */
            lu_check_factors(v);
            lu_free(v);
        }
        csr_free(&A);
    }
}

static void exact_once(const struct lu_method *m, struct device *d, enum precision real, int64_t n)
{
    struct csr A;
    struct err e = {0};
    double *lu = malloc((size_t)(n * n) * sizeof *lu), *x = malloc((size_t)n * 2 * sizeof *x), *b = x + n;
    int *row = malloc((size_t)n * 2 * sizeof *row), *found = row + n;
    lu_exact(&A, n, -1, 3 + (uint64_t)n, lu, row);
    struct lu *v = lu_done(&A, m, d, real);
    double *got = factors_of(v);
    order_of(v, found);
    assert_memory_equal(found, row, (size_t)n * sizeof *row);
    for (int64_t k = 0; k < n * n; k++)
        if (got[k] != lu[k])
            fail_msg("%s on %s, n = %lld: element (%lld, %lld) is %g, not %g", m->name, d->name, (long long)n,
                     (long long)(k % n), (long long)(k / n), got[k], lu[k]);
    for (int64_t i = 0; i < n; i++) x[i] = (double)(i % 5 - 2);
    reference_spmv(&A, 1, x, 0, b, P_F64, NULL);
    assert_true(lu_solve(v, b, b, &e));
    for (int64_t i = 0; i < n; i++) assert_true(b[i] == x[i]);
    assert_true(lu_measure(v, &e));
    int sign = 1;
    double size = 0;
    for (int64_t k = 0; k < n; k++) {
        sign *= lu[k * n + k] < 0 ? -1 : 1;
        sign *= v->swap[k] != k ? -1 : 1;
        size += log10(fabs(lu[k * n + k]));
    }
    assert_int_equal(v->sign, sign);
    assert_true(fabs(v->log10_det - size) <= 1e-12 * (double)n);
    assert_true(v->error == 0 && v->backward == 0);
    free(got);
    lu_free(v);
    csr_free(&A);
    free(lu);
    free(x);
    free(row);
}

static void check_exact(const struct lu_method *m, struct device *d, enum precision real)
{
    static const int64_t sizes[] = {1, 2, 3, 31, 33, 65, 100};
    for (int i = 0; i < COUNT(sizes); i++) exact_once(m, d, real, sizes[i]);
}

void lu_check_exact(const char *device, enum precision real)
{
    every_method(device, real, true, check_exact);
}

static void singular_once(const struct lu_method *m, struct device *d, enum precision real, int64_t n, int64_t zero)
{
    struct csr A;
    struct err e = {0};
    double lu[70 * 70], x[70] = {0};
    int row[70];
    char column[64];
    lu_exact(&A, n, zero, 11, lu, row);
    struct lu *v = lu_done(&A, m, d, real);
    assert_int_equal(v->singular, zero);
    lu_check_factors(v);
    assert_true(lu_measure(v, &e));
    assert_int_equal(v->sign, 0);
    assert_true(isinf(v->log10_det) && v->log10_det < 0 && isnan(v->backward) && isnan(v->error));
    assert_false(lu_solve(v, x, x, &e));
    snprintf(column, sizeof column, "column %lld ", (long long)zero);
    assert_int_equal(e.code, E_NUMERIC);
    assert_non_null(strstr(e.text, column));
    lu_free(v);
    csr_free(&A);
}

static void check_singular(const struct lu_method *m, struct device *d, enum precision real)
{
    static const int64_t zero[] = {0, 1, 7, 33, 68, 69};
    for (int i = 0; i < COUNT(zero); i++) singular_once(m, d, real, 70, zero[i]);
    singular_once(m, d, real, 1, 0);
}

void lu_check_singular(const char *device, enum precision real)
{
    every_method(device, real, true, check_singular);
}

static void check_growth(const struct lu_method *m, struct device *d, enum precision real)
{
    static const int64_t sizes[] = {1, 2, 10, 40, 64};
    for (int i = 0; i < COUNT(sizes); i++) {
        struct csr A;
        struct err e = {0};
        lu_wilkinson(&A, sizes[i]);
        struct lu *v = lu_done(&A, m, d, real);
        assert_true(lu_measure(v, &e));
        double expected = ldexp(1, (int)sizes[i] - 1); /* a library may add in any order, so its sums may be rounded */
        assert_true(fabs(v->growth - expected) <= (real == P_F32 ? 64 * (double)FLT_EPSILON : 0) * expected);
        lu_free(v);
        csr_free(&A);
    }
}

void lu_check_growth(const char *device, enum precision real)
{
    every_method(device, real, true, check_growth);
}

/* Check backward stability for well and badly conditioned matrices: a random matrix, and the Hilbert matrix, for which
   x has no correct digits. */
static void check_solutions(const struct lu_method *m, struct device *d, enum precision real)
{
    double eps = real == P_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    for (int bad = 0; bad < 2; bad++) {
        struct csr A;
        struct err e = {0};
        lu_random(&A, bad ? 12 : 90, 5);
        for (int64_t i = 0; bad && i < 12; i++)
            for (int64_t j = 0; j < 12; j++) A.val[i * 12 + j] = 1.0 / (double)(i + j + 1);
        struct lu *v = lu_done(&A, m, d, real);
        assert_int_equal(v->singular, -1);
        assert_true(lu_measure(v, &e));
        assert_true(v->backward <= 10 * eps);
        assert_true(v->growth >= 1 && v->growth < 100);
        assert_true(bad ? v->error > 1e-4 : v->error < 1e5 * eps);
        lu_free(v);
        csr_free(&A);
    }
}

void lu_check_solutions(const char *device, enum precision real)
{
    every_method(device, real, false, check_solutions);
}
