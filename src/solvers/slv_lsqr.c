/* LSQR (Paige and Saunders 1982): the iterates of conjugate gradients on the normal equations, from the Golub-Kahan
   process, which does not square the condition of A. Also the process itself, which lsmr shares. */
#include "base/base.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

enum { LSQR_W = LEAST_OWN };

/* the vectors that the second half of an iteration changes in place */
static const int changed[] = {VEC_X, LEAST_V, LSQR_W, VEC_Z};

const void *least_direction(const struct solve *v)
{
    return v->vec[v->pre.method ? VEC_Z : LEAST_V];
}

/* t = A' u, and the next v */
static bool right(struct solve *v, bool first, struct err *e)
{
    void *V = v->vec[LEAST_V], *z = v->pre.method ? v->vec[VEC_Z] : V;
    return PASS(v, lsqr, right, e, VECTORS(v->vec[LEAST_T], precond_diagonal(v), V, z), NUMBERS(first));
}

bool least_begin(struct solve *v, struct err *e)
{
    if (!least_put_scalars(v, e) || !solve_multiply(v, v->vec[VEC_X], v->vec[LEAST_Q], e)) return false;
    if (!PASS_ROWS(v, lsqr, begin, e, VECTORS(v->vec[VEC_B], v->vec[LEAST_Q], v->vec[LEAST_U]))) return false;
    return solve_multiply_transposed(v, v->vec[LEAST_U], v->vec[LEAST_T], e) && right(v, true, e);
}

/* q = A v, and the next u */
static bool left(struct solve *v, struct err *e)
{
    static const int u = LEAST_U;
    if (v->cut.stage) return true;
    phase_begin(v, PHASE_SPMV);
    if (!solve_multiply(v, least_direction(v), v->vec[LEAST_Q], e)) return false;
    phase_begin(v, PHASE_UPDATE);
    return cut_hold(v, 1, &u, false, e) && PASS_ROWS(v, lsqr, left, e, VECTORS(v->vec[LEAST_Q], v->vec[LEAST_U])) &&
           cut_release(v, 1, e);
}

bool least_next(struct solve *v, int n, const int *list, struct err *e)
{
    if (!left(v, e)) return false;
    phase_begin(v, PHASE_SPMV_TRANSPOSED);
    if (!solve_multiply_transposed(v, v->vec[LEAST_U], v->vec[LEAST_T], e)) return false;
    phase_begin(v, PHASE_DIRECTION);
    return cut_hold(v, n, list, false, e) && right(v, false, e);
}

double least_bytes(const struct csr *A, size_t real, int row_vectors, int col_vectors)
{
    double vectors = row_vectors * (double)A->rows + col_vectors * (double)A->cols;
    return 2 * csr_bytes(A, real) + 4 * (double)(A->cols - A->rows) + (double)real * vectors;
}

static bool move(struct solve *v, bool first, struct err *e)
{
    return PASS(v, lsqr, step, e, VECTORS(least_direction(v), precond_diagonal(v), v->vec[LSQR_W], v->vec[VEC_X]),
                NUMBERS(first));
}

static bool init(struct solve *v, struct err *e)
{
    return least_begin(v, e) && move(v, true, e);
}

static bool step(struct solve *v, struct err *e)
{
    if (!least_next(v, COUNT(changed) - !v->pre.method, changed, e)) return false;
    phase_begin(v, PHASE_STEP);
    return move(v, false, e);
}

/* Of the rows: q is written and read, u is read twice and written. Of the columns: v is read twice and written, then
   read for the step; t is written and read; w and x are read and written. */
static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return least_bytes(A, real, 5, 10);
}

const struct solver solver_lsqr = {
    .name = "lsqr",
    .about = "least squares: the residual ||b - A x|| never grows; A of any shape",
    .source = "Paige and Saunders 1982",
    .needs = "a real matrix of any shape, and memory for its transpose",
    .advice =
        "lsqr converges slowly if A is ill-conditioned; precond columns may help, and `solve direct spqr` factors",
    .cost =
        "one SpMV with A and one with A', 5 vectors of the rows and 10 of the columns read or written; memory for 3 "
        "vectors of the rows and 4 of the columns, and for A'",
    .when = "for a rectangular or singular matrix: finds the x that minimises ||b - A x||, and from x0 = 0 the one of "
            "least norm. If x solves A x = b, lsqr and lsmr need about as many iterations",
    .vectors = 5,
    .window = 1000,
    .window_per_row = 3,
    .window_most = 10000,
    .own_precond = true,
    .probes = true,
    .least_squares = true,
    .transposed_products = true,
    .row_vectors = LEAST_ROW_VECTORS,
    .products = 1,
    .diagonal_vectors = 3,
    .bytes = bytes,
    .init = init,
    .step = step,
    .explain = least_explain_condition,
    .peers = {.petsc = "-ksp_type lsqr",
              .scipy =
                  "x, why, iterations = linalg.lsqr(A, b, atol=tol, btol=tol, conlim=conlim, iter_lim=maxit)[:3]\n"},
};
