/* Which preconditioners suit a matrix: cheap trials on the host, made before a method is advised. */
#include "suits.h"
#include "base/base.h"
#include "base/mem.h"
#include "matrix/csr.h"
#include "precond.h"
#include "triangles.h"

#include <complex.h>
#include <math.h>

enum { TRIAL_NNZ = 1 << 24, TRIAL_STEPS = 1 << 24 };

static bool found(enum fact *f, bool (*find)(const struct csr *A), const struct csr *A)
{
    if (*f == FACT_UNKNOWN) *f = find(A) ? FACT_YES : FACT_NO;
    return *f == FACT_YES;
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
        if (k < 0 || (t->positive && csr_abs(A, k) == 0)) return false;
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
    static const double MIN = 1e-12;
    double complex pivot = t->val[t->diag[i]];
    double most = 0;
    for (int k = t->A->rowptr[i]; k < t->A->rowptr[i + 1]; k++) most = fmax(most, csr_abs(t->A, k));
    return isfinite(cabs(pivot)) && cabs(pivot) > MIN * most && (!t->positive || creal(pivot) > 0);
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
    if (A->source || A->rows != A->cols) return false;
    struct factors_trial t = {.A = A, .positive = positive};
    t.diag = mem_new(A->rows, sizeof *t.diag, "the diagonal", NULL);
    bool possible = t.diag && find_diagonal(&t), large = A->nnz > TRIAL_NNZ, ok = possible && large;
    t.val = possible && !large ? mem_new(A->nnz, sizeof *t.val, "incomplete factors", NULL) : NULL;
    possible = t.val;
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
    return factors_exist(A, true, IC0_SMALL, ic0_shifts);
}

bool suits_ilu0(struct facts *f, const struct csr *A)
{
    return found(&f->ilu0, find_ilu0, A);
}

bool suits_ic0(struct facts *f, const struct csr *A)
{
    return found(&f->ic0, find_ic0, A);
}

bool suits_matching(struct facts *f, const struct csr *A)
{
    return !diagonal_is_full(A) && !suits_ilu0(f, A) && facts_fillable(f, A);
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
