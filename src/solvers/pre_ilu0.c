/* Incomplete LU without fill: L U = A wherever A has an entry. Rows of a level are eliminated at
   the same time; the result is that of their order in A. */
#include "level_schedule.h"
#include "matrix/csr.h"
#include "base/mem.h"
#include "precond.h"
#include "solve.h"
#include "triangles.h"

#include <complex.h>

static const char who[] = "the preconditioner ilu0";

struct elimination {
    const struct solve *v;
    const struct triangle_matrix *matrix;
    struct factors f;
    double *inverse;    /* of the diagonal of U */
    struct order order; /* in which the rows are eliminated */
};

/* Subtract multiples of the rows above row i from row i, to eliminate its columns to the left of the diagonal. Two rows
   meet in a merge, since the columns of each row ascend. */
static void eliminate_row(const struct elimination *t, int64_t i)
{
    const struct csr *A = t->f.A;
    double *val = t->f.val;
    int end = A->rowptr[i + 1];
    for (int k = A->rowptr[i]; k < t->f.diag[i]; k++) {
        int j = A->col[k], l = t->f.diag[j] + 1, l_end = A->rowptr[j + 1];
        double factor = val[k] *= t->inverse[j];
        for (int m = k + 1; m < end && l < l_end;) {
            int a = A->col[m], b = A->col[l];
            if (a == b) val[m] -= factor * val[l];
            m += a <= b;
            l += b <= a;
        }
    }
}

/* The same for a complex matrix. */
static void eliminate_complex_row(const struct elimination *t, int64_t i)
{
    const struct csr *A = t->f.A;
    const double complex *dinv = (const double complex *)t->inverse;
    double complex *val = (double complex *)t->f.val;
    int end = A->rowptr[i + 1];
    for (int k = A->rowptr[i]; k < t->f.diag[i]; k++) {
        int j = A->col[k], l = t->f.diag[j] + 1, l_end = A->rowptr[j + 1];
        double complex factor = val[k] *= dinv[j];
        for (int m = k + 1; m < end && l < l_end;) {
            int a = A->col[m], b = A->col[l];
            if (a == b) val[m] -= factor * val[l];
            m += a <= b;
            l += b <= a;
        }
    }
}

static bool invert(const struct elimination *t, int64_t i, struct err *e)
{
    enum type type = solve_type(t->v);
    int64_t parts = type_parts(type);
    return invert_pivot(t->f.val + parts * t->f.diag[i], type, who, triangle_row(t->matrix, i), t->inverse + parts * i,
                        e);
}

/* Eliminate a row; false: the program cannot divide by its pivot. */
static bool eliminate(void *ctx, int64_t i)
{
    struct elimination *t = ctx;
    (t->f.A->imag ? eliminate_complex_row : eliminate_row)(t, i);
    return invert(t, i, NULL);
}

static bool factorise(struct elimination *t, struct err *e)
{
    int64_t first;
    if (!values_of(t->f.A, t->f.val, e) || !elimination_order(t->f.A, t->f.diag, &t->order, e)) return false;
    if (!eliminate_rows(&t->order, t->v->matrix.watch, "ilu0", eliminate, t, &first, e)) return false;
    return first == t->f.A->rows || invert(t, first, e);
}

static bool make_factors(struct solve *v, const struct triangle_matrix *m, const int *diag, struct err *e)
{
    const struct csr *A = m->A;
    int64_t parts = type_parts(solve_type(v));
    double *inverse = mem_new(parts * A->rows, sizeof *inverse, "the inverted diagonal", e);
    double *val = mem_new(parts * A->nnz, sizeof *val, "the factors of ilu0", e);
    struct elimination t = {
        v, m, {.A = A, .diag = diag, .val = val, .upper = inverse, .names = m->names}, inverse, {0}};
    v->pre.note[TRI_SHIFT] = 0;
    bool ok = inverse && val && factorise(&t, e) && triangles_make(v, &t.f, e);
    order_free(&t.order);
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
