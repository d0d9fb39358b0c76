/* Sums and multiples of matrices. */
#include "arithmetic.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "csr.h"

#include <limits.h>

bool csr_with_counts(struct csr *out, int64_t rows, int64_t cols, const int *count, bool complex_values,
                     const char *what, struct err *e)
{
    int64_t nnz = 0;
    *out = (struct csr){0};
    struct loop l = loop_of(what, rows);
    for (int64_t i = 0; i < rows && loop_goes(&l, i); i++) nnz += count[i];
    if (!loop_end(&l, e) || !csr_new(out, rows, cols, nnz, complex_values, e)) return false;
    for (int64_t i = 0; i < rows && loop_goes(&l, i); i++) out->rowptr[i + 1] = out->rowptr[i] + count[i];
    if (loop_end(&l, e)) return true;
    csr_free(out);
    return false;
}

/* ---- sums ---- */

struct sum {
    double alpha, beta;
    const struct csr *A, *B;
};

static double imag_at(const struct csr *A, int64_t k)
{
    return A->imag ? A->imag[k] : 0;
}

/* Write entry `to` of C: the sum of entry a of A and entry b of B. An index of -1 stands for an entry that is not
   stored. */
static void put_sum(const struct sum *s, int64_t a, int64_t b, struct csr *C, int64_t to)
{
    double re = a < 0 ? 0 : s->alpha * s->A->val[a], im = a < 0 ? 0 : s->alpha * imag_at(s->A, a);
    C->col[to] = a < 0 ? s->B->col[b] : s->A->col[a];
    C->val[to] = a < 0 ? s->beta * s->B->val[b] : b < 0 ? re : re + s->beta * s->B->val[b];
    if (C->imag) C->imag[to] = a < 0 ? s->beta * imag_at(s->B, b) : b < 0 ? im : im + s->beta * imag_at(s->B, b);
}

/* Merge row i of A and row i of B into C. If C is NULL, only count the entries. Returns their number. */
static int merge_row(const struct sum *s, int64_t i, struct csr *C)
{
    const struct csr *A = s->A, *B = s->B;
    int64_t a = A->rowptr[i], a_end = A->rowptr[i + 1], b = B->rowptr[i], b_end = B->rowptr[i + 1];
    int64_t begin = C ? C->rowptr[i] : 0, to = begin;
    while (a < a_end || b < b_end) {
        int ca = a < a_end ? A->col[a] : INT_MAX, cb = b < b_end ? B->col[b] : INT_MAX;
        if (C) put_sum(s, ca <= cb ? a : -1, cb <= ca ? b : -1, C, to);
        to++;
        a += ca <= cb;
        b += cb <= ca;
    }
    return (int)(to - begin);
}

bool csr_sum(struct csr *out, double alpha, const struct csr *A, double beta, const struct csr *B, struct err *e)
{
    const struct sum s = {alpha, beta, A, B};
    bool threads = A->nnz + B->nnz > THREADS_FROM;
    *out = (struct csr){0};
    int *count = mem_new(A->rows, sizeof *count, "the row lengths of a sum", e);
    if (!count) return false;
    struct loop l = loop_of("adding", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (threads)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) count[i] = merge_row(&s, i, NULL);
    bool ok = loop_end(&l, e) && csr_with_counts(out, A->rows, A->cols, count, A->imag || B->imag, "adding", e);
    mem_free(count);
    if (!ok) return false;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (threads)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) merge_row(&s, i, out);
    if (loop_end(&l, e)) return true;
    csr_free(out);
    return false;
}

/* ---- multiples ---- */

bool csr_scale_values(struct csr *A, double factor, struct err *e)
{
    struct loop l = loop_of("scaling", A->nnz);
#pragma omp parallel for schedule(static) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->nnz; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, A->nnz); k < end; k++) {
            A->val[k] *= factor;
            if (A->imag) A->imag[k] *= factor;
        }
    return loop_end(&l, e);
}

bool csr_conjugate(struct csr *A, struct err *e)
{
    struct loop l = loop_of("conjugating", A->nnz);
    for (int64_t k = 0; A->imag && k < A->nnz && loop_goes(&l, k); k++) A->imag[k] = -A->imag[k];
    return loop_end(&l, e);
}

bool csr_multiple(struct csr *out, double factor, const struct csr *A, struct err *e)
{
    if (!csr_copy(out, A, e)) return false;
    if (factor == 1 || csr_scale_values(out, factor, e)) return true;
    csr_free(out);
    return false;
}

bool csr_identity(struct csr *out, double factor, int64_t n, struct err *e)
{
    if (!csr_new(out, n, n, n, false, e)) return false;
    struct loop l = loop_of("making the identity", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) {
        out->rowptr[i + 1] = (int)i + 1;
        out->col[i] = (int)i;
        out->val[i] = factor;
    }
    if (loop_end(&l, e)) return true;
    csr_free(out);
    return false;
}
