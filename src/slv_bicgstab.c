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

bool bicg_half_step(struct solve *v, const void *p, void *q, const void *shadow, void *r, struct err *e)
{
    phase_begin(v, "spmv");
    if (!solve_spmv(v, p, q, e)) return false;
    phase_begin(v, "dot");
    v->bicg->alpha(v->dev, v->n, v->s, shadow, q);
    phase_begin(v, "update");
    v->bicg->half(v->dev, v->n, v->s, q, r);
    return true;
}

bool bicg_second_product(struct solve *v, const void *r, void *t, struct err *e)
{
    phase_begin(v, "spmv");
    if (!solve_spmv(v, r, t, e)) return false;
    phase_begin(v, "dot");
    v->bicg->omega(v->dev, v->n, v->s, t, r);
    return true;
}

static bool step(struct solve *v, struct err *e)
{
    if (!bicg_half_step(v, v->v[P], v->v[V], v->v[SHADOW], v->v[R], e)) return false;
    if (!bicg_second_product(v, v->v[R], v->v[T], e)) return false;
    phase_begin(v, "update");
    v->bicg->update(v->dev, v->n, v->s, v->v[P], v->v[T], v->v[SHADOW], v->v[R], v->v[X]);
    phase_begin(v, "direction");
    v->bicg->direction(v->dev, v->n, v->s, v->v[R], v->v[V], v->v[P]);
    return true;
}

void bicg_explain(const struct solve *v, char *out, size_t size)
{
    static const char *const what[] = {"?", "rho = r0.r", "r0.Ap", "t.s of omega"};
    snprintf(out, size,
             "broke down: %s = %.2e is 0 but for rounding, after iteration %lld; a singular matrix does this "
             "(`check only rank`). gmres does not divide by it; `change maxit` and `continue` begin again from this x",
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
    .cost = "two products with A (and two with a preconditioner), 19 vectors read or written; 7 vectors",
    .when =
        "for a matrix that is not symmetric: its cost stays the same however many iterations there are. Where it jumps "
        "take qmrcgstab, where it breaks down gmres; precond ilu0 helps often",
    .vectors = 5,
    .window = 100,
    .window_a_row = 3,
    .window_most = 2000,
    .probes = true,
    .products = 2,
    .bytes = bytes,
    .init = init,
    .step = step,
    .explain = bicg_explain,
};
