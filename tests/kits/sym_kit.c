/* Compares symmetrization on every device with a slow and plain reference. */
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "machine/device.h"
#include "matrix/gen.h"
#include "shapes.h"
#include "sym_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct entry {
    int64_t row, col;
    bool mirrored;
    double v;
};

static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->col != y->col) return x->col < y->col ? -1 : 1;
    return x->mirrored - y->mirrored;
}

static double joined(enum sym_mode mode, double own, double other)
{
    switch (mode) {
    case SYM_AVERAGE:
        return (own + other) / 2;
    case SYM_SUM:
        return own + other;
    case SYM_MAX:
        return own > other ? own : other;
    default:
        return own;
    }
}

struct csr sym_reference(const struct csr *A, enum sym_mode mode)
{
    struct csr S;
    int64_t n = 0, at = 0;
    struct entry *x = malloc((size_t)(2 * A->nnz + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            x[n++] = (struct entry){i, A->col[k], false, A->val[k]};
            x[n++] = (struct entry){A->col[k], i, true, A->val[k]};
        }
    qsort(x, (size_t)n, sizeof *x, by_place);
    assert_true(csr_new(&S, A->rows, A->cols, n, false, NULL));
    for (int64_t k = 0; k < n; k++) {
        bool both = k + 1 < n && x[k].row == x[k + 1].row && x[k].col == x[k + 1].col;
        S.col[at] = (int)x[k].col;
        S.val[at++] = both ? joined(mode, x[k].v, x[k + 1].v) : mode == SYM_AVERAGE ? x[k].v / 2 : x[k].v;
        S.rowptr[x[k].row + 1]++;
        k += both;
    }
    for (int64_t i = 0; i < S.rows; i++) S.rowptr[i + 1] += S.rowptr[i];
    S.nnz = at;
    free(x);
    return S;
}

struct csr sym_made(const char *generator, int64_t a, int64_t b)
{
    struct csr A = {0};
    int64_t param[PARAMS_MAX] = {a, b};
    assert_true(generator_find(generator)->make(param, 1, NULL, &A, NULL));
    return A;
}

static void check_transpose(const char *what, const struct csr *A, struct device *d)
{
    struct csr T, ours;
    struct err e = {0};
    assert_true(csr_transpose(&T, A, NULL));
    if (!sym_transpose(&ours, A, d, NULL, &e)) fail_msg("%s transposed on %s: %s", what, d->name, e.text);
    if (!csr_equal(&ours, &T)) fail_msg("%s on %s: the transpose is wrong", what, d->name);
    csr_free(&T);
    csr_free(&ours);
}

void sym_check(const char *what, const struct csr *A, const char *device)
{
    struct sym_options o = {.dev = device_open(device, NULL)};
    assert_non_null(o.dev);
    check_transpose(what, A, o.dev);
    for (int mode = 0; mode < SYM_MODES; mode++) {
        struct csr want = sym_reference(A, (enum sym_mode)mode);
        o.mode = (enum sym_mode)mode;
        for (int i = 0; sym_methods[i]; i++)
            for (int whole = 0; whole < 2; whole++) {
                struct csr S;
                struct err e = {0};
                o.method = sym_methods[i];
                o.whole = whole;
                if (!symmetrize(&S, A, &o, &e) || !csr_check(&S, &e))
                    fail_msg("%s, %s %s on %s: %s", what, o.method->name, sym_modes[mode].name, device, e.text);
                if (!csr_equal(&S, &want))
                    fail_msg("%s, %s %s on %s%s: not as the reference", what, o.method->name, sym_modes[mode].name,
                             device, whole ? ", whole" : "");
                csr_free(&S);
            }
        csr_free(&want);
    }
}

static void check_made(const char *generator, int64_t a, int64_t b, const char *device)
{
    struct csr A = sym_made(generator, a, b);
    char what[64];
    snprintf(what, sizeof what, "%s %lld %lld", generator, (long long)a, (long long)b);
    sym_check(what, &A, device);
    csr_free(&A);
}

void sym_check_shapes(const char *device)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 1);
        if (!s->complex_values && s->rows == s->cols) sym_check(s->name, &A, device);
        if (!s->complex_values) check_transpose(s->name, &A, device_open(device, NULL));
        csr_free(&A);
    }
    check_made("poisson2d", 12, 9, device);
    check_made("band", 40, 3, device);
    check_made("random", 33, 3, device);
    check_made("random", 300, 5, device);
}

/* A matrix whose row 7, column 3 and diagonal are full. */
static struct csr cross(int64_t rows)
{
    struct csr A;
    int64_t n = 3 * rows, at = 0;
    int *row = malloc((size_t)n * sizeof *row), *col = malloc((size_t)n * sizeof *col);
    double *val = malloc((size_t)n * sizeof *val);
    assert_true(row && col && val);
    for (int64_t i = 0; i < rows; i++) {
        row[at] = 7, col[at] = (int)i, val[at++] = (double)i + 0.5;
        row[at] = (int)i, col[at] = 3, val[at++] = -(double)i;
        row[at] = col[at] = (int)i, val[at++] = 4;
    }
    assert_true(csr_from_triplets(&A, rows, rows, at, row, col, val, NULL, NULL, NULL));
    free(row);
    free(col);
    free(val);
    return A;
}

/* `band` entries from the diagonal on in each row, and `more` entries in the last columns of row 0, which move the ends
   of all tiles by as many steps. */
static struct csr shifted_band(int rows, int band, int more)
{
    struct csr A;
    int n = 0, *row = mem_new(rows * band + more, sizeof *row, "rows", NULL);
    int *col = mem_new(rows * band + more, sizeof *col, "columns", NULL);
    double *val = mem_new(rows * band + more, sizeof *val, "values", NULL);
    assert_true(row && col && val);
    for (int i = 0; i < rows; i++)
        for (int j = i; j < i + band && j < rows; j++) row[n] = i, col[n] = j, val[n] = n + 1, n++;
    for (int j = 0; j < more; j++) row[n] = 0, col[n] = rows - 1 - j, val[n] = -n, n++;
    assert_true(csr_from_triplets(&A, rows, rows, n, row, col, val, NULL, NULL, NULL));
    mem_free(row);
    mem_free(col);
    mem_free(val);
    return A;
}

void sym_check_tiles(const char *device)
{
    /* At some of these sizes, a tile ends within a full row. */
    for (int64_t n = 60; n <= 66; n++) check_made("dense", n, 0, device);
    check_made("random", 1500, 7, device);
    check_made("rmat", 11, 6, device);
    check_made("circuit", 2500, 4, device);
    struct csr A;
    /* A row takes 2 band + 1 steps: some tile ends between any two steps of a row, so also between an entry and the
       equal entry of the transpose. */
    for (int band = 1; band <= 2; band++)
        for (int more = 1; more <= 2 * band + 1; more++) {
            A = shifted_band(2000, band, more);
            sym_check("shifted band", &A, device);
            csr_free(&A);
        }
    A = cross(5000);
    sym_check("cross", &A, device);
    csr_free(&A);
    /* Thousands of empty rows and columns. */
    static const int row[] = {5, 9000, 9000}, col[] = {8990, 2, 8990};
    static const double val[] = {1, 2, 3};
    assert_true(csr_from_triplets(&A, 9001, 9001, 3, row, col, val, NULL, NULL, NULL));
    sym_check("three far apart", &A, device);
    csr_free(&A);
}

/* ---- special values: NaN, inf, -0, overflow ---- */

static void check_pair(const char *device, enum sym_mode mode, double own, double other, double want)
{
    static const int row[] = {0, 1}, col[] = {1, 0};
    double val[] = {own, other};
    struct csr A;
    assert_true(csr_from_triplets(&A, 2, 2, 2, row, col, val, NULL, NULL, NULL));
    struct sym_options o = {.dev = device_open(device, NULL), .mode = mode};
    for (int i = 0; sym_methods[i]; i++) {
        struct csr S;
        o.method = sym_methods[i];
        assert_true(symmetrize(&S, &A, &o, NULL));
        assert_int_equal(S.nnz, 2);
        if (memcmp(&S.val[0], &want, sizeof want))
            fail_msg("%s %s on %s: %a and %a gave %a, not %a", o.method->name, sym_modes[mode].name, device, own, other,
                     S.val[0], want);
        csr_free(&S);
    }
    csr_free(&A);
}

void sym_check_values(const char *device)
{
    const double big = 0x1.8p1023, small = 0x3p-1074;
    double odd, quiet_nan;
    uint64_t bits = 0xfff8000000001234ull;
    memcpy(&odd, &bits, sizeof odd);
    bits = 0x7ff8000000000000ull;
    memcpy(&quiet_nan, &bits, sizeof quiet_nan);
    check_pair(device, SYM_AVERAGE, big, big * 0.5, 0x1.2p1023);
    check_pair(device, SYM_AVERAGE, small, small * 2, 0x4p-1074);
    check_pair(device, SYM_AVERAGE, INFINITY, -INFINITY, quiet_nan);
    check_pair(device, SYM_SUM, big, big * 0.5, INFINITY);
    check_pair(device, SYM_SUM, odd, 1, quiet_nan);
    check_pair(device, SYM_SUM, 1, odd, quiet_nan);
    check_pair(device, SYM_SUM, odd, odd, quiet_nan);
    check_pair(device, SYM_MAX, odd, 1, quiet_nan);
    check_pair(device, SYM_MAX, -0.0, 0, 0.0);
    check_pair(device, SYM_MAX, 0, -0.0, 0.0);
    check_pair(device, SYM_MAX, -0.0, -1, -0.0);
    check_pair(device, SYM_MAX, -3, -2, -2);
    check_pair(device, SYM_UNION, odd, 1, odd);
    check_pair(device, SYM_UNION, -0.0, 0, -0.0);
}

/* ---- the fingerprint ---- */

static void check_verdict(const char *device, const struct csr *A, enum sym_mode mode, bool pattern, bool values,
                          bool copied)
{
    struct sym_options o = {.dev = device_open(device, NULL), .mode = mode};
    struct sym *v;
    assert_true(sym_begin(&v, A, &o, NULL));
    assert_int_equal(v->pattern_symmetric, pattern);
    assert_int_equal(v->value_symmetric, values);
    assert_int_equal(v->copied, copied);
    sym_free(v);
}

void sym_check_verdicts(const char *device)
{
    struct csr A = sym_made("poisson2d", 60, 50);
    for (int mode = 0; mode < SYM_MODES; mode++) check_verdict(device, &A, (enum sym_mode)mode, true, true, true);
    A.val[csr_find(&A, 1000, 1001)] = -1.25;
    check_verdict(device, &A, SYM_UNION, true, false, true);
    check_verdict(device, &A, SYM_MAX, true, false, false);
    A.val[csr_find(&A, 1001, 1000)] = -1.25;
    check_verdict(device, &A, SYM_AVERAGE, true, true, true);
    /* Two values are exchanged: a sum of the values alone would not detect the exchange. */
    A.val[csr_find(&A, 2000, 2001)] = -2;
    A.val[csr_find(&A, 2500, 2499)] = -2;
    check_verdict(device, &A, SYM_AVERAGE, true, false, false);
    csr_free(&A);
    A = sym_made("random", 500, 4);
    check_verdict(device, &A, SYM_UNION, false, false, false);
    csr_free(&A);
}

/* ---- the steps of the patent ----

       1 7 .
       2 . .     row 0 and row 1 hold each other's mirror image with another value; (2, 1) has no mirror image
       . 8 4 */

struct triple {
    int p, q;
    double v;
};

static const struct triple step_t2[] = {{0, 0, 1}, {0, 1, 7}, {1, 0, 2}, {2, 1, 8}, {2, 2, 4},  /* T1 */
                                        {0, 0, 1}, {1, 0, 7}, {0, 1, 2}, {1, 2, 8}, {2, 2, 4}}; /* mirrored */
static const struct triple step_t3[] = {{0, 0, 1}, {0, 0, 1}, {0, 1, 7}, {0, 1, 2}, {1, 0, 2},
                                        {1, 0, 7}, {1, 2, 8}, {2, 1, 8}, {2, 2, 4}, {2, 2, 4}};
static const int step_f[] = {0, 1, 0, 1, 0, 1, 0, 0, 0, 1};
static const int step_ptr[] = {0, 2, 4, 6};
static const struct triple step_t4[SYM_MODES][6] = {
    [SYM_UNION] = {{0, 0, 1}, {0, 1, 7}, {1, 0, 2}, {1, 2, 8}, {2, 1, 8}, {2, 2, 4}},
    [SYM_AVERAGE] = {{0, 0, 1}, {0, 1, 4.5}, {1, 0, 4.5}, {1, 2, 4}, {2, 1, 4}, {2, 2, 4}},
    [SYM_SUM] = {{0, 0, 2}, {0, 1, 9}, {1, 0, 9}, {1, 2, 8}, {2, 1, 8}, {2, 2, 8}},
    [SYM_MAX] = {{0, 0, 1}, {0, 1, 7}, {1, 0, 7}, {1, 2, 8}, {2, 1, 8}, {2, 2, 4}},
};

static void expect_triples(const struct sym_steps *t, enum sym_array a, const struct triple *want, int64_t n)
{
    assert_int_equal(t->n[a], n);
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(t->key[a][i] >> 32, want[i].p);
        assert_int_equal((uint32_t)t->key[a][i], want[i].q);
        assert_true(t->value[a][i] == want[i].v);
    }
}

void sym_check_steps(const char *device)
{
    int row[] = {0, 0, 1, 2, 2}, col[] = {0, 1, 0, 1, 2};
    double val[] = {1, 7, 2, 8, 4};
    struct csr A;
    assert_true(csr_from_triplets(&A, 3, 3, 5, row, col, val, NULL, NULL, NULL));
    for (int mode = 0; mode < SYM_MODES; mode++) {
        struct sym_steps t;
        assert_true(sym_steps_take(&t, &A, (enum sym_mode)mode, device_open(device, NULL), NULL, NULL));
        expect_triples(&t, SYM_T2, step_t2, COUNT(step_t2));
        expect_triples(&t, SYM_T3, step_t3, COUNT(step_t3));
        for (int i = 0; i < COUNT(step_f); i++) assert_int_equal(1 - t.first[i], step_f[i]);
        expect_triples(&t, SYM_T4, step_t4[mode], COUNT(step_t4[mode]));
        assert_int_equal(t.result.nnz, COUNT(step_t4[mode]));
        for (int i = 0; i < COUNT(step_ptr); i++) assert_int_equal(t.result.rowptr[i], step_ptr[i]);
        for (int i = 0; i < COUNT(step_t4[mode]); i++) {
            assert_int_equal(t.result.col[i], step_t4[mode][i].q);
            assert_true(t.result.val[i] == step_t4[mode][i].v);
        }
        sym_steps_free(&t);
    }
    csr_free(&A);
}
