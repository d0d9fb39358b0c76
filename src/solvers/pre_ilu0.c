/* Incomplete LU without fill: L U = A wherever A has an entry. Rows of a level are eliminated at
   the same time; the result is that of their order in A. If a pivot is too small to divide by, small pivots are
   replaced. */
#include "base/loop.h"
#include "base/mem.h"
#include "level_schedule.h"
#include "matrix/csr.h"
#include "matrix/reorder.h"
#include "pivots.h"
#include "precond.h"
#include "solve.h"
#include "triangles.h"

#include <complex.h>

static const char who[] = "the preconditioner ilu0";

struct elimination {
    const struct solve *v;
    const struct csr *A; /* of v, or `reordered` */
    struct csr reordered;
    const int *names;      /* [rows] the row of v's matrix that each row of A is; NULL: the same row */
    const int *diag;       /* [rows] the index of each diagonal entry of A */
    double *val, *inverse; /* of the factors, and of the diagonal of U */
    struct order order;    /* in which the rows are eliminated */
    struct pivots pivots;
};

/* Subtract multiples of the rows above row i from row i, to eliminate its columns to the left of the diagonal. */
static void eliminate_row(const struct elimination *t, int64_t i)
{
    const struct csr *A = t->A;
    double *val = t->val;
    int end = A->rowptr[i + 1];
    for (int k = A->rowptr[i]; k < t->diag[i]; k++) {
        int j = A->col[k], l = t->diag[j] + 1, l_end = A->rowptr[j + 1];
        double factor = val[k] *= t->inverse[j];
        for (struct row_pair p = {A->col, k + 1, end, l, l_end, 0}; rows_meet(&p); p.a++, p.b++)
            val[p.a] -= factor * val[p.b];
    }
}

int64_t subtract_complex_row(const struct csr *A, double complex *val, int m, int end, int l, int l_end,
                             double complex factor)
{
    struct row_pair p = {A->col, m, end, l, l_end, 0};
    for (; rows_meet(&p); p.a++, p.b++) val[p.a] -= factor * val[p.b];
    return p.steps;
}

/* eliminate_row for a complex matrix. */
static void eliminate_complex_row(const struct elimination *t, int64_t i)
{
    const struct csr *A = t->A;
    const double complex *dinv = (const double complex *)t->inverse;
    double complex *val = (double complex *)t->val;
    for (int k = A->rowptr[i]; k < t->diag[i]; k++) {
        int j = A->col[k];
        double complex factor = val[k] *= dinv[j];
        subtract_complex_row(A, val, k + 1, A->rowptr[i + 1], t->diag[j] + 1, A->rowptr[j + 1], factor);
    }
}

static bool invert(struct elimination *t, int64_t i, struct err *e)
{
    int64_t parts = type_parts(t->pivots.type), row = t->names ? t->names[i] : i;
    return pivot_invert(&t->pivots, i, row, t->val + parts * t->diag[i], t->inverse + parts * i, e);
}

/* Eliminate a row; false: the program cannot divide by its pivot. */
static bool eliminate(void *ctx, int64_t i)
{
    struct elimination *t = ctx;
    (t->A->imag ? eliminate_complex_row : eliminate_row)(t, i);
    return invert(t, i, NULL);
}

/* Row i has a pivot by which the program cannot divide. */
static bool refuse(struct elimination *t, int64_t i, struct err *e)
{
    struct err why = {0};
    const char *name = t->v->matrix.name;
    invert(t, i, &why);
    return fail_at(e, why.code, why.where, "%s; `solve gmres%s%s` needs no pivots, and `solve direct` exchanges rows",
                   why.text, name ? " " : "", name ? name : "");
}

static bool take_values(struct elimination *t, struct err *e)
{
    double sign = precond_sign(t->v);
    if (!values_of(t->A, t->val, e)) return false;
    for (int64_t k = 0; sign < 0 && k < t->A->nnz * type_parts(solve_type(t->v)); k++) t->val[k] = -t->val[k];
    return true;
}

/* Eliminate all rows, with small pivots of greater and greater size, until M is of use. */
static bool factorise(struct elimination *t, const struct factors *f, struct err *e)
{
    const struct given *shift = &t->v->pre.triangles.shift;
    int64_t first = 0, rows = t->A->rows;
    int tries = pivots_tries(shift);
    if (!elimination_order(&f->lower, rows, &t->order, e)) return false;
    for (int k = 0; k < tries; k++) {
        t->pivots = pivots_try(k, shift, t->A, solve_type(t->v), who);
        if (!take_values(t, e) || !eliminate_rows(&t->order, t->v->matrix.watch, "ilu0", eliminate, t, &first, e))
            return false;
        bool stable = first == rows && (!t->pivots.replaced || k + 1 == tries || pivots_are_stable(&t->pivots, f));
        if (stable) return loop_unbroken("ilu0", e);
    }
    return first == rows || refuse(t, first, e);
}

static bool make_factors(struct solve *v, struct elimination *t, struct err *e)
{
    const struct csr *A = t->A;
    int64_t parts = type_parts(solve_type(v));
    t->inverse = mem_new(parts * A->rows, sizeof *t->inverse, "the inverted diagonal", e);
    t->val = mem_new(parts * A->nnz, sizeof *t->val, "the factors of ilu0", e);
    struct factors f = {.n = A->rows,
                        .lower = {A->rowptr, t->diag, 0, A->col, t->val},
                        .upper = {t->diag, A->rowptr + 1, 1, A->col, t->val},
                        .upper_inverse = t->inverse,
                        .names = t->names};
    if (!t->inverse || !t->val || !factorise(t, &f, e)) return false;
    pivots_note(v, &t->pivots, &f, t->val, t->inverse);
    return triangles_make(v, &f, e);
}

static bool reorder(struct elimination *t, int *diag, struct err *e)
{
    if (!t->names) return true;
    if (!reorder_apply(&t->reordered, t->A, t->names, t->v->matrix.watch, e)) return false;
    t->A = &t->reordered;
    return diagonal_places(t->A, who, diag, e);
}

static bool make(struct solve *v, struct err *e)
{
    const struct csr *A = v->system.A;
    int *names = NULL, *diag = mem_new(A->rows, sizeof *diag, "the positions of the diagonal", e);
    struct elimination t = {.v = v, .A = A, .diag = diag};
    bool ok = diag && diagonal_places(A, who, diag, e) && triangles_order(v, A, diag, false, &names, e);
    t.names = names;
    ok = ok && reorder(&t, diag, e) && make_factors(v, &t, e);
    csr_free(&t.reordered);
    mem_free(names);
    mem_free(diag);
    mem_free(t.val);
    mem_free(t.inverse);
    order_free(&t.order);
    return ok;
}

const struct precond precond_ilu0 = {
    .name = "ilu0",
    .aliases = "ilu ilu(0)",
    .about = "incomplete LU factors in A's own pattern: exact if A is tridiagonal, symmetric if A is symmetric",
    .source = "Meijerink and van der Vorst 1977",
    .needs = "an entry on the diagonal of every row, and no zero pivot",
    .symmetric = true, /* if A is symmetric, L U = L D L' up to rounding */
    .long_apply = true,
    .triangles = true,
    .takes_complex = true,
    .making = 30,
    .make = make,
    .apply = triangles_apply,
    .restore = triangles_restore,
    .drop = triangles_drop,
    .bytes = triangles_bytes,
    .note = triangles_note,
    .how = triangles_how,
    .peers = {.petsc = "-pc_type ilu -pc_factor_levels 0",
              .hypre = "HYPRE_ILUSolve",
              .hypre_setup = "HYPRE_ILUSetup",
              .amgx = "\"solver\": \"MULTICOLOR_ILU\", \"ilu_sparsity_level\": 0, \"max_iters\": 1",
              .ginkgo = "\"type\": \"preconditioner::Ilu\", \"factorization\": {\"type\": \"factorization::Ilu\"}",
              .hypre_make = "HYPRE_ILUCreate(&precond);\n"
                            "HYPRE_ILUSetType(precond, 0);\n"
                            "HYPRE_ILUSetLevelOfFill(precond, 0);\n"
                            "HYPRE_ILUSetMaxIter(precond, 1);\n"
                            "HYPRE_ILUSetTol(precond, 0);\n",
              .scipy =
                  "# SciPy has no ILU(0). SuperLU's ILU with about as many entries as A is in its place, so iterations "
                  "differ.\n"
                  "ilu = linalg.spilu(A.tocsc(), drop_tol=0.1, permc_spec=\"NATURAL\", diag_pivot_thresh=0)\n"
                  "M = linalg.LinearOperator(A.shape, ilu.solve)\n"},
};
