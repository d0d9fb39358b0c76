/* CGLS (Hestenes and Stiefel 1952): conjugate gradients on the normal equations A' A x = A' b, which keep r = b - A x
   in place of A' r. In exact arithmetic, its iterates are those of lsqr. */
#include "base/base.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

enum { CGLS_R = VEC_OWN, CGLS_Q, CGLS_P, CGLS_T };

/* the vectors that the second half of an iteration changes in place */
static const int changed[] = {VEC_X, CGLS_P};

/* t = A' r, and the norm of the normal equations */
static bool normal(struct solve *v, struct err *e)
{
    phase_begin(v, PHASE_SPMV_TRANSPOSED);
    if (!solve_multiply_transposed(v, v->vec[CGLS_R], v->vec[CGLS_T], e)) return false;
    phase_begin(v, PHASE_DOT);
    return PASS(v, cgls, normal, e, VECTORS(v->vec[CGLS_T], precond_diagonal(v)));
}

static bool move(struct solve *v, bool first, struct err *e)
{
    return PASS(v, cgls, step, e, VECTORS(v->vec[CGLS_T], precond_diagonal(v), v->vec[CGLS_P], v->vec[VEC_X]),
                NUMBERS(first));
}

static bool init(struct solve *v, struct err *e)
{
    if (!least_put_scalars(v, e) || !solve_multiply(v, v->vec[VEC_X], v->vec[CGLS_Q], e)) return false;
    return PASS_ROWS(v, cgls, begin, e, VECTORS(v->vec[VEC_B], v->vec[CGLS_Q], v->vec[CGLS_R])) && normal(v, e) &&
           move(v, true, e);
}

/* q = A p, and r -= alpha q */
static bool residual(struct solve *v, struct err *e)
{
    static const int r = CGLS_R;
    if (v->cut.stage) return true;
    phase_begin(v, PHASE_SPMV);
    if (!solve_multiply(v, v->vec[CGLS_P], v->vec[CGLS_Q], e)) return false;
    phase_begin(v, PHASE_DOTS);
    if (!PASS_ROWS(v, cgls, square, e, VECTORS(v->vec[CGLS_Q]))) return false;
    phase_begin(v, PHASE_UPDATE);
    return cut_hold(v, 1, &r, false, e) && PASS_ROWS(v, cgls, residual, e, VECTORS(v->vec[CGLS_Q], v->vec[CGLS_R])) &&
           cut_release(v, 1, e);
}

static bool step(struct solve *v, struct err *e)
{
    if (!residual(v, e) || !normal(v, e)) return false;
    phase_begin(v, PHASE_STEP);
    return cut_hold(v, COUNT(changed), changed, false, e) && move(v, false, e);
}

/* Of the rows: q is written and read twice, r is read twice and written. Of the columns: p is read twice and written, t
   is written and read twice, x is read and written. */
static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return least_bytes(A, real, 6, 8);
}

const struct solver solver_cgls = {
    .name = "cgls",
    .aliases = "cgnr",
    .about = "least squares by conjugate gradients on the normal equations; A of any shape",
    .source = "Hestenes and Stiefel 1952",
    .needs = "a real matrix of any shape, and memory for its transpose",
    .advice =
        "cgls converges slowly if A is ill-conditioned; precond columns may help, and `solve direct spqr` factors",
    .cost = "one SpMV with A and one with A', 6 vectors of the rows and 8 of the columns read or written; memory for 3 "
            "vectors of the rows and 3 of the columns, and for A'",
    .when =
        "instead of lsqr, which has the same iterates: cgls needs one vector less, but lsqr is more accurate if A is "
        "ill-conditioned",
    .vectors = 4,
    .window = 1000,
    .window_per_row = 3,
    .window_most = 10000,
    .own_precond = true,
    .probes = true,
    .least_squares = true,
    .transposed_products = true,
    .row_vectors = 1 << (CGLS_R - VEC_OWN) | 1 << (CGLS_Q - VEC_OWN),
    .products = 1,
    .diagonal_vectors = 2,
    .bytes = bytes,
    .init = init,
    .step = step,
    .explain = least_explain_condition,
    .peers = {.petsc = "-ksp_type cgls"},
};
