/* Small matrices, and comparison of stored slots with expected slots. */
#include "stored_kit.h"
#include "base/err.h"
#include "formats/format.h"
#include "matrix/csr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct csr thesis4(void)
{
    static const int row[] = {0, 0, 1, 1, 2, 2, 2, 3, 3}, col[] = {0, 1, 1, 2, 0, 2, 3, 1, 3};
    static const double val[] = {1, 7, 2, 8, 5, 3, 9, 6, 4};
    struct csr A;
    assert_true(csr_from_triplets(&A, 4, 4, COUNT(val), row, col, val, NULL, NULL, NULL));
    return A;
}

struct csr ragged(int n, const int *length)
{
    struct csr A;
    int64_t nnz = 0, at = 0, cols = n;
    for (int i = 0; i < n; i++) {
        nnz += length[i];
        if (length[i] > cols) cols = length[i];
    }
    assert_true(csr_new(&A, n, cols, nnz, false, NULL));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < length[i]; j++, at++) {
            A.col[at] = j;
            A.val[at] = 100 * i + j + 1;
        }
        A.rowptr[i + 1] = (int)at;
    }
    return A;
}

struct stored packed(const struct csr *A, const char *format, const int64_t *param)
{
    struct stored S;
    struct err e = {0};
    if (!format_pack(A, format_find(format), param, P_F64, false, &S, &e)) fail_msg("pack %s: %s", format, e.text);
    return S;
}

void expect_slots(const struct stored *S, int k, int64_t n, const double *want)
{
    const struct array *a = &S->a[k];
    if (a->n != n) fail_msg("%s.%s: %d slots expected, %d found", S->format->name, a->name, (int)n, (int)a->n);
    for (int64_t i = 0; i < n; i++)
        if (array_real(a, i) != want[i])
            fail_msg("%s.%s[%d]: %g expected, %g found", S->format->name, a->name, (int)i, want[i], array_real(a, i));
}

void expect_where(const struct stored *S, int k, int64_t i, struct place want)
{
    struct place at = S->format->where(S, k, i);
    if (at.kind != want.kind || at.row != want.row || at.col != want.col)
        fail_msg("%s.%s[%d]: kind %d at %d, %d expected, kind %d at %d, %d found", S->format->name, S->a[k].name,
                 (int)i, want.kind, (int)want.row, (int)want.col, at.kind, (int)at.row, (int)at.col);
}
