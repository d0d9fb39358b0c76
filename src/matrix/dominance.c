/* Is a matrix diagonally dominant, and do its rows sum to 0? Decided without rounding errors. */
#include "dominance.h"
#include "base/exact_sum.h"
#include "base/loop.h"
#include "base/mem.h"
#include "csr.h"

#include <math.h>

static double row_sum(const struct csr *A, const double *val, int64_t row)
{
    struct exact_sum s;
    s.n = 0;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) exact_sum_add(&s, val[k]);
    return exact_sum_value(&s);
}

bool rows_sum_to_0(const struct csr *A, bool *all, struct err *e)
{
    struct loop l = loop_of("sums of rows", A->rows);
    *all = true;
    for (int64_t i = 0; i < A->rows && *all && loop_goes(&l, i); i++)
        *all = row_sum(A, A->val, i) == 0 && (!A->imag || row_sum(A, A->imag, i) == 0);
    return loop_end(&l, e);
}

/* |a_ii| minus the sum of the other |a_ij|, with the right sign. */
static double margin(const struct csr *A, int64_t row)
{
    struct exact_sum s;
    s.n = 0;
    for (int k = A->rowptr[row]; k < A->rowptr[row + 1]; k++)
        exact_sum_add(&s, A->col[k] == row ? fabs(A->val[k]) : -fabs(A->val[k]));
    return exact_sum_value(&s);
}

/* Puts the strictly dominant rows into queue[] and marks them as reached. Returns false if a row is not dominant. */
static bool find_strict(const struct csr *A, int *queue, char *reached, int64_t *n, struct loop *l)
{
    for (int64_t i = 0; i < A->rows && loop_goes(l, i); i++) {
        double by = margin(A, i);
        if (!(by >= 0)) return false;
        reached[i] = by > 0;
        if (by > 0) queue[(*n)++] = (int)i;
    }
    return true;
}

static bool has_zeros(const struct csr *A, struct loop *l)
{
    for (int64_t k = 0; k < A->nnz && loop_goes(l, k); k++)
        if (A->val[k] == 0) return true;
    return false;
}

/* Adds to queue[] all rows from which a path leads to one of its first n rows. ptr and row: the pattern of A'. A stored
   zero is no part of a path. */
static int64_t follow_back(const struct csr *A, const int *ptr, const int *row, int *queue, char *reached, int64_t n,
                           struct loop *l)
{
    bool zeros = has_zeros(A, l);
    for (int64_t at = 0; at < n && loop_goes(l, at); at++)
        for (int k = ptr[queue[at]]; k < ptr[queue[at] + 1]; k++) {
            int i = row[k];
            if (reached[i] || (zeros && A->val[csr_find(A, i, queue[at])] == 0)) continue;
            reached[i] = 1;
            queue[n++] = i;
        }
    return n;
}

bool dominant_of(const struct csr *A, enum dominant *out, struct err *e)
{
    struct loop l = loop_of("dominance", A->rows);
    *out = DOMINANT_NOT;
    if (A->imag) return true;
    int64_t n = 0;
    int *queue = mem_new(A->rows, sizeof *queue, "dominant rows", e);
    char *reached = queue ? mem_new(A->rows, 1, "dominant rows", e) : NULL;
    bool ok = reached, weak = ok && find_strict(A, queue, reached, &n, &l), search = weak && n && n < A->rows;
    if (weak) *out = A->rows && n == A->rows ? DOMINANT_CHAINED : DOMINANT_WEAKLY;
    int *ptr = search ? mem_new(A->cols + 1, sizeof *ptr, "the pattern of A'", e) : NULL;
    int *row = ptr ? mem_new(A->nnz, sizeof *row, "the pattern of A'", e) : NULL;
    if (row) {
        csr_pattern_transposed(A, ptr, row);
        if (follow_back(A, ptr, row, queue, reached, n, &l) == A->rows) *out = DOMINANT_CHAINED;
    }
    ok = ok && (!search || row);
    mem_free(queue);
    mem_free(reached);
    mem_free(ptr);
    mem_free(row);
    return ok && loop_end(&l, e);
}
