/* Submatrices, pruned matrices and scaled matrices. */
#include "extract.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/watch.h"
#include "csr.h"
#include "random.h"

#include <math.h>
#include <string.h>

enum { SLICE = 1 << 14 }; /* rows between two calls of watch_tick */

static bool look(struct watch *w, const char *what, int64_t row, int64_t rows, struct err *e)
{
    return row % SLICE || watch_tick(w, what, row, rows, e);
}

/* ---- extract ---- */

static bool within(const char *what, int64_t from, int64_t to, int64_t n, struct err *e)
{
    if (0 <= from && from <= to && to <= n) return true;
    return fail(e, E_USAGE,
                "%ss %lld .. %lld are outside the matrix or out of order; give the first %s and the end (last + 1), "
                "from 0 to %lld",
                what, (long long)from, (long long)to, what, (long long)n);
}

static void copy_row(struct csr *out, int64_t to, const struct csr *A, int64_t from, int64_t n, int64_t col0)
{
    for (int64_t k = 0; k < n; k++) out->col[to + k] = A->col[from + k] - (int)col0;
    if (n) memcpy(out->val + to, A->val + from, (size_t)n * sizeof *A->val);
    if (n && A->imag) memcpy(out->imag + to, A->imag + from, (size_t)n * sizeof *A->imag);
}

/* The number of entries of a row inside the window's columns; *from is the index of the first such entry. */
static int64_t part_of_row(const struct csr *A, int64_t row, struct window win, int64_t *from)
{
    int64_t end = A->rowptr[row + 1];
    *from = csr_lower(A, A->rowptr[row], end, win.col0);
    return csr_lower(A, *from, end, win.col1) - *from;
}

bool csr_extract(struct csr *out, const struct csr *A, struct window win, struct watch *w, struct err *e)
{
    int64_t nnz = 0, from, rows = win.row1 - win.row0;
    if (!within("row", win.row0, win.row1, A->rows, e) || !within("column", win.col0, win.col1, A->cols, e))
        return false;
    struct loop l = loop_of("extract", rows);
    for (int64_t i = 0; i < rows && loop_goes(&l, i); i++) nnz += part_of_row(A, win.row0 + i, win, &from);
    if (!loop_end(&l, e)) return false;
    if (!csr_new(out, rows, win.col1 - win.col0, nnz, A->imag != NULL, e)) return false;
    for (int64_t i = 0; i < rows; i++) {
        int64_t n = part_of_row(A, win.row0 + i, win, &from);
        copy_row(out, out->rowptr[i], A, from, n, win.col0);
        out->rowptr[i + 1] = out->rowptr[i] + (int)n;
        if (look(w, "extract", i, rows, e)) continue;
        csr_free(out);
        return false;
    }
    return true;
}

/* ---- sample ---- */

/* The rows are divided into `runs` equal parts. The sample has `length` consecutive rows of each part, from a random
   row on: at equal distances, the runs of a matrix whose row lengths follow the bits of the row number would all be
   alike. */
struct sample {
    int64_t rows, runs, length;
    uint64_t seed;
};
/* Runs begin at multiples of SAMPLE_ALIGN, so that the rows that a warp processes together, and the elements of x and y
   that belong to them, are aligned as in the whole matrix. */
enum { SAMPLE_ALIGN = 32 };

/* The first row of run r. */
static int64_t run_begin(const struct sample *s, int64_t r)
{
    uint64_t state = s->seed * (uint64_t)s->runs + (uint64_t)r;
    int64_t from = (s->rows * r / s->runs + SAMPLE_ALIGN - 1) / SAMPLE_ALIGN;
    int64_t last = (s->rows * (r + 1) / s->runs - s->length) / SAMPLE_ALIGN;
    return SAMPLE_ALIGN * (from + (int64_t)(random_next(&state) % (uint64_t)(last - from + 1)));
}

static int64_t sample_entries(const struct csr *A, const struct sample *s)
{
    int64_t nnz = 0;
    for (int64_t r = 0; r < s->runs; r++) {
        int64_t row = run_begin(s, r);
        nnz += csr_start(A, row + s->length) - csr_start(A, row);
    }
    return nnz;
}

/* Choose the seed with which the mean row length is closest to that of A. Returns the number of entries of the
   sample. */
static int64_t choose_seed(const struct csr *A, struct sample *s)
{
    enum { SEEDS = 64 };
    double mean = (double)A->nnz / (double)(A->rows ? A->rows : 1), nearest = INFINITY;
    double entries = mean * (double)(s->runs * s->length);
    int64_t nnz = 0;
    uint64_t best = 0;
    for (s->seed = 0; s->seed < SEEDS; s->seed++) {
        int64_t n = sample_entries(A, s);
        if (fabs((double)n - entries) >= nearest) continue;
        nearest = fabs((double)n - entries);
        best = s->seed;
        nnz = n;
    }
    s->seed = best;
    return nnz;
}

bool csr_sample_rows(struct csr *out, const struct csr *A, int64_t rows, struct watch *w, struct err *e)
{
    struct sample s = {.rows = A->rows, .runs = 1, .length = A->rows};
    int64_t to = 0, runs = rows > SAMPLE_RUN ? rows / SAMPLE_RUN : 1;
    if (A->rows / runs >= SAMPLE_RUN + 2 * SAMPLE_ALIGN) {
        s.length = SAMPLE_RUN;
        s.runs = runs;
    }
    int64_t nnz = choose_seed(A, &s);
    if (!csr_new(out, s.runs * s.length, A->cols, nnz, A->imag != NULL, e)) return false;
    for (int64_t i = 0; i < out->rows; i++) {
        int64_t row = run_begin(&s, i / s.length) + i % s.length, from = csr_start(A, row);
        copy_row(out, to, A, from, csr_start(A, row + 1) - from, 0);
        to += csr_start(A, row + 1) - from;
        out->rowptr[i + 1] = (int)to;
        if (look(w, "sample", i, out->rows, e)) continue;
        csr_free(out);
        return false;
    }
    return true;
}

/* ---- scale ---- */

struct range range_of(const struct csr *A)
{
    struct range r = {NAN, NAN};
    struct loop l = loop_of("the range of values", A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) {
        double a = csr_abs(A, k);
        if (!isfinite(a) || a == 0) continue;
        if (!(r.low <= a)) r.low = a;
        if (!(r.high >= a)) r.high = a;
    }
    return r;
}

struct scaling {
    struct csr *A;
    int sides;
    double *row, *col; /* first the largest |a| of each row and column, later the divisor of each row and column */
    double *all_row, *all_col; /* the products of the divisors of all rounds; NULL: not wanted */
    struct watch *w;
};

static bool maxima(struct scaling *s, struct err *e)
{
    const struct csr *A = s->A;
    if (!loop_zero(s->row, A->rows * (int64_t)sizeof *s->row, "scale", e) ||
        !loop_zero(s->col, A->cols * (int64_t)sizeof *s->col, "scale", e))
        return false;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double a = csr_abs(A, k);
            if (a > s->row[i]) s->row[i] = a;
            if (a > s->col[A->col[k]]) s->col[A->col[k]] = a;
        }
        if (!look(s->w, "scale", i, A->rows, e)) return false;
    }
    return true;
}

/* ---- prune ---- */

static bool stays(const struct csr *A, int64_t k, double below)
{
    double size = csr_abs(A, k);
    return isnan(size) || (size > 0 && size >= below);
}

static int64_t count_staying(const struct csr *A, double below)
{
    int64_t n = 0;
    struct loop l = loop_of("prune", A->nnz);
#pragma omp parallel for reduction(+ : n) if (A->nnz > 100000)
    for (int64_t from = 0; from < A->nnz; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, A->nnz); k < end; k++) n += stays(A, k, below);
    return n;
}

bool csr_prune(struct csr *out, const struct csr *A, double below, struct watch *w, struct err *e)
{
    int64_t n = 0, staying = count_staying(A, below);
    if (!loop_tick("prune", 0, A->rows, e) || !csr_new(out, A->rows, A->cols, staying, A->imag != NULL, e))
        return false;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            if (!stays(A, k, below)) continue;
            out->col[n] = A->col[k];
            out->val[n] = A->val[k];
            if (A->imag) out->imag[n] = A->imag[k];
            n++;
        }
        out->rowptr[i + 1] = (int)n;
        if (!look(w, "prune", i, A->rows, e)) return csr_free(out), false;
    }
    return true;
}

/* ---- scale ---- */

/* Replace the maxima by divisors; returns the number of rows or columns that cannot be scaled. */
static int64_t divisors(double *most, int64_t n, bool side, bool root)
{
    struct loop l = loop_of("scale", n);
    int64_t unscaled = 0;
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) {
        bool can = most[i] > 0 && isfinite(most[i]);
        unscaled += side && !can;
        most[i] = !side || !can ? 1 : root ? sqrt(most[i]) : most[i];
    }
    return unscaled;
}

/* Divide by the larger of the two divisors first, so that a symmetric matrix stays symmetric to the last bit. */
static double scaled(double v, double a, double b)
{
    return a > b ? v / a / b : v / b / a;
}

static bool divide(struct scaling *s, struct err *e)
{
    struct csr *A = s->A;
    for (int64_t i = 0; i < A->rows; i++) {
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            A->val[k] = scaled(A->val[k], s->row[i], s->col[A->col[k]]);
            if (A->imag) A->imag[k] = scaled(A->imag[k], s->row[i], s->col[A->col[k]]);
        }
        if (!look(s->w, "scale", i, A->rows, e)) return false;
    }
    return true;
}

static void multiply(double *all, const double *by, int64_t n)
{
    for (int64_t i = 0; all && i < n; i++) all[i] *= by[i];
}

/* Do one round of scaling. SCALE_BOTH needs several rounds, since scaling the rows changes the maxima of the
   columns. */
static bool rounds(struct scaling *s, struct unscaled *unscaled, struct err *e)
{
    bool both = s->sides == SCALE_BOTH;
    for (int i = 0; i < (both ? SCALE_ROUNDS : 1); i++) {
        if (!maxima(s, e)) return false;
        struct unscaled now = {divisors(s->row, s->A->rows, s->sides & SCALE_ROWS, both),
                               divisors(s->col, s->A->cols, s->sides & SCALE_COLS, both)};
        if (i == 0 && unscaled) *unscaled = now;
        multiply(s->all_row, s->row, s->A->rows);
        multiply(s->all_col, s->col, s->A->cols);
        if (!divide(s, e)) return false;
    }
    return true;
}

bool csr_scale(struct csr *out, const struct csr *A, int sides, struct unscaled *unscaled, double *row, double *col,
               struct watch *w, struct err *e)
{
    struct scaling s = {.A = out, .sides = sides, .all_row = row, .all_col = col, .w = w};
    if (!csr_copy(out, A, e)) return false;
    for (int64_t i = 0; row && i < A->rows; i++) row[i] = 1;
    for (int64_t j = 0; col && j < A->cols; j++) col[j] = 1;
    s.row = mem_new(A->rows, sizeof *s.row, "rows' largest values", e);
    s.col = s.row ? mem_new(A->cols, sizeof *s.col, "columns' largest values", e) : NULL;
    bool ok = s.col && rounds(&s, unscaled, e);
    mem_free(s.row);
    mem_free(s.col);
    if (!ok) csr_free(out);
    return ok;
}

bool csr_scale_by(struct csr *out, const struct csr *A, double *row, double *col, struct watch *w, struct err *e)
{
    struct scaling s = {.A = out, .row = row, .col = col, .w = w};
    if (!csr_copy(out, A, e)) return false;
    if (divide(&s, e)) return true;
    csr_free(out);
    return false;
}
