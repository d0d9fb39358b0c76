/* Checks of the format packed: which values get codes, which slices are wide, when rows are sorted; and for each such
   matrix, the kernels and the packers of some devices. */
#include "packed_kit.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/fmt_packed.h"
#include "formats/format.h"
#include "kernel_loops.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "matrix/reference.h"
#include "pack_kit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 100, SPAN = 70000 };

/* A matrix with a band of five entries per row; the value of entry (i, j) is value(i, j). */
static struct csr band(int64_t cols, double (*value)(int64_t i, int64_t j), double (*imag)(int64_t i, int64_t j))
{
    struct csr A;
    int64_t n = 0;
    assert_true(csr_new(&A, ROWS, cols, 5 * ROWS, imag != NULL, NULL));
    for (int64_t i = 0; i < ROWS; i++) {
        for (int64_t j = i > 2 ? i - 2 : 0; j <= i + 2 && j < cols; j++) {
            A.col[n] = (int)j;
            A.val[n] = value(i, j);
            if (imag) A.imag[n] = imag(i, j);
            n++;
        }
        A.rowptr[i + 1] = (int)n;
    }
    A.nnz = n;
    return A;
}

static double one_value(int64_t i, int64_t j)
{
    return -2.5;
}

static double few_values(int64_t i, int64_t j)
{
    return i == j ? 4 : -1;
}

static double signed_zeros(int64_t i, int64_t j)
{
    return (i + j) % 2 ? 0.0 : -0.0;
}

static double nearly_one(int64_t i, int64_t j)
{
    return 1 + (double)((i + j) % 3) * 0x1p-40; /* equal in fp32 */
}

static double not_finite(int64_t i, int64_t j)
{
    return i == 7 && j == 8 ? INFINITY : 1;
}

static double many_values(int64_t i, int64_t j)
{
    return (double)(i * SPAN + j + 1);
}

static double parity(int64_t i, int64_t j)
{
    return (double)((i + j) % 2);
}

/* For matrices of real type fp32 and fp64: the number of distinct values that val must hold; 0: a value per slot. */
static const struct {
    const char *name;
    double (*value)(int64_t i, int64_t j);
    double (*imag)(int64_t i, int64_t j);
    int64_t f32, f64;
} kinds[] = {
    {"one value", one_value, NULL, 1, 1},
    {"few values", few_values, NULL, 2, 2},
    {"signed zeros", signed_zeros, NULL, 2, 2},
    {"nearly one", nearly_one, NULL, 1, 3},
    {"not finite", not_finite, NULL, 2, 2},
    {"many values", many_values, NULL, 0, 0},
    {"one complex value", one_value, one_value, 1, 1},
    {"few imaginary parts", one_value, parity, 2, 2},
    {"many imaginary parts", one_value, many_values, 0, 0},
};

static struct stored pack(const struct csr *A, const int64_t *param, enum precision real)
{
    struct stored S;
    struct err e = {0};
    if (!format_pack(A, &format_packed, param, real, false, &S, &e)) fail_msg("%s", e.text);
    return S;
}

static const char *const *devices; /* terminated by NULL */

/* Check the packers and the kernels of the devices. */
static void check_devices(const char *name, const struct csr *A)
{
    for (const char *const *d = devices; *d; d++) {
        pack_check_format(name, A, *d, &format_packed);
        for (int real = T_F32; real <= T_F64; real++) {
            struct err e = {0};
            struct device *dev = open_or_fail(*d);
            struct stored S = pack(A, NULL, (enum precision)real);
            struct mat M;
            assert_true(mat_put(&M, &S, dev, &e));
            for (int k = 0; kernels[k]; k++) {
                struct verdict v;
                if (kernels[k]->format != &format_packed || !kernel_runs_on(kernels[k], dev)) continue;
                if (!bench_check(kernels[k], A, &M, 1.5, -0.5, 1, NULL, &v, &e))
                    fail_msg("%s, %s on %s: %s", name, kernels[k]->name, *d, e.text);
            }
            mat_free(&M);
            stored_free(&S);
        }
    }
}

static void test_values(void **state)
{
    for (int k = 0; k < COUNT(kinds); k++) {
        struct csr A = band(ROWS, kinds[k].value, kinds[k].imag);
        for (int real = T_F32; real <= T_F64; real++) {
            struct stored S = pack(&A, NULL, (enum precision)real);
            int64_t slots = S.a[PACKED_COL16].n, want = real == T_F32 ? kinds[k].f32 : kinds[k].f64;
            if (S.a[PACKED_VAL].n != (want ? want : slots) || S.a[PACKED_CODE].n != (want > 1 ? slots : 0))
                fail_msg("%s, %s: %lld values, %lld codes", kinds[k].name, precisions[real].name,
                         (long long)S.a[PACKED_VAL].n, (long long)S.a[PACKED_CODE].n);
            stored_free(&S);
        }
        if (strcmp(kinds[k].name, "not finite")) check_devices(kinds[k].name, &A);
        csr_free(&A);
    }
}

/* Exactly 256 values have codes, 257 have not. */
static void test_number_of_values(void **state)
{
    for (int n = 256; n <= 257; n++) {
        struct csr A = band(ROWS, few_values, NULL);
        for (int64_t k = 0; k < A.nnz; k++) A.val[k] = (double)(k % n);
        struct stored S = pack(&A, NULL, P_F64);
        assert_int_equal(S.a[PACKED_VAL].n, n == 256 ? 256 : S.a[PACKED_COL16].n);
        check_devices("256 or 257 values", &A);
        stored_free(&S);
        csr_free(&A);
    }
}

/* Padding reads neither x nor a value, so an infinite value of the dictionary does not turn a row into NaN. */
static void test_padding(void **state)
{
    struct csr A = band(ROWS, not_finite, NULL);
    double y[ROWS];
    struct err e = {0};
    for (const char *const *d = devices; *d; d++) {
        struct device *dev = open_or_fail(*d);
        struct stored S = pack(&A, NULL, P_F64);
        struct mat M;
        struct verdict v;
        assert_true(mat_put(&M, &S, dev, &e));
        (void)bench_check(kernel_default(&format_packed, &A, dev), &A, &M, 1, 0, 1, y, &v, &e);
        for (int i = 0; i < ROWS; i++) assert_true(i == 7 ? isinf(y[i]) : isfinite(y[i]));
        mat_free(&M);
        stored_free(&S);
    }
    csr_free(&A);
}

/* Move the last entry of row `row` to column `col`. */
static void stretch(struct csr *A, int64_t row, int col)
{
    A->col[A->rowptr[row + 1] - 1] = col;
}

/* With 32 rows per slice, rows 32 .. 63 are slice 1, whose first column is 30. */
static void test_wide(void **state)
{
    const int64_t param[PARAMS_MAX] = {32, 1};
    const struct {
        int col;
        bool wide;
    } cases[] = {{30 + PACKED_SPAN - 1, false}, {30 + PACKED_SPAN, true}, {SPAN - 1, true}};
    for (int k = 0; k < COUNT(cases); k++) {
        struct csr A = band(SPAN, many_values, NULL);
        stretch(&A, 40, cases[k].col);
        struct stored S = pack(&A, param, P_F64);
        const int *head = S.a[PACKED_SLICE].data;
        for (int s = 0; s < 4; s++) assert_int_equal(head[s * PACKED_HEAD + PACKED_BASE] < 0, s == 1 && cases[k].wide);
        assert_int_equal(S.a[PACKED_COL32].n, cases[k].wide ? 5 * 32 : 0);
        assert_int_equal(S.a[PACKED_COL16].n + S.a[PACKED_COL32].n, 4 * 5 * 32);
        check_devices("a wide slice", &A);
        stored_free(&S);
        csr_free(&A);
    }
}

/* Rows of equal length are not sorted; every tenth row is long, so sorting saves padding. */
static void test_sigma(void **state)
{
    struct csr A = band(ROWS, many_values, NULL), B;
    struct stored S = pack(&A, NULL, P_F64);
    assert_int_equal(S.param[1], 1);
    assert_int_equal(S.a[PACKED_PERM].n, 0);
    stored_free(&S);
    csr_free(&A);
    assert_true(csr_new(&B, 1000, 1000, 1000 * 30, false, NULL));
    for (int64_t i = 0, n = 0; i < 1000; i++) {
        for (int j = 0; j < (i % 10 ? 2 : 30); j++, n++) B.col[n] = (int)(i / 2 + j), B.val[n] = many_values(i, j);
        B.rowptr[i + 1] = (int)n;
        B.nnz = n;
    }
    S = pack(&B, NULL, P_F64);
    assert_int_equal(S.param[1], PACKED_WINDOW);
    assert_int_equal(S.a[PACKED_PERM].n, 1000);
    check_devices("sorted rows", &B);
    stored_free(&S);
    csr_free(&B);
}

static void test_refused(void **state)
{
    struct csr A = band(ROWS, one_value, NULL);
    struct plan p;
    struct err e = {0};
    assert_false(format_plan(&A, &format_packed, (int64_t[PARAMS_MAX]){5}, P_F64, &p, &e));
    assert_int_equal(e.code, E_USAGE);
    assert_string_equal(e.text, "packed: C is 5, which does not divide 32; use 1, 2, 4, 8, 16 or 32");
    csr_free(&A);
}

int packed_tests(const char *const *names)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),  cmocka_unit_test(test_number_of_values),
        cmocka_unit_test(test_padding), cmocka_unit_test(test_wide),
        cmocka_unit_test(test_sigma),   cmocka_unit_test(test_refused),
    };
    devices = names;
    return cmocka_run_group_tests(tests, NULL, close_devices);
}
