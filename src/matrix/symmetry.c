/* Test a matrix for symmetry of pattern and of values without building the transpose.

   Rows are visited in ascending order. The mirror image of an entry (i, j) to the right of the diagonal must be the
   next unmatched entry of row j, because the entries of row j to the left of the diagonal are also in ascending order.
   Each walker visits its own range of rows and has its own array `next`. The pattern is symmetric if all entries match
   and there are as many entries to the left of the diagonal as to the right. */
#include "csr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "stats.h"
#include "base/watch.h"

#include <omp.h>
#include <string.h>

enum { WALKERS_MAX = 4, WALKER_ENTRIES = 1 << 16 };

struct walker {
    int64_t row, end;
    int *next;       /* [rows]: the next entry to match in each row, counted from the start of the row */
    int64_t surplus; /* number of entries to the right of the diagonal minus number of entries to the left */
    bool pattern, values;
};

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 && a == a;
}

static bool same_value(const struct csr *A, int64_t k, int64_t l)
{
    return same_bits(A->val[k], A->val[l]) && (!A->imag || same_bits(A->imag[k], A->imag[l]));
}

/* Match the entries of row i. Returns false if the pattern is not symmetric. */
static bool walk_row(const struct csr *A, int64_t i, struct walker *w)
{
    for (int64_t k = csr_start(A, i), end = csr_start(A, i + 1); k < end; k++) {
        int64_t j = A->col[k], at = k;
        if (j > i) {
            at = csr_start(A, j) + w->next[j]++;
            if (at >= csr_start(A, j + 1) || A->col[at] != i) return false;
            w->surplus++;
        } else if (j < i) {
            w->surplus--;
            continue;
        }
        if (w->values) w->values = same_value(A, k, at);
    }
    return true;
}

static void walk(const struct csr *A, struct walker *w, int64_t to)
{
    for (; w->row < to && w->pattern; w->row++) w->pattern = walk_row(A, w->row, w);
}

static bool walker_new(const struct csr *A, struct walker *w, int64_t row, int64_t end, struct err *e)
{
    *w = (struct walker){.row = row, .end = end, .pattern = true, .values = true};
    w->next = mem_new(A->rows, sizeof *w->next, "symmetry marks", e);
    return w->next != NULL;
}

static void walker_mark(const struct csr *A, struct walker *w, struct loop *l)
{
    int64_t first = w->row;
    for (int64_t r = first; r < A->rows && loop_goes(l, r); r++)
        w->next[r] = (int)(csr_lower(A, csr_start(A, r), csr_start(A, r + 1), first) - csr_start(A, r));
}

/* Advance all walkers slice by slice until they are done or one of them finds that the pattern is not symmetric. */
static bool walk_all(const struct csr *A, struct walker *w, int n, struct watch *watch, struct err *e)
{
    int64_t left = A->rows;
    bool pattern = true;
    struct loop l = loop_of("symmetry", A->rows);
#pragma omp parallel for schedule(static, 1) num_threads(n)
    for (int k = 0; k < n; k++) walker_mark(A, &w[k], &l);
    if (!loop_end(&l, e)) return false;
    while (left > 0 && pattern) {
        if (!watch_tick(watch, "symmetry", A->rows - left, A->rows, e)) return false;
        left = 0;
#pragma omp parallel for schedule(static, 1) num_threads(n) reduction(+ : left) reduction(&& : pattern)
        for (int k = 0; k < n; k++) {
            if (w[k].row < w[k].end) walk(A, &w[k], stats_slice(A, w[k].row, w[k].end));
            left += w[k].end - w[k].row;
            pattern = pattern && w[k].pattern;
        }
    }
    return true;
}

bool symmetry_of(const struct csr *A, struct watch *watch, bool *pattern, bool *values, struct err *e)
{
    struct walker w[WALKERS_MAX] = {0};
    int64_t surplus = 0, useful = A->nnz / WALKER_ENTRIES + 1;
    int n = omp_get_max_threads() < WALKERS_MAX ? omp_get_max_threads() : WALKERS_MAX;
    bool ok = true;
    if (n > useful) n = (int)useful;
    *pattern = *values = A->rows == A->cols;
    if (!*pattern) return true;
    for (int k = 0; ok && k < n; k++) {
        int64_t row = k ? w[k - 1].end : 0;
        int64_t end = k < n - 1 ? stats_row_at(A, row, A->rows, A->nnz * (k + 1) / n) : A->rows;
        ok = walker_new(A, &w[k], row, end, e);
    }
    ok = ok && walk_all(A, w, n, watch, e);
    for (int k = 0; k < n; k++) {
        *pattern = *pattern && w[k].pattern;
        *values = *values && w[k].values;
        surplus += w[k].surplus;
        mem_free(w[k].next);
    }
    *pattern = *pattern && surplus == 0;
    *values = *values && *pattern;
    return ok;
}
