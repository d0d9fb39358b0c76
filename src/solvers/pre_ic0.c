/* Incomplete Cholesky factorisation without fill: L L' = A wherever A has an entry, or L L' = -A if the diagonal of A
   is negative: solvers for symmetric matrices need a positive definite M. If a pivot is not positive, the diagonal of A
   is increased (Manteuffel 1980). */
#include "matrix/csr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "precond.h"
#include "solve.h"
#include "triangles.h"
#include "base/watch.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>

enum { TICK_ROWS = 256 };

static const char who[] = "the preconditioner ic0";

/* Relative increases of the diagonal, tried in turn until all pivots are positive. Nine matrices fail without an
   increase: 0.01 or less helps none of them, 0.03 helps one, 0.1 helps five, and 0.3 helps all nine. */
static const double shifts[] = {0, 0.03, 0.1, 0.3};

static const double rounding = 1e-10; /* entries whose relative difference is smaller than this count as equal */

struct cholesky {
    struct factors f;
    struct triangle_matrix matrix;
    int *mirror; /* [nnz] for an entry to the left of the diagonal: the position of its mirror image to the right of the
                    diagonal */
    int *at;     /* [rows] position of each column in the current row, or -1 */
    double *inverse;
    double sign; /* -1: the factors are those of -A */
};

static double complex value_of(const struct csr *A, int64_t k)
{
    return k < 0 ? 0 : A->imag ? CMPLX(A->val[k], A->imag[k]) : A->val[k];
}

/* Is entry l not the conjugate of entry k? */
static bool differ(const struct csr *A, int64_t k, int64_t l)
{
    double most = fmax(csr_abs(A, k), csr_abs(A, l));
    double gap = A->imag ? cabs(value_of(A, k) - conj(value_of(A, l))) : fabs(A->val[k] - A->val[l]);
    return isfinite(most) && gap > rounding * most;
}

static bool refuse(const struct cholesky *c, int64_t i, int64_t j, struct err *e)
{
    const struct csr *A = c->f.A;
    int64_t row = triangle_row(&c->matrix, i), col = triangle_row(&c->matrix, j);
    double complex a = value_of(A, csr_find(A, i, j)), b = value_of(A, csr_find(A, j, i));
    char of_a[64], of_b[64];
    const char *fmt = A->imag ? "%g%+gi" : "%g";
    snprintf(of_a, sizeof of_a, fmt, creal(a), cimag(a));
    snprintf(of_b, sizeof of_b, fmt, creal(b), cimag(b));
    return fail(e, E_NUMERIC,
                "%s needs a %s matrix: entry (%lld, %lld), counted from 0, is %s and (%lld, %lld) is %s; use ilu0", who,
                A->imag ? "hermitian" : "symmetric", (long long)row, (long long)col, of_a, (long long)col,
                (long long)row, of_b);
}

/* Visit the entries to the left of the diagonal row by row. Their mirror images in any row j then come in storage
   order, so next[j] is the position of the next mirror image in row j. */
static bool find_mirrors(struct cholesky *c, struct err *e)
{
    const struct csr *A = c->f.A;
    int *next = c->at;
    struct loop loop = loop_of("the mirror images of entries", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&loop, i); i++) next[i] = c->f.diag[i] + 1;
    for (int64_t i = 0; i < A->rows && loop_goes(&loop, i); i++)
        for (int k = A->rowptr[i]; k < c->f.diag[i]; k++) {
            int j = A->col[k], l = next[j]++;
            if (l >= A->rowptr[j + 1] || A->col[l] > i) return refuse(c, i, j, e);
            if (A->col[l] < i) return refuse(c, j, A->col[l], e);
            if (differ(A, k, l)) return refuse(c, i, j, e);
            c->mirror[k] = l;
        }
    if (!loop_end(&loop, e)) return false;
    for (int64_t i = 0; i < A->rows; i++) {
        if (next[i] < A->rowptr[i + 1]) return refuse(c, i, A->col[next[i]], e);
        if (differ(A, c->f.diag[i], c->f.diag[i])) return refuse(c, i, i, e);
    }
    return true;
}

/* l_ij = (a_ij - the sum of l_ik l_jk) / l_jj along row i; returns the pivot, l_ii^2. */
static double eliminate_row(struct cholesky *c, int64_t i, double diagonal)
{
    const struct csr *A = c->f.A;
    double *val = c->f.val;
    for (int k = A->rowptr[i]; k < c->f.diag[i]; k++) {
        int j = A->col[k];
        double sum = val[k];
        for (int l = A->rowptr[j]; l < c->f.diag[j]; l++)
            if (c->at[A->col[l]] >= 0) sum -= val[c->at[A->col[l]]] * val[l];
        val[k] = val[c->mirror[k]] = sum * c->inverse[j];
        diagonal -= val[k] * val[k];
    }
    return diagonal;
}

/* The same for a hermitian matrix, with the conjugates of l_jk. The diagonal of L is real. */
static double eliminate_complex_row(struct cholesky *c, int64_t i, double diagonal)
{
    const struct csr *A = c->f.A;
    double complex *val = (double complex *)c->f.val;
    for (int k = A->rowptr[i]; k < c->f.diag[i]; k++) {
        int j = A->col[k];
        double complex sum = val[k];
        for (int l = A->rowptr[j]; l < c->f.diag[j]; l++)
            if (c->at[A->col[l]] >= 0) sum -= val[c->at[A->col[l]]] * conj(val[l]);
        val[k] = sum * c->inverse[j];
        val[c->mirror[k]] = conj(val[k]);
        diagonal -= creal(val[k] * conj(val[k]));
    }
    return diagonal;
}

static void mark(struct cholesky *c, int64_t i, bool there)
{
    for (int k = c->f.A->rowptr[i]; k < c->f.diag[i]; k++) c->at[c->f.A->col[k]] = there ? k : -1;
}

/* Returns the first row whose pivot is not positive, with that pivot in *pivot; returns the number of rows if all
   pivots are positive, and -1 if the user cancelled. */
static int64_t factorise(const struct solve *v, struct cholesky *c, double shift, double *pivot, struct err *e)
{
    const struct csr *A = c->f.A;
    if (!values_of(A, c->f.val, e) || !loop_fill(c->at, A->rows, -1, "ic0", e)) return -1;
    for (int64_t k = 0; k < (A->imag ? 2 : 1) * A->nnz && c->sign < 0; k++) c->f.val[k] = -c->f.val[k];
    for (int64_t i = 0; i < A->rows; i++) {
        if (i % TICK_ROWS == 0 && !watch_tick(v->matrix.watch, "ic0", i, A->rows, e)) return -1;
        mark(c, i, true);
        *pivot = (A->imag ? eliminate_complex_row : eliminate_row)(c, i, (1 + shift) * c->sign * A->val[c->f.diag[i]]);
        mark(c, i, false);
        if (!(*pivot > 0)) return i;
        c->inverse[i] = 1 / sqrt(*pivot);
    }
    return A->rows;
}

static bool factorise_shifted(struct solve *v, struct cholesky *c, struct err *e)
{
    double pivot = 0, least = 0;
    int64_t row = 0, first = -1;
    for (int k = 0; k < COUNT(shifts); k++) {
        row = factorise(v, c, shifts[k], &pivot, e);
        v->pre.note[TRI_SHIFT] = llround(1e6 * shifts[k]);
        if (row == c->f.A->rows) return true;
        if (row < 0) return false;
        if (first < 0) first = row, least = pivot;
    }
    return fail(
        e, E_NUMERIC,
        "%s: the pivot of row %lld (counted from 0) is %.3g, not positive, and increasing the diagonal by up to %g of "
        "itself does not help; the matrix is not positive definite, or only barely: use ilu0 or jacobi",
        who, (long long)triangle_row(&c->matrix, first), least, shifts[COUNT(shifts) - 1]);
}

/* Check that values of type v->real can be divided by the diagonal of L, which holds the square roots of the pivots. */
static bool check_pivots(const struct solve *v, struct cholesky *c, struct err *e)
{
    struct loop l = loop_of("the pivots", c->f.A->rows);
    for (int64_t i = 0; i < c->f.A->rows && loop_goes(&l, i); i++) {
        double pivot = 1 / c->inverse[i];
        if (!invert_pivot(&pivot, v->real, who, triangle_row(&c->matrix, i), &c->inverse[i], e)) return false;
    }
    return loop_end(&l, e);
}

/* Make pairs with imaginary part 0 of the inverted diagonal. */
static void make_pairs(struct cholesky *c)
{
    for (int64_t i = c->f.A->rows - 1; i >= 0; i--) {
        c->inverse[2 * i] = c->inverse[i];
        c->inverse[2 * i + 1] = 0;
    }
}

static bool make_factors(struct solve *v, struct cholesky *c, struct err *e)
{
    const struct csr *A = c->matrix.A;
    int64_t parts = type_parts(solve_type(v));
    c->mirror = mem_new(A->nnz, sizeof *c->mirror, "the mirror images of entries", e);
    c->at = mem_new(A->rows, sizeof *c->at, "the columns of a row", e);
    c->inverse = mem_new(v->n, sizeof *c->inverse, "the inverted diagonal", e);
    c->f.val = mem_new(parts * A->nnz, sizeof *c->f.val, "the factor of ic0", e);
    c->f.lower = c->f.upper = c->inverse;
    c->sign = diagonal_is_negative(A) ? -1 : 1;
    bool ok = c->mirror && c->at && c->inverse && c->f.val;
    ok = ok && find_mirrors(c, e) && factorise_shifted(v, c, e) && check_pivots(v, c, e);
    if (ok && A->imag) make_pairs(c);
    return ok && triangles_make(v, &c->f, e);
}

static bool make(struct solve *v, struct err *e)
{
    struct cholesky c = {0};
    int *diag = mem_new(v->matrix.csr->rows, sizeof *diag, "the positions of the diagonal", e);
    bool ok = diag && triangle_matrix_of(v, who, &c.matrix, diag, e);
    c.f = (struct factors){.A = c.matrix.A, .diag = diag, .names = c.matrix.names};
    ok = ok && make_factors(v, &c, e);
    triangle_matrix_free(&c.matrix);
    mem_free(diag);
    mem_free(c.mirror);
    mem_free(c.at);
    mem_free(c.inverse);
    mem_free(c.f.val);
    return ok;
}

const struct precond precond_ic0 = {
    .name = "ic0",
    .aliases = "ic ichol ic(0)",
    .about = "incomplete Cholesky factors in A's own pattern, with a larger diagonal if necessary",
    .source = "Meijerink and van der Vorst 1977; Manteuffel 1980",
    .needs = "a symmetric or hermitian positive definite matrix",
    .symmetric = true,
    .long_apply = true,
    .triangles = true,
    .takes_complex = true,
    .make = make,
    .apply = triangles_apply,
    .restore = triangles_restore,
    .drop = triangles_drop,
    .bytes = triangles_bytes,
    .note = triangles_note,
    .how = triangles_how,
    .peers = {.petsc = "-pc_type icc -pc_factor_levels 0",
              .ginkgo = "\"type\": \"preconditioner::Ic\", \"factorization\": {\"type\": \"factorization::Ic\"}"},
};
