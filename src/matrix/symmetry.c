/* Test a matrix for symmetry of pattern and of values without building the transpose: in one walk that needs no
   searches, and if that finds a difference, by a search for the mirror image of each entry.

   In the walk, rows are visited in ascending order. The mirror image of an entry (i, j) to the right of the diagonal
   must be the next unmatched entry of row j, because the entries of row j to the left of the diagonal are also in
   ascending order. Each walker visits its own range of rows and has its own array `next`. The pattern is symmetric if
   all entries match and there are as many entries to the left of the diagonal as to the right. */
#include "symmetry.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "base/watch.h"
#include "csr.h"
#include "row_slices.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

enum { WALKERS_MAX = 4, WALKER_ENTRIES = 1 << 16 };

struct walker {
    int64_t row, end;
    int *next;       /* [rows]: the next entry to match in each row, counted from the start of the row */
    int64_t surplus; /* number of entries to the right of the diagonal minus number of entries to the left */
    bool pattern, values, hermitian;
};

static double imag_at(const struct csr *A, int64_t k)
{
    return k < 0 || !A->imag ? 0 : A->imag[k];
}

static double real_at(const struct csr *A, int64_t k)
{
    return k < 0 ? 0 : A->val[k];
}

static bool same_value(const struct csr *A, int64_t k, int64_t l)
{
    return real_at(A, k) == real_at(A, l) && imag_at(A, k) == imag_at(A, l);
}

static bool conjugate(const struct csr *A, int64_t k, int64_t l)
{
    return real_at(A, k) == real_at(A, l) && imag_at(A, k) == -imag_at(A, l);
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
        w->values = w->values && same_value(A, k, at);
        w->hermitian = w->hermitian && conjugate(A, k, at);
    }
    return true;
}

static void walk(const struct csr *A, struct walker *w, int64_t to)
{
    for (; w->row < to && w->pattern; w->row++) w->pattern = walk_row(A, w->row, w);
}

static bool walker_new(const struct csr *A, struct walker *w, int64_t row, int64_t end, struct err *e)
{
    *w = (struct walker){.row = row, .end = end, .pattern = true, .values = true, .hermitian = true};
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
            if (w[k].row < w[k].end) walk(A, &w[k], slice_end(A, w[k].row, w[k].end));
            left += w[k].end - w[k].row;
            pattern = pattern && w[k].pattern;
        }
    }
    return true;
}

/* The walk. If it ends at an entry without a mirror image, `pattern`, `values` and `hermitian` are false. */
static bool walk_matrix(const struct csr *A, struct watch *watch, struct symmetry *out, struct err *e)
{
    struct walker w[WALKERS_MAX] = {0};
    int64_t surplus = 0, useful = A->nnz / WALKER_ENTRIES + 1;
    int n = omp_get_max_threads() < WALKERS_MAX ? omp_get_max_threads() : WALKERS_MAX;
    bool ok = true, pattern = true, values = true, hermitian = true;
    if (n > useful) n = (int)useful;
    for (int k = 0; ok && k < n; k++) {
        int64_t row = k ? w[k - 1].end : 0;
        int64_t end = k < n - 1 ? csr_row_from(A, row, A->rows, A->nnz * (k + 1) / n) : A->rows;
        ok = walker_new(A, &w[k], row, end, e);
    }
    ok = ok && walk_all(A, w, n, watch, e);
    for (int k = 0; k < n; k++) {
        pattern = pattern && w[k].pattern;
        values = values && w[k].values;
        hermitian = hermitian && w[k].hermitian;
        surplus += w[k].surplus;
        mem_free(w[k].next);
    }
    out->pattern = pattern && surplus == 0;
    out->values = values && out->pattern;
    out->hermitian = hermitian && out->pattern;
    return ok;
}

/* ---- the search ---- */

struct differences {
    const struct csr *A;
    const double *size; /* [rows] the largest |a| of each row */
    bool values, hermitian, rounding;
    double gap; /* the largest |a_ij - conj(a_ji)| */
};

static double size_of_row(const struct csr *A, int64_t i)
{
    double most = 0;
    for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++) most = fmax(most, csr_abs(A, k));
    return most;
}

/* |a_ij - conj(a_ji)|, where k is the entry (i, j) and l the entry (j, i), or -1 if that is not stored. */
static double gap_of(const struct csr *A, int64_t k, int64_t l)
{
    if (conjugate(A, k, l)) return 0;
    return hypot(real_at(A, k) - real_at(A, l), imag_at(A, k) + imag_at(A, l));
}

static bool is_rounding(double gap, double size_i, double size_j)
{
    double size = fmin(size_i, size_j);
    return gap == 0 || (isfinite(size) && gap <= SYMMETRY_ROUNDING * size);
}

static void search_row(struct differences *d, int64_t i)
{
    const struct csr *A = d->A;
    for (int64_t k = csr_start(A, i), end = csr_start(A, i + 1); k < end && (d->values || d->rounding); k++) {
        int64_t j = A->col[k], l = j == i ? k : csr_find(A, j, i);
        double gap = gap_of(A, k, l);
        d->values = d->values && same_value(A, k, l);
        d->hermitian = d->hermitian && gap == 0;
        d->rounding = d->rounding && is_rounding(gap, d->size[i], d->size[j]);
        d->gap = fmax(d->gap, gap);
    }
}

static void search_slice(struct differences *all, int64_t from, int64_t to)
{
#pragma omp parallel if (csr_start(all->A, to) - csr_start(all->A, from) > THREADS_FROM)
    {
        struct differences mine = *all;
#pragma omp for schedule(guided)
        for (int64_t i = from; i < to; i++) search_row(&mine, i);
#pragma omp critical(symmetry_merge)
        {
            all->values = all->values && mine.values;
            all->hermitian = all->hermitian && mine.hermitian;
            all->rounding = all->rounding && mine.rounding;
            all->gap = fmax(all->gap, mine.gap);
        }
    }
}

static bool sizes_of_rows(const struct csr *A, double *size, double *most, struct err *e)
{
    double largest = 0;
    struct loop l = loop_of("symmetry", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(max : largest) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++)
            largest = fmax(largest, size[i] = size_of_row(A, i));
    *most = largest;
    return loop_end(&l, e);
}

/* Most matrices that are not symmetric end the search in its first slice. */
static bool search_matrix(const struct csr *A, struct watch *watch, struct symmetry *out, struct err *e)
{
    double most = 0, *size = mem_new(A->rows, sizeof *size, "the largest value of each row", e);
    struct differences d = {A, size, true, true, true, 0};
    bool ok = size && sizes_of_rows(A, size, &most, e);
    for (int64_t from = 0, to; ok && from < A->rows && (d.values || d.rounding); from = to) {
        to = slice_end(A, from, A->rows);
        search_slice(&d, from, to);
        ok = watch_tick(watch, "symmetry", csr_start(A, to), A->nnz, e);
    }
    mem_free(size);
    out->values = d.values;
    out->hermitian = d.hermitian;
    out->rounding = d.rounding;
    out->gap = d.rounding && most > 0 ? d.gap / most : 0;
    return ok;
}

bool symmetry_of(const struct csr *A, struct watch *watch, struct symmetry *out, struct err *e)
{
    *out = (struct symmetry){0};
    if (A->rows != A->cols) return true;
    if (!walk_matrix(A, watch, out, e)) return false;
    out->rounding = out->hermitian;
    return out->hermitian || search_matrix(A, watch, out, e);
}

/* ---- words and messages ---- */

struct symmetry_text symmetry_text(const struct symmetry *s, bool complex)
{
    struct symmetry_text t;
    const char *exact = !complex ? "yes" : "hermitian", *plain = s->values ? "yes, but not hermitian" : "no";
    if (s->rounding && !s->hermitian)
        snprintf(t.text, sizeof t.text, "%s: |a_ij - %s| at most %.1e max |a|",
                 complex ? "hermitian to rounding" : "to rounding", complex ? "conj(a_ji)" : "a_ji", s->gap);
    else
        snprintf(t.text, sizeof t.text, "%s", s->hermitian ? exact : plain);
    return t;
}

const char *symmetry_word(const struct csr *A)
{
    return A->imag ? "hermitian" : "symmetric";
}

struct value_text {
    char text[64];
};

static struct value_text value_text(const struct csr *A, int64_t k, int digits)
{
    struct value_text t;
    int n = snprintf(t.text, sizeof t.text, "%.*g", digits, real_at(A, k));
    if (A->imag) snprintf(t.text + n, sizeof t.text - (size_t)n, "%+.*gi", digits, imag_at(A, k));
    return t;
}

/* The fewest digits that show entries k and l as different. */
static int digits_between(const struct csr *A, int64_t k, int64_t l)
{
    int digits = 6;
    while (digits < 17 && !strcmp(value_text(A, k, digits).text, value_text(A, l, digits).text)) digits++;
    return digits;
}

static bool refuse(const struct csr *A, int64_t i, int64_t k, int64_t l, const char *who, const char *cure,
                   struct err *e)
{
    int digits = digits_between(A, k, l);
    long long j = A->col[k];
    if (isnan(csr_abs(A, k)))
        return fail(e, E_NUMERIC, "%s needs finite values, but entry (%lld, %lld), counted from 0, is %s", who,
                    (long long)i, j, value_text(A, k, digits).text);
    if (i == j)
        return fail(e, E_NUMERIC,
                    "%s needs a hermitian matrix, but the diagonal entry (%lld, %lld), counted from 0, is %s, which is "
                    "not real; %s",
                    who, j, j, value_text(A, k, digits).text, cure);
    return fail(e, E_NUMERIC,
                "%s needs a %s matrix: entry (%lld, %lld), counted from 0, is %s and (%lld, %lld) is %s; %s", who,
                symmetry_word(A), (long long)i, j, value_text(A, k, digits).text, j, (long long)i,
                value_text(A, l, digits).text, cure);
}

bool symmetry_needed(const struct csr *A, const char *who, const char *cure, struct err *e)
{
    struct symmetry s;
    if (A->rows != A->cols) return fail(e, E_NUMERIC, "%s needs a square matrix", who);
    if (!symmetry_of(A, NULL, &s, e)) return false;
    if (s.rounding) return true;
    struct loop loop = loop_of("symmetry", A->nnz);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1) && loop_goes(&loop, k); k++) {
            int64_t j = A->col[k], l = csr_find(A, j, i);
            double gap = gap_of(A, k, l);
            if (gap != 0 && !is_rounding(gap, size_of_row(A, i), size_of_row(A, j)))
                return refuse(A, i, k, l, who, cure, e);
        }
    return loop_end(&loop, e) && fail(e, E_INTERNAL, "symmetry: no difference found");
}
