/* Incomplete Cholesky factorisation without fill: L L' = A wherever A has an entry, or L L' = -A if the diagonal of A
   is negative: solvers for symmetric matrices need a positive definite M. If a pivot is not positive, the diagonal of A
   is increased (Manteuffel 1980). */
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "level_schedule.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "matrix/symmetry.h"
#include "precond.h"
#include "solve.h"
#include "solver.h"
#include "triangle_half.h"
#include "triangles.h"

#include <complex.h>
#include <math.h>

static const char who[] = "the preconditioner ic0";

/* Of nine positive definite matrices that fail without an increase, 0.01 or less helps none, 0.03 helps one, 0.1 helps
   five, and 0.3 helps all nine. The larger ones are for matrices that are not definite, whose
   solver needs no definite matrix. */
const double ic0_shifts[IC0_SHIFTS] = {0, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10};

struct cholesky {
    const struct csr *A;
    int *diag;          /* [rows] the index of each diagonal entry of A */
    int *names;         /* [rows] the row of A that each row of L is; NULL: the same row */
    struct half L, U;   /* L: its values; U: the pattern of L', if the rows have names */
    double *inverse;    /* of the diagonal of L; for a pivot that is not positive, that pivot */
    struct order order; /* in which the rows are eliminated */
    double sign;        /* -1: the factors are those of -A */
    double shift;       /* relative increase of the diagonal */
};

/* The row of A that row i of L is. */
static int64_t row_of_a(const struct cholesky *c, int64_t i)
{
    return c->names ? c->names[i] : i;
}

/* The sum of l_ik l_jk, where row i has the entries a .. a_end-1 and row j has b .. b_end-1, in ascending order. */
static double product_of_rows(const int *col, const double *val, int a, int a_end, int b, int b_end, double sum)
{
    for (struct row_pair p = {col, a, a_end, b, b_end, 0}; rows_meet(&p); p.a++, p.b++) sum -= val[p.a] * val[p.b];
    return sum;
}

static double complex complex_product_of_rows(const int *col, const double complex *val, int a, int a_end, int b,
                                              int b_end, double complex sum)
{
    for (struct row_pair p = {col, a, a_end, b, b_end, 0}; rows_meet(&p); p.a++, p.b++)
        sum -= val[p.a] * conj(val[p.b]);
    return sum;
}

/* l_ij = (a_ij - the sum of l_ik l_jk) / l_jj along row i; returns the pivot, l_ii^2. */
static double eliminate_row(struct cholesky *c, int64_t i, double diagonal)
{
    const int *ptr = c->L.ptr, *col = c->L.col;
    double *val = c->L.val;
    for (int from = ptr[i], k = from; k < ptr[i + 1]; k++) {
        int j = col[k];
        val[k] = product_of_rows(col, val, from, k, ptr[j], ptr[j + 1], val[k]) * c->inverse[j];
        diagonal -= val[k] * val[k];
    }
    return diagonal;
}

/* The same for a hermitian matrix, with the conjugates of l_jk. The diagonal of L is real. */
static double eliminate_complex_row(struct cholesky *c, int64_t i, double diagonal)
{
    const int *ptr = c->L.ptr, *col = c->L.col;
    double complex *val = (double complex *)c->L.val;
    for (int from = ptr[i], k = from; k < ptr[i + 1]; k++) {
        int j = col[k];
        val[k] = complex_product_of_rows(col, val, from, k, ptr[j], ptr[j + 1], val[k]) * c->inverse[j];
        diagonal -= creal(val[k] * conj(val[k]));
    }
    return diagonal;
}

/* Eliminate a row; false: its pivot is not positive. */
static bool eliminate(void *ctx, int64_t i)
{
    struct cholesky *c = ctx;
    const struct csr *A = c->A;
    double diagonal = (1 + c->shift) * c->sign * A->val[c->diag[row_of_a(c, i)]];
    double pivot = (A->imag ? eliminate_complex_row : eliminate_row)(c, i, diagonal);
    c->inverse[i] = pivot > 0 ? 1 / sqrt(pivot) : pivot;
    return pivot > 0;
}

/* Returns the first row whose pivot is not positive, with that pivot in *pivot; returns the number of rows if all
   pivots are positive, and -1 if the user cancelled. */
static int64_t factorise(const struct solve *v, struct cholesky *c, double *pivot, struct err *e)
{
    int64_t first;
    if (!eliminate_rows(&c->order, v->matrix.watch, "ic0", eliminate, c, &first, e)) return -1;
    if (first < c->A->rows) *pivot = c->inverse[first];
    return first;
}

static void note_shift(struct solve *v, double shift)
{
    v->pre.note[TRI_SHIFT] = llround(1e6 * shift);
    v->pre.note[TRI_REPLACED] = v->pre.note[TRI_TURNED] = v->pre.note[TRI_FILL] = 0;
}

static bool factorise_shifted(struct solve *v, struct cholesky *c, struct err *e)
{
    double pivot = 0, least = 0;
    int64_t row = 0, first = -1;
    const struct given *given = &v->pre.triangles.shift;
    int tries = given->set ? 1 : v->solver->definite ? IC0_SMALL : IC0_SHIFTS;
    for (int k = 0; k < tries; k++) {
        if (k > 0 && !half_copy(&c->L, c->A, c->diag, c->sign, e)) return false;
        c->shift = given->set ? given->value : ic0_shifts[k];
        row = factorise(v, c, &pivot, e);
        note_shift(v, c->shift);
        if (row == c->A->rows) return true;
        if (row < 0) return false;
        if (first < 0) first = row, least = pivot;
    }
    return fail(
        e, E_NUMERIC,
        "%s: the pivot of row %lld (counted from 0) is %.3g, not positive, and increasing the diagonal by %s%g of "
        "itself does not help; the matrix is not positive definite, or only barely: use ilu0 or jacobi",
        who, (long long)row_of_a(c, first), least, given->set ? "" : "up to ", c->shift);
}

/* Invert the diagonal of L, which holds the square roots of the pivots. */
static bool invert_root(const struct solve *v, const struct cholesky *c, int64_t i, double *inverse, struct err *e)
{
    double root = 1 / c->inverse[i];
    return invert_pivot(&root, v->real, who, row_of_a(c, i), inverse, e);
}

/* Check that values of type v->real can be divided by the diagonal of L. */
static bool check_pivots(const struct solve *v, struct cholesky *c, struct err *e)
{
    int64_t rows = c->A->rows, first = rows;
    struct loop l = loop_of("the pivots", rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(min : first) if (rows > THREADS_FROM)
    for (int64_t from = 0; from < rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, rows); i < end; i++) {
            double inverse;
            if (invert_root(v, c, i, &inverse, NULL))
                c->inverse[i] = inverse;
            else if (i < first)
                first = i;
        }
    if (!loop_end(&l, e)) return false;
    return first == rows || invert_root(v, c, first, &c->inverse[first], e);
}

/* Make pairs with imaginary part 0 of the inverted diagonal. */
static void make_pairs(struct cholesky *c)
{
    for (int64_t i = c->A->rows - 1; i >= 0; i--) {
        c->inverse[2 * i] = c->inverse[i];
        c->inverse[2 * i + 1] = 0;
    }
}

/* The values of U = L' are those of L. Its pattern is that of A, if the rows keep their order. */
static bool put_factors(struct solve *v, struct cholesky *c, struct err *e)
{
    const struct csr *A = c->A;
    struct entries right = {c->diag, A->rowptr + 1, 1, A->col, NULL};
    if (c->names && !half_make(&c->U, A, c->diag, c->names, true, 0, e)) return false;
    if (A->imag) make_pairs(c);
    struct factors f = {.n = A->rows,
                        .lower = half_entries(&c->L),
                        .upper = c->names ? half_entries(&c->U) : right,
                        .lower_inverse = c->inverse,
                        .upper_inverse = c->inverse,
                        .names = c->names};
    return triangles_make(v, &f, e);
}

static bool make_factors(struct solve *v, struct cholesky *c, struct err *e)
{
    const struct csr *A = c->A;
    c->diag = mem_new(A->rows, sizeof *c->diag, "the positions of the diagonal", e);
    if (!c->diag || !diagonal_places(A, who, c->diag, e) || !triangles_order(v, A, c->diag, true, &c->names, e))
        return false;
    c->sign = diagonal_is_negative(A) ? -1 : 1;
    c->inverse = mem_new(v->n, sizeof *c->inverse, "the inverted diagonal", e);
    if (!c->inverse || !half_make(&c->L, A, c->diag, c->names, false, c->sign, e)) return false;
    struct entries L = half_entries(&c->L);
    return elimination_order(&L, A->rows, &c->order, e) && factorise_shifted(v, c, e) && check_pivots(v, c, e) &&
           put_factors(v, c, e);
}

/* (A + A') / 2, where A' is the conjugate transpose. */
static bool hermitian_part(struct csr *out, const struct csr *A, struct err *e)
{
    struct csr T = {0};
    bool ok = csr_transpose(&T, A, e) && (!A->imag || csr_conjugate(&T, e)) && csr_sum(out, 0.5, A, 0.5, &T, e);
    csr_free(&T);
    return ok;
}

/* A itself if it is hermitian, otherwise its hermitian part in *part, if A is hermitian up to rounding. A is `of` times
   a power of 2; an error shows the entries of `of`. */
static const struct csr *exactly_hermitian(const struct csr *A, const struct csr *of, struct csr *part, struct err *e)
{
    struct symmetry s;
    if (!symmetry_of(A, NULL, &s, e)) return NULL;
    if (s.hermitian && s.pattern) return A;
    if (!s.rounding) return symmetry_needed(of, who, "use ilu0", e) ? A : NULL;
    return hermitian_part(part, A, e) ? part : NULL;
}

static bool make(struct solve *v, struct err *e)
{
    struct csr part = {0};
    struct cholesky c = {.A = exactly_hermitian(v->system.A, v->matrix.csr, &part, e)};
    bool ok = c.A && make_factors(v, &c, e);
    mem_free(c.diag);
    mem_free(c.names);
    half_free(&c.L);
    half_free(&c.U);
    mem_free(c.inverse);
    order_free(&c.order);
    csr_free(&part);
    return ok;
}

const struct precond precond_ic0 = {
    .name = "ic0",
    .aliases = "ic ichol ic(0)",
    .about = "incomplete Cholesky factors in A's own pattern, with a larger diagonal if necessary",
    .source = "Meijerink and van der Vorst 1977; Manteuffel 1980",
    .needs = "a symmetric or hermitian positive definite matrix",
    .uses = "factors the mean of A and A'",
    .symmetric = true,
    .long_apply = true,
    .triangles = true,
    .takes_complex = true,
    .making = 40,
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
