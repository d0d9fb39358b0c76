/* Which methods suit a matrix: cheap trials on the host, made before a method is advised. */
#include "suits.h"
#include "base/base.h"
#include "base/mem.h"
#include "matrix/csr.h"
#include "matrix/dominance.h"
#include "matrix/reorder.h"
#include "matrix/symmetry.h"
#include "precond.h"
#include "triangles.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { SYMMETRY_NNZ = 1 << 24, TRIAL_STEPS = 1 << 24, ENVELOPE_NNZ = 1 << 20 };
static const double ENVELOPE_FLOPS = 1e8;

static bool found(enum fact *f, bool (*find)(const struct csr *A), const struct csr *A)
{
    if (*f == FACT_UNKNOWN) *f = find(A) ? FACT_YES : FACT_NO;
    return *f == FACT_YES;
}

static bool find_symmetric(const struct csr *A)
{
    struct symmetry s;
    return !A->source && !A->imag && A->rows == A->cols && A->nnz <= SYMMETRY_NNZ && symmetry_of(A, NULL, &s, NULL) &&
           s.rounding;
}

bool suits_symmetric(struct suits *s, const struct csr *A)
{
    return found(&s->symmetric, find_symmetric, A);
}

/* ---- incomplete factors in A's own pattern ---- */

struct factors_trial {
    const struct csr *A;
    int *diag;           /* [rows] the index of each diagonal entry */
    double complex *val; /* [nnz] */
    bool positive;       /* the pivots must be positive */
    int64_t steps;       /* done so far */
};

static bool find_diagonal(struct factors_trial *t)
{
    const struct csr *A = t->A;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t k = csr_find(A, i, i);
        if (k < 0 || csr_abs(A, k) == 0) return false;
        t->diag[i] = (int)k;
    }
    return true;
}

static void take_values(struct factors_trial *t, double sign, double shift)
{
    const struct csr *A = t->A;
    for (int64_t k = 0; k < A->nnz; k++) t->val[k] = sign * (A->imag ? CMPLX(A->val[k], A->imag[k]) : A->val[k]);
    for (int64_t i = 0; i < A->rows; i++) t->val[t->diag[i]] *= 1 + shift;
    t->steps = 0;
}

/* Subtract multiples of the rows above row i. */
static void eliminate_row(struct factors_trial *t, int64_t i)
{
    const struct csr *A = t->A;
    for (int k = A->rowptr[i]; k < t->diag[i]; k++) {
        int j = A->col[k], pivot = t->diag[j];
        double complex factor = t->val[k] /= t->val[pivot];
        t->steps += subtract_complex_row(A, t->val, k + 1, A->rowptr[i + 1], pivot + 1, A->rowptr[j + 1], factor);
    }
}

/* Can row i be divided by its pivot? A pivot that is 0 but for rounding errors is as useless as 0. */
static bool has_pivot(const struct factors_trial *t, int64_t i)
{
    static const double LEAST = 1e-12;
    double complex pivot = t->val[t->diag[i]];
    double most = 0;
    for (int k = t->A->rowptr[i]; k < t->A->rowptr[i + 1]; k++) most = fmax(most, csr_abs(t->A, k));
    return isfinite(cabs(pivot)) && cabs(pivot) > LEAST * most && (!t->positive || creal(pivot) > 0);
}

static bool eliminate(struct factors_trial *t)
{
    for (int64_t i = 0; i < t->A->rows && t->steps < TRIAL_STEPS; i++) {
        eliminate_row(t, i);
        if (!has_pivot(t, i)) return false;
    }
    return true;
}

/* Do factors exist for one of n shifts of the diagonal? */
static bool factors_exist(const struct csr *A, bool positive, int n, const double *shifts)
{
    if (A->source || A->rows != A->cols || !diagonal_is_full(A)) return false;
    if (A->nnz > SYMMETRY_NNZ) return true;
    struct factors_trial t = {.A = A, .positive = positive};
    t.diag = mem_new(A->rows, sizeof *t.diag, "the diagonal", NULL);
    t.val = t.diag ? mem_new(A->nnz, sizeof *t.val, "incomplete factors", NULL) : NULL;
    bool ok = false, possible = t.val && find_diagonal(&t);
    for (int k = 0; possible && k < n && !ok; k++) {
        take_values(&t, positive && diagonal_is_negative(A) ? -1 : 1, shifts[k]);
        ok = eliminate(&t);
    }
    mem_free(t.diag);
    mem_free(t.val);
    return ok;
}

static bool find_ilu0(const struct csr *A)
{
    static const double none[] = {0};
    return factors_exist(A, false, COUNT(none), none);
}

static bool find_ic0(const struct csr *A)
{
    return factors_exist(A, true, IC0_SHIFTS, ic0_shifts);
}

bool suits_ilu0(struct suits *s, const struct csr *A)
{
    return found(&s->ilu0, find_ilu0, A);
}

bool suits_ic0(struct suits *s, const struct csr *A)
{
    return found(&s->ic0, find_ic0, A);
}

/* ---- definiteness: by dominance, or by Cholesky factors in the envelope of a reordered matrix ---- */

/* Row i of the lower triangle is held from its first entry to the diagonal. */
struct envelope {
    int64_t n, *first, *start; /* start[i] + j - first[i] is the index of entry (i, j) */
    int64_t entries;
    double *val;
};

static void envelope_free(struct envelope *v)
{
    mem_free(v->first);
    mem_free(v->start);
    mem_free(v->val);
}

/* Allocates the envelope, unless it would take too many operations. */
static bool envelope_new(struct envelope *v, const struct csr *A)
{
    double flops = 0;
    int64_t at = 0;
    v->n = A->rows;
    v->first = mem_new(A->rows, sizeof *v->first, "an envelope", NULL);
    v->start = v->first ? mem_new(A->rows, sizeof *v->start, "an envelope", NULL) : NULL;
    if (!v->start) return false;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t col = csr_row_length(A, i) ? A->col[A->rowptr[i]] : i, width;
        v->first[i] = col < i ? col : i;
        width = i - v->first[i] + 1;
        v->start[i] = at;
        at += width;
        flops += (double)width * (double)width;
    }
    v->entries = at;
    v->val = flops <= ENVELOPE_FLOPS ? mem_new(at, sizeof *v->val, "an envelope", NULL) : NULL;
    return v->val;
}

/* sign * A, with its diagonal times 1 + shift */
static void envelope_fill(struct envelope *v, const struct csr *A, double sign, double shift)
{
    memset(v->val, 0, (size_t)(v->start[v->n - 1] + v->n - v->first[v->n - 1]) * sizeof *v->val);
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1] && A->col[k] <= i; k++)
            v->val[v->start[i] + A->col[k] - v->first[i]] = sign * A->val[k] * (A->col[k] == i ? 1 + shift : 1);
}

/* L L' = A in place. Returns false if a pivot is not above 0. */
static bool envelope_cholesky(struct envelope *v)
{
    for (int64_t i = 0; i < v->n; i++) {
        double *row = v->val + v->start[i] - v->first[i];
        for (int64_t j = v->first[i]; j < i; j++) {
            const double *other = v->val + v->start[j] - v->first[j];
            double sum = row[j];
            for (int64_t k = v->first[i] > v->first[j] ? v->first[i] : v->first[j]; k < j; k++)
                sum -= row[k] * other[k];
            row[j] = sum / other[j];
        }
        for (int64_t k = v->first[i]; k < i; k++) row[i] -= row[k] * row[k];
        if (!(row[i] > 0)) return false;
        row[i] = sqrt(row[i]);
    }
    return true;
}

/* One triangle of A is factored. Its matrix differs from (A + A') / 2 by at most this times diag(A): the sum of all
   |a_ij - a_ji| / sqrt(a_ii a_jj). */
static double asymmetry_of(const struct csr *A)
{
    double sum = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int64_t j = A->col[k], at = csr_find(A, j, i);
            double gap = fabs(A->val[k] - (at < 0 ? 0 : A->val[at]));
            if (gap > 0) sum += gap / sqrt(fabs(A->val[csr_find(A, i, i)])) / sqrt(fabs(A->val[csr_find(A, j, j)]));
        }
    return sum;
}

/* The rounding errors of the factorisation amount to a change of A by less than t diag(A) (Demmel 1989, Rump 2006). So
   A is definite if A - t diag(A) has factors, and it is not if A + t diag(A) has none. SEMI: in between. */
static enum definiteness by_cholesky(const struct csr *A, double sign)
{
    struct envelope v = {0};
    enum definiteness is = DEFINITE_UNKNOWN;
    if (envelope_new(&v, A)) {
        double t = DBL_EPSILON * (double)(v.entries + 10 * v.n) + asymmetry_of(A);
        envelope_fill(&v, A, sign, -t);
        is = envelope_cholesky(&v) ? DEFINITE_YES : DEFINITE_SEMI;
        if (is == DEFINITE_SEMI) envelope_fill(&v, A, sign, t);
        if (is == DEFINITE_SEMI && !envelope_cholesky(&v)) is = DEFINITE_NOT;
    }
    envelope_free(&v);
    return is;
}

static enum definiteness by_reordered(const struct csr *A, double sign)
{
    int *perm = mem_new(A->rows, sizeof *perm, "an ordering", NULL);
    struct csr B = {0};
    bool ok = perm && reorder_find_symmetric(ordering_find("rcm"), A, perm, NULL, NULL) &&
              reorder_apply(&B, A, perm, NULL, NULL);
    enum definiteness is = ok ? by_cholesky(&B, sign) : DEFINITE_UNKNOWN;
    csr_free(&B);
    mem_free(perm);
    return is;
}

/* A matrix with dominant rows, for which Cholesky would take long. */
static enum definiteness by_dominance(const struct csr *A)
{
    enum dominant is;
    bool balanced;
    if (!dominant_of(A, &is, NULL) || is == DOMINANT_NOT) return DEFINITE_UNKNOWN;
    if (is == DOMINANT_CHAINED) return DEFINITE_YES;
    return rows_sum_to_0(A, &balanced, NULL) && balanced ? DEFINITE_SEMI : DEFINITE_UNKNOWN;
}

/* 1 or -1: the sign of all diagonal entries; 0: they differ. */
static double sign_of_diagonal(const struct csr *A)
{
    double sign = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t k = csr_find(A, i, i);
        double a = k < 0 ? 0 : A->val[k];
        if (a == 0 || !isfinite(a) || a * sign < 0) return 0;
        sign = a > 0 ? 1 : -1;
    }
    return sign;
}

static enum definiteness find_definite(const struct csr *A)
{
    if (A->source || A->imag || A->rows != A->cols || !A->rows || A->nnz > SYMMETRY_NNZ) return DEFINITE_UNKNOWN;
    double sign = sign_of_diagonal(A);
    if (sign == 0) return DEFINITE_NOT;
    enum definiteness is = A->nnz <= ENVELOPE_NNZ ? by_reordered(A, sign) : DEFINITE_UNKNOWN;
    return is == DEFINITE_UNKNOWN ? by_dominance(A) : is;
}

enum definiteness suits_definite(struct suits *s, const struct csr *A)
{
    if (!s->definite_known) s->definite = find_definite(A);
    s->definite_known = true;
    return s->definite;
}

bool diagonal_varies(const struct csr *A)
{
    double least = INFINITY, most = 0;
    if (A->source) return true;
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t k = csr_find(A, i, i);
        double size = k < 0 ? 0 : csr_abs(A, k);
        least = fmin(least, size);
        most = fmax(most, size);
    }
    return most >= 10 * least;
}
