/* Stabilised bi-conjugate gradients (van der Vorst 1992), in six launches an iteration. */
#include "solver.h"

enum { X, B, R, SHADOW, P, V, T };

/* r = shadow = p = b - A x */
static bool init(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->v[X], v->v[V], e)) return false;
    v->bicg->begin(v->dev, v->n, v->s, v->v[B], v->v[V], v->v[R], v->v[SHADOW], v->v[P]);
    v->ops->record(v->dev, v->s);
    return true;
}

static bool step(struct solve *v, struct err *e)
{
    const struct bicg_ops *ops = v->bicg;
    phase_begin(v, "spmv");
    if (!solve_spmv(v, v->v[P], v->v[V], e)) return false;
    phase_begin(v, "dot");
    ops->alpha(v->dev, v->n, v->s, v->v[SHADOW], v->v[V]);
    phase_begin(v, "update");
    ops->half(v->dev, v->n, v->s, v->v[V], v->v[R]);
    phase_begin(v, "spmv");
    if (!solve_spmv(v, v->v[R], v->v[T], e)) return false;
    phase_begin(v, "dot");
    ops->omega(v->dev, v->n, v->s, v->v[T], v->v[R]);
    phase_begin(v, "update");
    ops->update(v->dev, v->n, v->s, v->v[P], v->v[T], v->v[SHADOW], v->v[R], v->v[X]);
    phase_begin(v, "direction");
    ops->direction(v->dev, v->n, v->s, v->v[R], v->v[V], v->v[P]);
    return true;
}

void bicg_explain(const struct solve *v, char *out, size_t size)
{
    static const char *const what[] = {"?", "rho = r0.r", "r0.Ap", "t.s of omega"};
    snprintf(out, size,
             "broke down: %s = %.2e is 0 but for rounding, after iteration %lld; begin again from this x, or take "
             "another solver; a singular matrix does this",
             what[(int)v->mirror[S_WHAT]], v->mirror[S_PQ], (long long)v->iterations);
}

static double bytes(const struct csr *A, size_t real, int64_t m)
{
    (void)m;
    return 2 * csr_bytes(A, real) + 19.0 * (double)real * (double)A->rows;
}

const struct solver solver_bicgstab = {
    .name = "bicgstab",
    .about = "stabilised bi-conjugate gradients: short recurrences for any matrix",
    .source = "van der Vorst 1992",
    .needs = "a square matrix",
    .advice = "bicgstab is erratic where eigenvalues lie near the imaginary axis or A is ill-conditioned",
    .vectors = 5,
    .window = 100,
    .window_a_row = 3,
    .window_most = 2000,
    .bytes = bytes,
    .init = init,
    .step = step,
    .explain = bicg_explain,
};
