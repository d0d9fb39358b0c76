/* MINRES (Paige and Saunders 1975): of all x in the Krylov space, the x whose residual is smallest, from three-term
   recurrences. A must be symmetric, but need not be definite. */
#include <stdio.h>

#include "base/base.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/symmetry.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

/* Two Lanczos vectors, and two search directions: after each iteration, the newer one of each pair takes the place of
   the older one. MINRES_Q = A z; MINRES_RESIDUAL, which only a solve with a preconditioner needs, is the residual. */
enum { MINRES_R = VEC_OWN, MINRES_R2, MINRES_U, MINRES_U2, MINRES_Q, MINRES_RESIDUAL };

/* the vectors that an iteration changes in place; the last two need a preconditioner */
static const int changed[] = {VEC_X, MINRES_R, MINRES_R2, MINRES_U, MINRES_U2, MINRES_RESIDUAL, VEC_Z};

static int64_t is_odd(const struct solve *v)
{
    return (v->schedule.queued - v->schedule.cycle_from) % 2;
}

/* The newer vector of the pair that begins with v->vec[first], and the older one. */
static void *newer(const struct solve *v, int first)
{
    return v->vec[first + is_odd(v)];
}

static void *older(const struct solve *v, int first)
{
    return v->vec[first + 1 - is_odd(v)];
}

static bool room_for_residual(struct solve *v, struct err *e)
{
    if (!v->pre.method || v->vec[MINRES_RESIDUAL]) return true;
    return solve_vectors(v, MINRES_RESIDUAL, 1, v->real, "a vector of the solver", e);
}

/* Start the Lanczos process from r = b - A x. */
static bool start(struct solve *v, bool again, struct err *e)
{
    void *r = newer(v, MINRES_R), *residual = v->vec[MINRES_RESIDUAL];
    if (!solve_spmv(v, v->vec[VEC_X], v->vec[MINRES_Q], e)) return false;
    if (!PASS(v, minres, begin, e,
              VECTORS(v->vec[VEC_B], v->vec[MINRES_Q], r, older(v, MINRES_R), newer(v, MINRES_U), older(v, MINRES_U)),
              NUMBERS(again)))
        return false;
    if (!again) v->ops.vec->record(v->dev, v->scalars);
    if (!v->pre.method) return true;
    v->ops.vec->copy(v->dev, v->n, r, residual);
    if (!solve_precondition(v, r, v->vec[VEC_Z], e)) return false;
    v->ops.vec->dot(v->dev, v->n, v->scalars, r, v->vec[VEC_Z], S_RHO);
    return true;
}

static bool init(struct solve *v, struct err *e)
{
    return room_for_residual(v, e) && start(v, false, e);
}

/* The rotations show convergence: compare with b - A x, and start again from this x if the two have separated. */
static bool settle(struct solve *v, struct err *e)
{
    v->schedule.cycle_from = v->schedule.queued;
    return solve_set(v, S_DONE, RUNNING, e) && start(v, true, e);
}

/* x += step u; with a preconditioner, also the residual, since the rotations give its norm in M^-1 only. */
static bool advance(struct solve *v, const void *u, const void *r, struct err *e)
{
    void *z = v->vec[VEC_Z], *x = v->vec[VEC_X];
    if (!v->pre.method) {
        phase_begin(v, PHASE_STEP);
        return PASS(v, minres, step, e, VECTORS(u, x));
    }
    phase_begin(v, PHASE_PRECOND);
    if (!solve_precondition(v, r, z, e)) return false;
    phase_begin(v, PHASE_DOT);
    v->ops.vec->dot(v->dev, v->n, v->scalars, r, z, S_RHO_NEXT);
    phase_begin(v, PHASE_STEP);
    return PASS(v, minres, step_residual, e, VECTORS(u, r, x, v->vec[MINRES_RESIDUAL]));
}

static bool step(struct solve *v, struct err *e)
{
    const void *r = newer(v, MINRES_R), *z = v->pre.method ? v->vec[VEC_Z] : r;
    void *next = older(v, MINRES_R), *u = older(v, MINRES_U), *q = v->vec[MINRES_Q];
    phase_begin(v, PHASE_SPMV);
    if (!cg_product(v, z, q, r, NULL, e)) return false;
    phase_begin(v, PHASE_DIRECTION);
    bool with = v->pre.method;
    if (!cut_hold(v, with ? COUNT(changed) : COUNT(changed) - 2, changed, with && v->pre.method->long_apply, e))
        return false;
    return PASS(v, minres, lanczos, e, VECTORS(q, z, r, next, newer(v, MINRES_U), u)) && advance(v, u, next, e);
}

static bool steps(struct solve *v, int64_t n, struct err *e)
{
    int odd = (int)is_odd(v);
    const int vectors[] = {VEC_X, MINRES_R + odd, MINRES_R + 1 - odd, MINRES_U + odd, MINRES_U + 1 - odd};
    return cluster_steps_of(v, cluster_ops_of(v->dev)->minres, COUNT(vectors), vectors, n, e);
}

static void explain(const struct solve *v, char *out, size_t size)
{
    long long next = (long long)v->iterations + 1;
    if (v->host_scalars[S_WHAT] == BROKE_RHO)
        snprintf(out, size,
                 "the preconditioner %s is not positive definite: r'z = %.2e at iteration %lld; use precond jacobi, "
                 "which takes |a_ii|, or no preconditioner",
                 v->pre.method->name, v->host_scalars[S_PQ], next);
    else if (fact_symmetric(v->matrix.facts) == FACT_NO)
        snprintf(
            out, size,
            "minres needs a %s matrix, but A is not %s, and it broke down at iteration %lld: use bicgstab or gmres",
            symmetry_word(v->matrix.csr), symmetry_word(v->matrix.csr), next);
    else
        snprintf(out, size,
                 "A is singular up to rounding errors, and b is not in its range, at iteration %lld (see `check only "
                 "rank`)",
                 next);
}

/* A fused pass reads q, r and u, and updates the older r and u and x; the SpMV reads z and writes q. Since x waits for
   the sum of that pass, it is updated by a pass of its own, which reads u again. */
static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return csr_bytes(A, real) + 12.0 * (double)real * (double)A->rows;
}

const struct solver solver_minres = {
    .name = "minres",
    .about = "minimises the residual over all search directions so far, for symmetric matrices, definite or not",
    .source = "Paige and Saunders 1975",
    .needs = "a symmetric or hermitian matrix",
    .advice = "minres converges slowly if A has eigenvalues close to 0 on both sides; precond jacobi may help",
    .cost = "one SpMV with A, 12 vectors read or written; memory for 7 vectors, or 9 with a preconditioner",
    .when =
        "first choice for a symmetric matrix that is not positive definite. The residual never grows; the number of "
        "iterations grows with the condition number. M must be positive definite: jacobi takes |a_ii|",
    .vectors = 5,
    .window = 100,
    .window_per_row = 3,
    .window_most = 2000,
    .symmetric = true,
    .swaps = true,
    .own_precond = true,
    .probes = true,
    .refines = true,
    .products_only = true,
    .several = true,
    .columns = true,
    .products = 1,
    .bytes = bytes,
    .init = init,
    .step = step,
    .steps = steps,
    .cluster_vectors = 6,
    .settle = settle,
    .explain = explain,
    .peers = {.petsc = "-ksp_type minres",
              .ginkgo = "\"type\": \"solver::Minres\"",
              .scipy = "# The test of SciPy's minres is not that of ||r|| / ||b||, so this one ends it.\n"
                       "class Done(Exception):\n"
                       "    pass\n"
                       "\n"
                       "\n"
                       "def test(xk):\n"
                       "    global x\n"
                       "    count(xk)\n"
                       "    x = xk.copy()\n"
                       "    if np.linalg.norm(b - A @ x) <= tol * np.linalg.norm(b):\n"
                       "        raise Done\n"
                       "\n"
                       "\n"
                       "x = np.zeros(A.shape[1])\n"
                       "try:\n"
                       "    linalg.minres(A, b, rtol=0, maxiter=maxit, M=M, callback=test)\n"
                       "except Done:\n"
                       "    pass\n"},
};
