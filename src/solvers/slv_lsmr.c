/* LSMR (Fong and Saunders 2011): MINRES on the normal equations, from the Golub-Kahan process of slv_lsqr.c. */
#include "base/base.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

enum { LSMR_H = LEAST_OWN, LSMR_HBAR };

/* the vectors that the second half of an iteration changes in place */
static const int changed[] = {VEC_X, LEAST_V, LSMR_H, LSMR_HBAR, VEC_Z};

static bool init(struct solve *v, struct err *e)
{
    return least_begin(v, e) &&
           PASS(v, lsmr, begin, e,
                VECTORS(least_direction(v), v->vec[VEC_X], precond_diagonal(v), v->vec[LSMR_H], v->vec[LSMR_HBAR]));
}

static bool step(struct solve *v, struct err *e)
{
    if (!least_next(v, COUNT(changed) - !v->pre.method, changed, e)) return false;
    phase_begin(v, PHASE_STEP);
    return PASS(v, lsmr, step, e,
                VECTORS(least_direction(v), precond_diagonal(v), v->vec[LSMR_H], v->vec[LSMR_HBAR], v->vec[VEC_X]));
}

/* As in lsqr, with one vector more that is read and written. */
static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return least_bytes(A, real, 5, 12);
}

const struct solver solver_lsmr = {
    .name = "lsmr",
    .about = "least squares: ||A' (b - A x)|| never grows, so that it can stop early; A of any shape",
    .source = "Fong and Saunders 2011",
    .needs = "a real matrix of any shape, and memory for its transpose",
    .advice =
        "lsmr converges slowly if A is ill-conditioned; precond columns may help, and `solve direct spqr` factors",
    .cost =
        "one SpMV with A and one with A', 5 vectors of the rows and 12 of the columns read or written; memory for 3 "
        "vectors of the rows and 5 of the columns, and for A'",
    .when =
        "for least squares: the residual of the normal equations falls smoothly, and the solve may stop earlier than "
        "lsqr; from x0 = 0, x is the one of least norm",
    .vectors = 6,
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
    .peers = {.scipy =
                  "x, why, iterations = linalg.lsmr(A, b, atol=tol, btol=tol, conlim=conlim, maxiter=maxit)[:3]\n"},
};
