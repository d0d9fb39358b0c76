/* Incomplete Cholesky factorisation without fill: L L' = A wherever A has an entry, or L L' = -A if the diagonal of A
   is negative: solvers for symmetric matrices need a positive definite M. If a pivot is not positive, the diagonal of A
   is increased (Manteuffel 1980). */
#include "matrix/csr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "level_schedule.h"
#include "precond.h"
#include "solve.h"
#include "triangles.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>

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
    double *inverse;    /* of the diagonal of L; for a pivot that is not positive, that pivot */
    struct order order; /* in which the rows are eliminated */
    double sign;        /* -1: the factors are those of -A */
    double shift;       /* relative increase of the diagonal */
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

/* Does row i have a mirror image for every entry to the left of the diagonal, and a real diagonal? Counts the entries
   to the right of the diagonal in *right. */
static bool mirrored(struct cholesky *c, int64_t i, int64_t *right)
{
    const struct csr *A = c->f.A;
    *right += A->rowptr[i + 1] - c->f.diag[i] - 1;
    for (int k = A->rowptr[i]; k < c->f.diag[i]; k++) {
        int64_t l = csr_find(A, A->col[k], i);
        if (l < 0 || differ(A, k, l)) return false;
        c->mirror[k] = (int)l;
    }
    *right -= c->f.diag[i] - A->rowptr[i];
    return !differ(A, c->f.diag[i], c->f.diag[i]);
}

/* Name the first entry that has no mirror image. Visit the entries to the left of the diagonal row by row. Their mirror
   images in any row j then come in storage order, so next[j] is the position of the next mirror image in row j. */
static bool name_asymmetry(struct cholesky *c, struct err *e)
{
    const struct csr *A = c->f.A;
    int *next = mem_new(A->rows, sizeof *next, "the columns of a row", e);
    struct loop loop = loop_of("the mirror images of entries", A->rows);
    bool ok = next != NULL;
    for (int64_t i = 0; ok && i < A->rows && loop_goes(&loop, i); i++) next[i] = c->f.diag[i] + 1;
    for (int64_t i = 0; ok && i < A->rows && loop_goes(&loop, i); i++)
        for (int k = A->rowptr[i]; k < c->f.diag[i] && ok; k++) {
            int j = A->col[k], l = next[j]++;
            if (l >= A->rowptr[j + 1] || A->col[l] > i)
                ok = refuse(c, i, j, e);
            else if (A->col[l] < i)
                ok = refuse(c, j, A->col[l], e);
            else if (differ(A, k, l))
                ok = refuse(c, i, j, e);
        }
    for (int64_t i = 0; ok && i < A->rows && loop_goes(&loop, i); i++) {
        if (next[i] < A->rowptr[i + 1])
            ok = refuse(c, i, A->col[next[i]], e);
        else if (differ(A, c->f.diag[i], c->f.diag[i]))
            ok = refuse(c, i, i, e);
    }
    mem_free(next);
    return ok && loop_end(&loop, e);
}

static bool find_mirrors(struct cholesky *c, struct err *e)
{
    int64_t rows = c->f.A->rows, right = 0, bad = 0;
    struct loop l = loop_of("the mirror images of entries", rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : right, bad) if (c->f.A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, rows); i < end; i++) bad += !mirrored(c, i, &right);
    if (!loop_end(&l, e)) return false;
    return (!bad && !right) || name_asymmetry(c, e);
}

/* The sum of l_ik l_jk, where row i has the entries a .. a_end-1 and row j has b .. b_end-1, in ascending order. */
static double product_of_rows(const int *col, const double *val, int a, int a_end, int b, int b_end, double sum)
{
    while (a < a_end && b < b_end) {
        int i = col[a], j = col[b];
        if (i == j) sum -= val[a] * val[b];
        a += i <= j;
        b += j <= i;
    }
    return sum;
}

static double complex complex_product_of_rows(const int *col, const double complex *val, int a, int a_end, int b,
                                              int b_end, double complex sum)
{
    while (a < a_end && b < b_end) {
        int i = col[a], j = col[b];
        if (i == j) sum -= val[a] * conj(val[b]);
        a += i <= j;
        b += j <= i;
    }
    return sum;
}

/* l_ij = (a_ij - the sum of l_ik l_jk) / l_jj along row i; returns the pivot, l_ii^2. */
static double eliminate_row(struct cholesky *c, int64_t i, double diagonal)
{
    const struct csr *A = c->f.A;
    double *val = c->f.val;
    int from = A->rowptr[i];
    for (int k = from; k < c->f.diag[i]; k++) {
        int j = A->col[k];
        double sum = product_of_rows(A->col, val, from, k, A->rowptr[j], c->f.diag[j], val[k]);
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
    int from = A->rowptr[i];
    for (int k = from; k < c->f.diag[i]; k++) {
        int j = A->col[k];
        double complex sum = complex_product_of_rows(A->col, val, from, k, A->rowptr[j], c->f.diag[j], val[k]);
        val[k] = sum * c->inverse[j];
        val[c->mirror[k]] = conj(val[k]);
        diagonal -= creal(val[k] * conj(val[k]));
    }
    return diagonal;
}

/* Eliminate a row; false: its pivot is not positive. */
static bool eliminate(void *ctx, int64_t i)
{
    struct cholesky *c = ctx;
    const struct csr *A = c->f.A;
    double diagonal = (1 + c->shift) * c->sign * A->val[c->f.diag[i]];
    double pivot = (A->imag ? eliminate_complex_row : eliminate_row)(c, i, diagonal);
    c->inverse[i] = pivot > 0 ? 1 / sqrt(pivot) : pivot;
    return pivot > 0;
}

/* Returns the first row whose pivot is not positive, with that pivot in *pivot; returns the number of rows if all
   pivots are positive, and -1 if the user cancelled. */
static int64_t factorise(const struct solve *v, struct cholesky *c, double *pivot, struct err *e)
{
    const struct csr *A = c->f.A;
    int64_t first, values = (A->imag ? 2 : 1) * A->nnz;
    if (!values_of(A, c->f.val, e)) return -1;
    struct loop l = loop_of("ic0", values);
    for (int64_t k = 0; k < values && c->sign < 0 && loop_goes(&l, k); k++) c->f.val[k] = -c->f.val[k];
    if (!loop_end(&l, e) || !eliminate_rows(&c->order, v->matrix.watch, "ic0", eliminate, c, &first, e)) return -1;
    if (first < A->rows) *pivot = c->inverse[first];
    return first;
}

static bool factorise_shifted(struct solve *v, struct cholesky *c, struct err *e)
{
    double pivot = 0, least = 0;
    int64_t row = 0, first = -1;
    for (int k = 0; k < COUNT(shifts); k++) {
        c->shift = shifts[k];
        row = factorise(v, c, &pivot, e);
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
    c->inverse = mem_new(v->n, sizeof *c->inverse, "the inverted diagonal", e);
    c->f.val = mem_new(parts * A->nnz, sizeof *c->f.val, "the factor of ic0", e);
    c->f.lower = c->f.upper = c->inverse;
    c->sign = diagonal_is_negative(A) ? -1 : 1;
    bool ok = c->mirror && c->inverse && c->f.val;
    ok = ok && find_mirrors(c, e) && elimination_order(A, c->f.diag, &c->order, e) && factorise_shifted(v, c, e) &&
         check_pivots(v, c, e);
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
    order_free(&c.order);
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
