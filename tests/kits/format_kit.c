/* The checks that every format must pass with every matrix. */
#include "format_kit.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "formats/measures.h"
#include "matrix/csr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static double as_stored(double v, enum precision real)
{
    return type_rounded(type_of_parts(precisions[real].stored), v);
}

static double imag_of(const struct csr *A, int64_t k)
{
    return A->imag ? A->imag[k] : 0;
}

/* The expected result of unpack: rounded values, without zeros if the format drops them. */
static struct csr expected(const struct csr *A, const struct format *f, enum precision real)
{
    struct csr B;
    assert_true(csr_copy(&B, A, NULL));
    B.nnz = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double v = as_stored(A->val[k], real), im = as_stored(imag_of(A, k), real);
            if (f->zeros_fade && v == 0 && im == 0) continue;
            B.col[B.nnz] = A->col[k];
            if (B.imag) B.imag[B.nnz] = im;
            B.val[B.nnz++] = v;
        }
        B.rowptr[i + 1] = (int)B.nnz;
    }
    return B;
}

/* ---- invariants of every stored matrix ---- */

static void expect_sizes(const struct csr *A, const struct plan *p, const struct stored *S)
{
    assert_int_equal(S->narrays, p->shape.narrays);
    for (int k = 0; k < S->narrays; k++) {
        assert_string_equal(S->a[k].name, p->shape.a[k].name);
        assert_int_equal(S->a[k].type, p->shape.a[k].type);
        assert_int_equal(S->a[k].n, p->shape.a[k].n);
        assert_non_null(S->a[k].data);
    }
    assert_memory_equal(S->param, p->shape.param, sizeof S->param);
    assert_int_equal(stored_bytes(S), p->bytes);
    assert_int_equal(stored_slots(S), p->slots);
    assert_int_equal(p->slots - p->padding, A->nnz);
    if (S->format->raw) assert_int_equal(p->padding, 0);
    if (!S->format->piece) return;
    struct measures m;
    assert_true(format_measures(S, &m, NULL));
    assert_int_equal(m.operands, p->slots);
    assert_int_equal(m.padding, p->padding);
}

static void expect_place(const struct csr *A, const struct stored *S, int k, int64_t i, char *seen)
{
    struct place at = S->format->where(S, k, i);
    assert_in_range(at.row + 1, 0, A->rows);
    assert_in_range(at.col + 1, 0, A->cols);
    if (at.kind == SLOT_PADDING) assert_int_equal(at.col, -1);
    if (!stored_is_value(S, k)) return;
    double v, im;
    stored_value(S, k, i, &v, &im);
    assert_int_not_equal(at.kind, SLOT_POINTER);
    if (at.kind == SLOT_PADDING) {
        assert_true(v == 0 && im == 0);
        return;
    }
    int64_t entry = csr_find(A, at.row, at.col);
    assert_true(entry >= 0 && !seen[entry]);
    seen[entry] = 1;
    double was = as_stored(A->val[entry], S->real), im_was = as_stored(imag_of(A, entry), S->real);
    assert_memory_equal(&v, &was, sizeof v);
    assert_memory_equal(&im, &im_was, sizeof im);
}

/* Every entry of A is in exactly one slot, with its value; only explicit zeros may be missing, and only if the format
   drops them. */
static void expect_places(const struct csr *A, const struct stored *S)
{
    char *seen = mem_zero(A->nnz, 1, "seen", NULL);
    assert_non_null(seen);
    for (int k = 0; k < S->narrays; k++)
        for (int64_t i = 0; i < S->a[k].n; i++) expect_place(A, S, k, i, seen);
    for (int64_t k = 0; k < A->nnz; k++)
        assert_true(seen[k] || (S->format->zeros_fade && as_stored(A->val[k], S->real) == 0 &&
                                as_stored(imag_of(A, k), S->real) == 0));
    mem_free(seen);
}

static void expect_round_trip(const struct csr *A, const struct stored *S)
{
    struct csr want = expected(A, S->format, S->real), back;
    struct err e = {0};
    if (!format_unpack(S, &back, &e)) fail_msg("%s", e.text);
    assert_true(csr_check(&back, &e));
    assert_true(csr_equal(&want, &back));
    csr_free(&want);
    csr_free(&back);
}

void format_check(const struct csr *A, const struct format *f, const int64_t *param, enum precision real)
{
    struct plan p;
    struct stored S;
    struct err e = {0};
    if (!format_plan(A, f, param, real, &p, &e)) {
        if (real == P_F32 && e.code == E_UNSUPPORTED && strstr(e.text, "fp32's largest number")) return;
        fail_msg("plan %s: %s", f->name, e.text);
    }
    if (!format_pack(A, f, param, real, false, &S, &e)) fail_msg("pack %s: %s", f->name, e.text);
    expect_sizes(A, &p, &S);
    expect_places(A, &S);
    expect_round_trip(A, &S);
    assert_int_equal(S.real, precision_of_values(real, A->imag != NULL));
    stored_free(&S);
    assert_int_equal(S.narrays, 0);
    stored_free(&S);
}
