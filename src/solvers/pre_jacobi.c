/* Jacobi's preconditioner, the diagonal of A: z_i = r_i / a_ii. A solver for symmetric matrices needs a positive
   definite M, so z_i = r_i / |a_ii| for such a solver. */
#include "base/mem.h"
#include "base/text.h"
#include "base/threads.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>

/* ---- what all preconditioners that are a diagonal share ---- */

enum { DINV }; /* part 0, as the trait `diagonal` requires */

/* For a solve of several columns: element i of the diagonal stands once for each column. */
static void repeat(struct solve *v, double *dinv)
{
    for (int64_t i = v->columns.n ? v->matrix.csr->rows - 1 : -1; i >= 0; i--) {
        double value = dinv[i];
        for (int c = 0; c < v->columns.n; c++) dinv[i * v->columns.n + c] = value;
    }
}

bool diagonal_put(struct solve *v, double *dinv, const char *what, struct err *e)
{
    repeat(v, dinv);
    v->pre.part[DINV] = solve_room(v, 1, type_size(v->real), what, e);
    return v->pre.part[DINV] && solve_put(v, v->pre.part[DINV], dinv, e);
}

bool diagonal_apply(struct solve *v, const void *r, void *z, struct err *e)
{
    v->ops.vec->mul(v->dev, v->n, v->scalars, v->pre.part[DINV], r, z);
    return true;
}

double diagonal_bytes(const struct solve *v)
{
    return 3.0 * (double)type_size(v->real) * (double)v->n;
}

/* ---- the diagonal of A ---- */

enum { NOTE_NEGATIVE }; /* number of diagonal entries whose sign was changed */

/* The diagonal of a hermitian matrix is real. */
static void take_absolute(struct solve *v, double *dinv)
{
    int64_t rows = v->matrix.csr->rows, parts = v->matrix.csr->imag ? 2 : 1;
    int64_t negative = 0;
#pragma omp parallel for reduction(+ : negative) if (rows > THREADS_FROM)
    for (int64_t i = 0; i < rows; i++) {
        negative += dinv[parts * i] < 0;
        dinv[parts * i] = fabs(dinv[parts * i]);
    }
    v->pre.note[NOTE_NEGATIVE] = negative;
}

static bool make(struct solve *v, struct err *e)
{
    double *dinv = mem_new(v->n, sizeof *dinv, "the inverted diagonal", e);
    bool ok = dinv && diagonal_inverse(v->system.A, "the preconditioner jacobi", 1, dinv, e);
    v->pre.note[NOTE_NEGATIVE] = 0;
    if (ok && v->solver->symmetric) take_absolute(v, dinv);
    ok = ok && diagonal_put(v, dinv, "the inverted diagonal", e);
    mem_free(dinv);
    return ok;
}

static void note(const struct solve *v, char *out, size_t size)
{
    if (v->pre.note[NOTE_NEGATIVE])
        snprintf(out, size, "|a_ii| in place of %s", how_many(v->pre.note[NOTE_NEGATIVE], "negative entry").text);
}

const struct precond precond_jacobi = {
    .name = "jacobi",
    .aliases = "diagonal diag",
    .about = "the diagonal: corrects bad scaling",
    .source = "textbook",
    .needs = "no zero on the diagonal",
    .symmetric = true,
    .diagonal = true,
    .takes_complex = true,
    .making = 20,
    .make = make,
    .apply = diagonal_apply,
    .bytes = diagonal_bytes,
    .note = note,
    .peers = {.petsc = "-pc_type jacobi",
              .hypre = "HYPRE_ParCSRDiagScale",
              .hypre_setup = "HYPRE_ParCSRDiagScaleSetup",
              .amgx = "\"solver\": \"BLOCK_JACOBI\", \"max_iters\": 1",
              .ginkgo = "\"type\": \"preconditioner::Jacobi\", \"max_block_size\": 1",
              .scipy = "M = sparse.diags_array(1 / A.diagonal())\n",
              .cuda = "    for (int i = 0; i < n; i++) inverse[i] = 1 / diagonal[i];\n"},
};
