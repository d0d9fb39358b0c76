/* Jacobi's method, x' = x + D^-1 (b - A x), and weighted Jacobi, x' = x + omega D^-1 (b - A x). Two vectors alternate
   as source and target (THESIS 3.2). */
#include "matrix/csr.h"
#include "base/mem.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"
#include "machine/vec_ops.h"

/* X2 alternates with VEC_X; Q = A x; DINV = omega / a_ii. */
enum { JACOBI_X2 = VEC_OWN, JACOBI_Q, JACOBI_DINV };

/* omega / a_ii */
static bool invert_diagonal(const struct solve *v, double *dinv, struct err *e)
{
    double omega = v->set.omega > 0 ? v->set.omega : 1;
    if (!diagonal_of(v->matrix.csr, v->solver->name, dinv, e)) return false;
    for (int64_t i = 0; i < v->n; i++) dinv[i] = omega / dinv[i];
    return true;
}

static bool put_diagonal(struct solve *v, struct err *e)
{
    double *dinv = mem_new(v->n, sizeof *dinv, "the inverted diagonal", e);
    bool ok = dinv && invert_diagonal(v, dinv, e) && solve_put(v, v->vec[JACOBI_DINV], dinv, e);
    mem_free(dinv);
    return ok;
}

/* Record the residual of the x of iteration k, and write the x of iteration k + 1 to the other vector. */
static bool sweep(struct solve *v, int64_t k, struct err *e)
{
    const void *from = v->vec[k % 2 ? JACOBI_X2 : VEC_X];
    void *to = v->vec[k % 2 ? VEC_X : JACOBI_X2];
    phase_begin(v, PHASE_SPMV);
    if (!solve_spmv(v, from, v->vec[JACOBI_Q], e)) return false;
    phase_begin(v, PHASE_UPDATE);
    if (!cut_hold(v, 0, NULL, false, e)) return false;
    v->ops.vec->jacobi(v->dev, v->n, v->scalars, v->vec[VEC_B], v->vec[JACOBI_Q], v->vec[JACOBI_DINV], from, to);
    return true;
}

static bool init(struct solve *v, struct err *e)
{
    return put_diagonal(v, e) && sweep(v, 0, e);
}

static bool step(struct solve *v, struct err *e)
{
    return sweep(v, v->schedule.queued + 1, e);
}

static bool finish(struct solve *v, struct err *e)
{
    (void)e;
    if ((v->iterations - v->base) % 2 == 0) return true;
    void *x = v->vec[JACOBI_X2];
    v->vec[JACOBI_X2] = v->vec[VEC_X];
    v->vec[VEC_X] = x;
    return true;
}

static double bytes(const struct csr *A, size_t real, int64_t m)
{
    (void)m;
    return csr_bytes(A, real) + 3.0 * (double)real * (double)A->rows;
}

const struct solver solver_jacobi = {
    .name = "jacobi",
    .about = "solves every row for its own unknown; converges if A is diagonally dominant",
    .source = "THESIS 3.2",
    .needs = "a square matrix with no zero on the diagonal",
    .advice = "Jacobi is certain to converge only if every row is diagonally dominant (see `stats`); "
              "for a symmetric positive definite matrix, use cg",
    .cost = "one SpMV with A and one pass over the vectors; memory for 5 vectors",
    .when = "to see what the simplest method does, or if A is strongly diagonally dominant. All rows are updated at "
            "the same time, which suits a GPU, but on a grid the number of iterations grows with the square of the "
            "grid's width",
    .vectors = 3,
    .window = 1000, /* convergence may be slow, so a gain of 1% may take up to 1000 iterations */
    .diff = true,
    .alternates = true,
    .no_precond = true,
    .products = 1,
    .bytes = bytes,
    .init = init,
    .step = step,
    .finish = finish,
};

const struct solver solver_wjacobi = {
    .name = "wjacobi",
    .aliases = "weighted-jacobi damped-jacobi",
    .about = "Jacobi with steps shortened by omega, which damps oscillating errors",
    .source = "textbook",
    .needs = "a square matrix with no zero on the diagonal",
    .advice = "a smaller omega damps more; for a symmetric positive definite matrix, use cg",
    .cost = "one SpMV with A and one pass over the vectors; memory for 5 vectors",
    .when =
        "as a smoother: with omega 2/3, oscillating errors vanish in a few iterations, but smooth errors hardly shrink",
    .vectors = 3,
    .window = 1000,
    .diff = true,
    .alternates = true,
    .no_precond = true,
    .omega = 2. / 3,
    .products = 1,
    .bytes = bytes,
    .init = init,
    .step = step,
    .finish = finish,
};
