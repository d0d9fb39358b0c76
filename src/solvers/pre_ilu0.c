/* Incomplete LU without fill: L U = A wherever A has an entry. Rows are eliminated in their order in A. */
#include "matrix/csr.h"
#include "base/loop.h"
#include "base/mem.h"
#include "precond.h"
#include "solve.h"
#include "triangles.h"
#include "base/watch.h"

#include <complex.h>

enum { TICK_ROWS = 256 };

static const char who[] = "the preconditioner ilu0";

/* Subtract multiples of the rows above row i from row i, to eliminate its columns to the left of the diagonal.
   at[column] is the position of that column in row i, or -1. */
static void eliminate_row(const struct factors *f, const double *inverse, int64_t i, const int *at)
{
    const struct csr *A = f->A;
    for (int k = A->rowptr[i]; k < f->diag[i]; k++) {
        int j = A->col[k];
        double factor = f->val[k] *= inverse[j];
        for (int l = f->diag[j] + 1; l < A->rowptr[j + 1]; l++)
            if (at[A->col[l]] >= 0) f->val[at[A->col[l]]] -= factor * f->val[l];
    }
}

/* The same for a complex matrix. */
static void eliminate_complex_row(const struct factors *f, const double *inverse, int64_t i, const int *at)
{
    const struct csr *A = f->A;
    const double complex *dinv = (const double complex *)inverse;
    double complex *val = (double complex *)f->val;
    for (int k = A->rowptr[i]; k < f->diag[i]; k++) {
        int j = A->col[k];
        double complex factor = val[k] *= dinv[j];
        for (int l = f->diag[j] + 1; l < A->rowptr[j + 1]; l++)
            if (at[A->col[l]] >= 0) val[at[A->col[l]]] -= factor * val[l];
    }
}

static bool factorise(const struct solve *v, const struct triangle_matrix *m, const struct factors *f, double *inverse,
                      int *at, struct err *e)
{
    const struct csr *A = f->A;
    int64_t parts = type_parts(solve_type(v));
    if (!loop_fill(at, A->rows, -1, "ilu0", e)) return false;
    for (int64_t i = 0; i < A->rows; i++) {
        if (i % TICK_ROWS == 0 && !watch_tick(v->matrix.watch, "ilu0", i, A->rows, e)) return false;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) at[A->col[k]] = k;
        (A->imag ? eliminate_complex_row : eliminate_row)(f, inverse, i, at);
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) at[A->col[k]] = -1;
        if (!invert_pivot(f->val + parts * f->diag[i], solve_type(v), who, triangle_row(m, i), inverse + parts * i, e))
            return false;
    }
    return true;
}

static bool make_factors(struct solve *v, const struct triangle_matrix *m, const int *diag, struct err *e)
{
    const struct csr *A = m->A;
    int64_t parts = type_parts(solve_type(v));
    int *at = mem_new(A->rows, sizeof *at, "the columns of a row", e);
    double *inverse = mem_new(parts * A->rows, sizeof *inverse, "the inverted diagonal", e);
    double *val = mem_new(parts * A->nnz, sizeof *val, "the factors of ilu0", e);
    struct factors f = {.A = A, .diag = diag, .val = val, .upper = inverse, .names = m->names};
    v->pre.note[TRI_SHIFT] = 0;
    bool ok =
        at && inverse && val && values_of(A, val, e) && factorise(v, m, &f, inverse, at, e) && triangles_make(v, &f, e);
    mem_free(at);
    mem_free(inverse);
    mem_free(val);
    return ok;
}

static bool make(struct solve *v, struct err *e)
{
    struct triangle_matrix m = {0};
    int *diag = mem_new(v->matrix.csr->rows, sizeof *diag, "the positions of the diagonal", e);
    bool ok = diag && triangle_matrix_of(v, who, &m, diag, e) && make_factors(v, &m, diag, e);
    triangle_matrix_free(&m);
    mem_free(diag);
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
                            "HYPRE_ILUSetTol(precond, 0);\n"},
};
