/* Conjugate gradients for symmetric positive definite matrices: two passes beside the product, or one where the kernel
   takes the inner products along. */
#include "precond.h"

enum { X, B, R, P, Q };

/* rho = r.z for z = M^-1 r, and the record. */
static bool precondition(struct solve *v, struct err *e)
{
    phase_begin(v, "precond");
    if (!v->pre->apply(v, v->v[R], v->v[AT_Z], e)) return false;
    phase_begin(v, "dot");
    v->cg->rho(v->dev, v->n, v->s, v->v[R], v->v[AT_Z]);
    return true;
}

/* r = b - A x, p = M^-1 r */
static bool init(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->v[X], v->v[Q], e)) return false;
    v->ops->copy(v->dev, v->n, v->v[B], v->v[R]);
    v->ops->axpy(v->dev, v->n, v->s, S_ONE, -1, v->v[Q], v->v[R]);
    v->ops->dot(v->dev, v->n, v->s, v->v[R], v->v[R], S_RR);
    if (v->pre && !precondition(v, e)) return false;
    if (!v->pre) v->ops->record(v->dev, v->s);
    v->ops->copy(v->dev, v->n, v->pre ? v->v[AT_Z] : v->v[R], v->v[P]);
    return true;
}

static bool step_preconditioned(struct solve *v, struct err *e)
{
    phase_begin(v, "spmv");
    if (!solve_spmv(v, v->v[P], v->v[Q], e)) return false;
    phase_begin(v, "dot");
    v->ops->dot(v->dev, v->n, v->s, v->v[P], v->v[Q], S_PQ);
    phase_begin(v, "update");
    v->cg->update(v->dev, v->n, v->s, v->v[P], v->v[Q], v->v[R], v->v[X]);
    if (!precondition(v, e)) return false;
    phase_begin(v, "direction");
    v->cg->direction(v->dev, v->n, v->s, v->v[AT_Z], v->v[P]);
    return true;
}

/* q = A p, and the sums of p, q and r. */
static bool product(struct solve *v, struct err *e)
{
    struct launch L = {.A = v->A, .alpha = 1, .x = v->v[P], .y = v->v[Q], .s = v->s, .r = v->v[R]};
    if (v->kernel->sums_f64) return kernel_launch(v->kernel, &L, e);
    if (!solve_spmv(v, v->v[P], v->v[Q], e)) return false;
    phase_begin(v, "dots");
    v->cg->dots(v->dev, v->n, v->s, v->v[P], v->v[Q], v->v[R]);
    return true;
}

static bool step(struct solve *v, struct err *e)
{
    if (v->pre) return step_preconditioned(v, e);
    phase_begin(v, "spmv");
    if (!product(v, e)) return false;
    phase_begin(v, "step");
    v->cg->step(v->dev, v->n, v->s, v->v[Q], v->v[R], v->v[P], v->v[X]);
    return true;
}

/* What to take instead, where it is known whether A is symmetric. */
static const char *instead(const struct matrix *m)
{
    if (!m->has_stats) return "cg needs a symmetric positive definite matrix";
    return m->stats.value_symmetric ? "A is symmetric, but cg needs more: take gmres"
                                    : "A is not symmetric, as cg needs it: take bicgstab or gmres";
}

static void explain(const struct solve *v, char *out, size_t size)
{
    if (v->mirror[S_WHAT] == BROKE_RHO)
        snprintf(out, size,
                 "the preconditioner %s is not positive definite: r'z = %.2e at iteration %lld; take another one or "
                 "none, or bicgstab, which does not mind",
                 v->pre->name, v->mirror[S_PQ], (long long)v->iterations);
    else
        snprintf(out, size, "not positive definite: p'Ap = %.2e at iteration %lld; %s", v->mirror[S_PQ],
                 (long long)v->iterations + 1, instead(v->matrix));
}

static double bytes(const struct csr *A, size_t real, int64_t m)
{
    (void)m;
    return csr_bytes(A, real) + 9.0 * (double)real * (double)A->rows;
}

const struct solver solver_cg = {
    .name = "cg",
    .about = "conjugate gradients: the least error over all directions so far",
    .source = "THESIS 3",
    .needs = "a symmetric positive definite matrix",
    .advice =
        "cg needs a symmetric positive definite matrix that is not too ill-conditioned (`stats` shows the symmetry)",
    .cost = "one product with A, 9 vectors read or written; 5 vectors, one more with a preconditioner",
    .when = "first, for every symmetric positive definite matrix. Its iterations grow with the root of the condition "
            "number "
            "(`check` estimates it), which precond jacobi or ic0 lowers",
    .vectors = 3,
    .window = 100, /* ill-conditioned matrices plateau: nos1 gains nothing for 600 iterations, then converges */
    .window_a_row = 3,
    .window_most = 2000,
    .symmetric = true,
    .own_precond = true,
    .probes = true,
    .products = 1,
    .bytes = bytes,
    .init = init,
    .step = step,
    .explain = explain,
};
