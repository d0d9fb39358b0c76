/* Conjugate gradients for symmetric positive definite matrices: two passes over the vectors per SpMV, or one pass if
   the SpMV kernel also computes the inner products. A preconditioner that is a diagonal is applied in these passes;
   any other preconditioner takes three more passes. */
#include <stdio.h>

#include "base/base.h"
#include "machine/kernel.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/symmetry.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

enum { CG_R = VEC_OWN, CG_P, CG_Q };

/* the vectors that an iteration changes in place */
static const int changed[] = {VEC_X, CG_R, CG_P};

/* z = M^-1 r and rho = r.z; also writes the record. */
static bool precondition(struct solve *v, struct err *e)
{
    phase_begin(v, PHASE_PRECOND);
    if (!solve_precondition(v, v->vec[CG_R], v->vec[VEC_Z], e)) return false;
    phase_begin(v, PHASE_DOT);
    return PASS(v, cg, rho, e, VECTORS(v->vec[CG_R], v->vec[VEC_Z]));
}

/* r = b - A x, p = M^-1 r */
static bool init(struct solve *v, struct err *e)
{
    v->negated = diagonal_is_negative(v->system.A);
    if (!solve_set(v, S_SIGN, v->negated ? -1 : 1, e)) return false;
    if (!solve_spmv(v, v->vec[VEC_X], v->vec[CG_Q], e)) return false;
    v->ops.vec->copy(v->dev, v->n, v->vec[VEC_B], v->vec[CG_R]);
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_ONE, -1, v->vec[CG_Q], v->vec[CG_R]);
    v->ops.vec->dot(v->dev, v->n, v->scalars, v->vec[CG_R], v->vec[CG_R], S_RR);
    if (v->pre.method && !precondition(v, e)) return false;
    if (!v->pre.method) v->ops.vec->record(v->dev, v->scalars);
    v->ops.vec->copy(v->dev, v->n, v->pre.method ? v->vec[VEC_Z] : v->vec[CG_R], v->vec[CG_P]);
    return true;
}

/* M^-1 r, which is in VEC_Z if there is a preconditioner. */
static const void *preconditioned(const struct solve *v)
{
    return v->vec[v->pre.method ? VEC_Z : CG_R];
}

/* Take z, which the last step of a fused pass has added to p, away from p: p = beta p again. */
static bool take_back(struct solve *v, struct err *e)
{
    if (v->pre.method && !solve_precondition(v, v->vec[CG_R], v->vec[VEC_Z], e)) return false;
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_ONE, -1, preconditioned(v), v->vec[CG_P]);
    return true;
}

/* r = VEC_B, s[S_RR] = r.r, z = M^-1 r, rho = r.z, and s[S_BETA] = rho / before; writes the record. */
static bool take_residual(struct solve *v, double before, struct err *e)
{
    if (!solve_set(v, S_SIGN, v->negated ? -1 : 1, e) || !solve_set(v, S_CAREFUL, 1, e)) return false;
    if (!solve_set(v, S_RHO, before, e)) return false;
    v->ops.vec->copy(v->dev, v->n, v->vec[VEC_B], v->vec[CG_R]);
    v->ops.vec->dot(v->dev, v->n, v->scalars, v->vec[CG_R], v->vec[CG_R], S_RR);
    if (v->pre.method) return precondition(v, e);
    v->ops.vec->div(v->dev, v->scalars, S_BETA, S_RR, S_RHO);
    v->ops.vec->record(v->dev, v->scalars);
    return true;
}

/* Keep p: make it orthogonal to the new r, p -= (r.p / rho) z, and let p = z + beta p, where beta is that of the last
   step times rho / the old rho (QUDA: Clark et al., Comput. Phys. Commun. 181, 2010). After a fused step, p has beta as
   a factor; otherwise, p is still that of the step before. */
static bool replace(struct solve *v, struct err *e)
{
    bool fused = !v->pre.method || precond_diagonal(v);
    double before = v->host_scalars[v->pre.method ? S_RHO : S_RR];
    if (!fused) before /= v->host_scalars[S_BETA];
    if ((fused && !take_back(v, e)) || !take_residual(v, before, e)) return false;
    v->ops.vec->dot(v->dev, v->n, v->scalars, v->vec[CG_R], v->vec[CG_P], S_PQ);
    v->ops.vec->div(v->dev, v->scalars, S_PQ, S_PQ, v->pre.method ? S_RHO : S_RR);
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_PQ, -1, preconditioned(v), v->vec[CG_P]);
    v->ops.vec->xpby(v->dev, v->n, v->scalars, preconditioned(v), S_BETA, v->vec[CG_P]);
    return true;
}

/* Does the SpMV kernel compute the inner products? */
static bool product_sums(const struct solve *v)
{
    return !v->columns.n && kernel_sums(v->matrix.kernel, v->precision) && !v->set.sums_host && !v->matrix.csr->imag &&
           !v->null.on_device;
}

bool cg_product(struct solve *v, const void *p, void *q, const void *r, const void *dinv, struct err *e)
{
    struct launch L = {.A = v->matrix.mat, .alpha = 1, .x = p, .y = q, .s = v->scalars, .r = r, .dinv = dinv};
    if (product_sums(v)) return kernel_launch(v->matrix.kernel, &L, e);
    if (!solve_spmv(v, p, q, e)) return false;
    phase_begin(v, PHASE_DOTS);
    return PASS(v, cg, dots, e, VECTORS(p, q, r, dinv));
}

static bool step_preconditioned(struct solve *v, struct err *e)
{
    phase_begin(v, PHASE_SPMV);
    if (product_sums(v)) {
        if (!cg_product(v, v->vec[CG_P], v->vec[CG_Q], v->vec[CG_R], NULL, e)) return false;
    } else {
        if (!solve_spmv(v, v->vec[CG_P], v->vec[CG_Q], e)) return false;
        phase_begin(v, PHASE_DOT);
        v->ops.vec->dot(v->dev, v->n, v->scalars, v->vec[CG_P], v->vec[CG_Q], S_PQ);
    }
    phase_begin(v, PHASE_UPDATE);
    if (!cut_hold(v, COUNT(changed), changed, v->pre.method->long_apply, e)) return false;
    if (!PASS(v, cg, update, e, VECTORS(v->vec[CG_P], v->vec[CG_Q], v->vec[CG_R], v->vec[VEC_X]))) return false;
    if (!precondition(v, e)) return false;
    phase_begin(v, PHASE_DIRECTION);
    return PASS(v, cg, direction, e, VECTORS(v->vec[VEC_Z], v->vec[CG_P]));
}

static bool step(struct solve *v, struct err *e)
{
    const void *dinv = precond_diagonal(v);
    if (v->pre.method && !dinv) return step_preconditioned(v, e);
    phase_begin(v, PHASE_SPMV);
    if (!cg_product(v, v->vec[CG_P], v->vec[CG_Q], v->vec[CG_R], dinv, e)) return false;
    phase_begin(v, PHASE_STEP);
    if (!cut_hold(v, COUNT(changed), changed, false, e)) return false;
    return PASS(v, cg, step, e, VECTORS(v->vec[CG_Q], dinv, v->vec[CG_R], v->vec[CG_P], v->vec[VEC_X]));
}

static bool steps(struct solve *v, int64_t n, struct err *e)
{
    return cluster_steps_of(v, cluster_ops_of(v->dev)->cg, COUNT(changed), changed, n, e);
}

struct instead {
    char text[120];
};

/* What to use instead of cg; it depends on what is known about the symmetry of A. */
static struct instead instead(const struct solve *v)
{
    const char *word = symmetry_word(v->matrix.csr);
    struct instead use;
    static const char *const advice[] = {
        [FACT_UNKNOWN] = "cg needs a %s positive definite matrix",
        [FACT_YES] = "A is %s, but cg also needs positive definiteness: use minres",
        [FACT_NO] = "cg needs a %s matrix, but A is not %s: use bicgstab or gmres",
    };
    snprintf(use.text, sizeof use.text, advice[fact_symmetric(v->matrix.facts)], word, word);
    return use;
}

static void explain(const struct solve *v, char *out, size_t size)
{
    if (v->host_scalars[S_WHAT] == BROKE_RHO)
        snprintf(
            out, size,
            "the preconditioner %s is not positive definite: r'z = %.2e at iteration %lld; use another preconditioner "
            "or no preconditioner, or use bicgstab, which does not need a positive definite preconditioner",
            v->pre.method->name, v->host_scalars[S_PQ], (long long)v->iterations);
    else
        snprintf(out, size, "not %s definite: p'Ap = %.2e at iteration %lld; %s", v->negated ? "negative" : "positive",
                 v->host_scalars[S_PQ], (long long)v->iterations + 1, instead(v).text);
}

static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return csr_bytes(A, real) + 9.0 * (double)real * (double)A->rows;
}

const struct solver solver_cg = {
    .name = "cg",
    .aliases = "conjugate-gradient pcg",
    .about = "conjugate gradients: minimises the error over all search directions so far",
    .source = "THESIS 3",
    .needs = "a symmetric positive definite matrix",
    .advice =
        "cg needs a symmetric positive definite matrix that is not too ill-conditioned (`stats` shows the symmetry)",
    .cost = "one SpMV with A, 9 vectors read or written; memory for 5 vectors, or 6 with a preconditioner",
    .when = "first choice for every symmetric positive definite matrix; if A is negative definite, cg solves -A x = "
            "-b. The number of iterations grows with the square "
            "root of the condition number, which `check` estimates; precond jacobi or ic0 reduces it",
    .vectors = 3,
    /* on ill-conditioned matrices, the residual may stall for a while: on nos1, it does not fall for 600 iterations,
       and then the solve converges */
    .window = 100,
    .window_per_row = 3,
    .window_most = 2000,
    .symmetric = true,
    .definite = true,
    .lanczos = true,
    .product_sums = true,
    .own_precond = true,
    .probes = true,
    .refines = true,
    .products_only = true,
    .several = true,
    .columns = true,
    .products = 1,
    .diagonal_vectors = 2,
    .bytes = bytes,
    .init = init,
    .step = step,
    .steps = steps,
    .cluster_vectors = 4,
    .replace = replace,
    .explain = explain,
    .peers =
        {.petsc = "-ksp_type cg -ksp_norm_type unpreconditioned",
         .hypre = "PCG",
         .amgx = "\"solver\": \"PCG\"",
         .ginkgo = "\"type\": \"solver::Cg\"",
         .scipy = "x, info = linalg.cg(A, b, rtol=tol, atol=0, maxiter=maxit, M=M, callback=count)\n",
         .cuda =
             "    // Conjugate gradients; r = b because x = 0\n"
             "    double *z = on_device<double>(n), *p = on_device<double>(n), *q = on_device<double>(n), rho = 0;\n"
             "    for (; iterations < maxit && sqrt(dot(r, r)) > limit; iterations++) {\n"
             "        precondition(r, z);\n"
             "        double before = rho;\n"
             "        rho = dot(r, z);\n"
             "        onto(z, before ? rho / before : 0, p);\n"
             "        multiply(p, q);\n"
             "        double alpha = rho / dot(p, q);\n"
             "        add(alpha, p, x);\n"
             "        add(-alpha, q, r);\n"
             "    }\n"},
};
