/* CSR: a matrix built from triplets compared with a naive sum; its limits, invariants, transpose and look-up. */
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "kits/shapes.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/random.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The sum of the triplets at (row, col) in input order, computed in a dense array. */
static void assert_naive(const struct shape *s, const struct triplets *t, const struct csr *A, int64_t duplicates)
{
    int64_t places = s->rows * s->cols, filled = 0;
    double *re = mem_zero(places, sizeof *re, "dense", NULL), *im = mem_zero(places, sizeof *im, "dense", NULL);
    char *there = mem_zero(places, 1, "dense", NULL);
    for (int64_t k = 0; k < t->n; k++) {
        int64_t at = t->row[k] * s->cols + t->col[k];
        re[at] += t->val[k];
        if (t->imag) im[at] += t->imag[k];
        filled += !there[at];
        there[at] = 1;
    }
    assert_int_equal(A->nnz, filled);
    assert_int_equal(duplicates, t->n - filled);
    for (int64_t r = 0; r < A->rows; r++)
        for (int k = A->rowptr[r]; k < A->rowptr[r + 1]; k++) {
            int64_t at = r * s->cols + A->col[k];
            assert_true(there[at] && A->val[k] == re[at] && (!A->imag || A->imag[k] == im[at]));
        }
    mem_free(re);
    mem_free(im);
    mem_free(there);
}

TEST(triplets_are_summed)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A;
        struct err e = {0};
        int64_t duplicates = -1;
        struct triplets t = shape_triplets(s, 11);
        bool ok = csr_from_triplets(&A, s->rows, s->cols, t.n, t.row, t.col, t.val, t.imag, &duplicates, &e);
        if (!ok || !csr_check(&A, &e)) fail_msg("%s: %s", s->name, e.text);
        assert_naive(s, &t, &A, duplicates);
        triplets_free(&t);
        csr_free(&A);
    }
}

/* 1e16 + 1 is 1e16: the sum depends on the order. */
TEST(duplicates_are_summed_in_input_order)
{
    static const struct {
        double v[3], sum;
    } cases[] = {{{1e16, 1, -1e16}, 0}, {{1e16, -1e16, 1}, 1}, {{1, 1e16, -1e16}, 0}};
    static const int row[] = {1, 1, 1}, col[] = {2, 2, 2};
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        int64_t duplicates;
        assert_true(csr_from_triplets(&A, 3, 3, 3, row, col, cases[i].v, NULL, &duplicates, NULL));
        assert_int_equal(A.nnz, 1);
        assert_int_equal(duplicates, 2);
        assert_true(A.val[0] == cases[i].sum);
        csr_free(&A);
    }
}

/* Values for which the last bits of the sum depend on the order. */
TEST(threads_do_not_change_the_result)
{
    const struct shape s = {.rows = 3000, .cols = 200, .entries = 400000, .long_row = 5, .complex_values = true};
    struct triplets t = shape_triplets(&s, 3);
    struct csr one, A;
    uint64_t random = 1;
    int threads = omp_get_max_threads();
    for (int64_t k = 0; k < t.n; k++) t.val[k] = random_unit(&random) / 3;
    omp_set_num_threads(1);
    assert_true(csr_from_triplets(&one, s.rows, s.cols, t.n, t.row, t.col, t.val, t.imag, NULL, NULL));
    for (int n = 2; n <= 7; n++) {
        omp_set_num_threads(n);
        assert_true(csr_from_triplets(&A, s.rows, s.cols, t.n, t.row, t.col, t.val, t.imag, NULL, NULL));
        assert_true(csr_check(&A, NULL) && csr_equal(&A, &one));
        csr_free(&A);
    }
    omp_set_num_threads(threads);
    csr_free(&one);
    triplets_free(&t);
}

TEST(entries_outside_are_named)
{
    static const struct {
        int row, col;
    } outside[] = {{-1, 0}, {3, 0}, {0, -1}, {0, 4}, {INT32_MIN, 0}, {0, INT32_MAX}};
    for (int i = 0; i < COUNT(outside); i++) {
        int row[] = {0, outside[i].row, 9}, col[] = {0, outside[i].col, 9};
        double val[] = {1, 2, 3};
        char found[128];
        struct csr A;
        struct err e = {0};
        assert_false(csr_from_triplets(&A, 3, 4, 3, row, col, val, NULL, NULL, &e));
        snprintf(found, sizeof found, "entry 1: row %d, column %d (from 0) is outside the 3 x 4 matrix", row[1],
                 col[1]);
        assert_string_equal(e.text, found);
        assert_null(A.rowptr);
    }
}

TEST(limits_are_checked_first)
{
    const int64_t most = INT32_MAX;
    const struct {
        int64_t rows, cols, nnz;
        enum code code;
    } cases[] = {
        {0, 0, 0, E_NONE},         {most, most, most, E_NONE}, {most + 1, 1, 0, E_LIMIT},
        {1, most + 1, 0, E_LIMIT}, {1, 1, most + 1, E_LIMIT},  {-1, 1, 0, E_INPUT},
        {1, -1, 0, E_INPUT},       {1, 1, -1, E_INPUT},        {INT64_MAX, INT64_MAX, INT64_MAX, E_LIMIT},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct err e = {0};
        struct csr A;
        assert_int_equal(csr_limits(cases[i].rows, cases[i].cols, cases[i].nnz, &e), cases[i].code == E_NONE);
        assert_int_equal(e.code, cases[i].code);
        if (!e.code) continue;
        int64_t before = mem_count();
        assert_false(csr_new(&A, cases[i].rows, cases[i].cols, cases[i].nnz, false, NULL));
        assert_int_equal(mem_count(), before);
        assert_null(A.rowptr);
    }
}

TEST(the_first_broken_invariant_is_named)
{
    static const struct {
        int rowptr[4], col[4];
        const char *text;
    } cases[] = {
        {{0, 2, 2, 4}, {0, 3, 1, 2}, NULL},
        {{1, 2, 2, 4}, {0, 3, 1, 2}, "the row pointers begin with 1 instead of 0"},
        {{0, 2, 1, 4}, {0, 3, 1, 2}, "the row pointers decrease: row 1 begins at 2 and ends at 1"},
        {{0, 2, 2, 3}, {0, 3, 1, 2}, "the row pointers end with 3, but there are 4 entries"},
        {{0, 2, 2, 4}, {0, 4, 1, 2}, "row 0: column 4 is outside 0 .. 3"},
        {{0, 2, 2, 4}, {-1, 3, 1, 2}, "row 0: column -1 is outside 0 .. 3"},
        {{0, 2, 2, 4}, {0, 3, 2, 2}, "row 2: the columns do not ascend: 2 follows 2"},
        {{0, 2, 2, 4}, {3, 0, 2, 1}, "row 0: the columns do not ascend: 0 follows 3"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct csr A;
        struct err e = {0};
        assert_true(csr_new(&A, 3, 4, 4, false, NULL));
        memcpy(A.rowptr, cases[i].rowptr, sizeof cases[i].rowptr);
        memcpy(A.col, cases[i].col, sizeof cases[i].col);
        assert_int_equal(csr_check(&A, &e), cases[i].text == NULL);
        assert_string_equal(e.text, cases[i].text ? cases[i].text : "");
        csr_free(&A);
    }
}

TEST(transposing_mirrors_every_entry)
{
    for (const struct shape *s = shapes; s->name; s++) {
        struct csr A = shape_csr(s, 5), T, back;
        assert_true(csr_transpose(&T, &A, NULL) && csr_check(&T, NULL));
        assert_true(T.rows == A.cols && T.cols == A.rows && T.nnz == A.nnz);
        for (int64_t r = 0; r < A.rows; r++)
            for (int64_t k = A.rowptr[r]; k < A.rowptr[r + 1]; k++) {
                int64_t at = csr_find(&T, A.col[k], r);
                assert_true(at >= 0 && T.val[at] == A.val[k] && (!A.imag || T.imag[at] == A.imag[k]));
            }
        assert_true(csr_transpose(&back, &T, NULL) && csr_equal(&back, &A));
        assert_int_equal(csr_equal(&T, &A), s->mirrored || A.rows + A.cols == 0 || A.rows * A.cols == 1);
        csr_free(&A);
        csr_free(&T);
        csr_free(&back);
    }
}

TEST(find_agrees_with_the_dense_array)
{
    struct csr A = shape_csr(&shapes[6], 2);
    for (int64_t r = 0; r < A.rows; r++) {
        int64_t k = A.rowptr[r];
        for (int64_t c = 0; c < A.cols; c++) {
            bool there = k < A.rowptr[r + 1] && A.col[k] == c;
            assert_int_equal(csr_lower(&A, A.rowptr[r], A.rowptr[r + 1], c), k);
            assert_int_equal(csr_find(&A, r, c), there ? k++ : -1);
        }
        assert_int_equal(csr_row_length(&A, r), A.rowptr[r + 1] - A.rowptr[r]);
    }
    csr_free(&A);
}

TEST(a_search_from_near_finds_what_a_search_of_the_row_finds)
{
    enum { N = 100 };
    int col[N];
    for (int i = 0; i < N; i++) col[i] = i * i / 3;
    for (int from = 0; from <= N; from++)
        for (int end = from; end <= N; end++)
            for (int j = 0; j < N * N / 3 + 2; j += 37)
                assert_int_equal(column_next(col, from, end, j), column_lower(col, from, end, j));
}

TEST(copies_are_equal_until_a_bit_changes)
{
    const struct shape *s = shapes;
    while (!s->complex_values) s++;
    struct csr A = shape_csr(s, 1), B;
    assert_true(csr_copy(&B, &A, NULL) && csr_equal(&A, &B));
    B.imag[B.nnz - 1] += 1;
    assert_false(csr_equal(&A, &B));
    csr_free(&B);
    assert_true(csr_copy(&B, &A, NULL));
    B.val[0] = -B.val[0];
    assert_false(csr_equal(&A, &B));
    csr_free(&B);
    csr_free(&A);
}

static bool build_and_turn(const void *user, struct err *e)
{
    const struct triplets *t = user;
    struct csr A = {0}, T = {0}, B = {0};
    bool ok = csr_from_triplets(&A, 60, 60, t->n, t->row, t->col, t->val, t->imag, NULL, e) &&
              csr_transpose(&T, &A, e) && csr_copy(&B, &T, e);
    csr_free(&A);
    csr_free(&T);
    csr_free(&B);
    return ok;
}

TEST(every_allocation_may_fail)
{
    const struct shape s = {.rows = 60, .cols = 60, .entries = 700, .long_row = -1, .complex_values = true};
    struct triplets t = shape_triplets(&s, 1);
    assert_true(fail_each(build_and_turn, &t) >= 16);
    triplets_free(&t);
}
