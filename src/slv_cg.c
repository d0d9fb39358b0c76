/* Conjugate gradients for symmetric positive definite matrices, in four launches an iteration. */
#include "solver.h"

enum { X, B, R, P, Q };

/* r = p = b - A x */
static bool init(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->v[X], v->v[Q], e)) return false;
    v->ops->copy(v->dev, v->n, v->v[B], v->v[R]);
    v->ops->axpy(v->dev, v->n, v->s, S_ONE, -1, v->v[Q], v->v[R]);
    v->ops->copy(v->dev, v->n, v->v[R], v->v[P]);
    v->ops->dot(v->dev, v->n, v->s, v->v[R], v->v[R], S_RR);
    v->ops->record(v->dev, v->s);
    return true;
}

static bool step(struct solve *v, struct err *e)
{
    phase_begin(v, "spmv");
    if (!solve_spmv(v, v->v[P], v->v[Q], e)) return false;
    phase_begin(v, "dot");
    v->ops->dot(v->dev, v->n, v->s, v->v[P], v->v[Q], S_PQ);
    phase_begin(v, "update");
    v->ops->cg_update(v->dev, v->n, v->s, v->v[Q], v->v[R]);
    phase_begin(v, "direction");
    v->ops->cg_direction(v->dev, v->n, v->s, v->v[R], v->v[P], v->v[X]);
    return true;
}

static void explain(const struct solve *v, char *out, size_t size)
{
    snprintf(out, size,
             "not positive definite: p'Ap = %.2e at iteration %lld; cg needs a symmetric positive definite matrix",
             v->mirror[S_PQ], (long long)v->iterations + 1);
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
    .vectors = 3,
    .window = 100, /* ill-conditioned matrices plateau: nos1 gains nothing for 600 iterations, then converges */
    .window_a_row = 3,
    .window_most = 2000,
    .symmetric = true,
    .bytes = bytes,
    .init = init,
    .step = step,
    .explain = explain,
};
