/* Jacobi's preconditioner, the diagonal of A: z_i = r_i / a_ii. */
#include "machine/device.h"
#include "base/mem.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "machine/vec_ops.h"

enum { DINV };

static bool make(struct solve *v, struct err *e)
{
    double *dinv = mem_new(v->n, sizeof *dinv, "the inverted diagonal", e);
    bool ok = dinv && diagonal_inverse(v->matrix.csr, "the preconditioner jacobi", 1, dinv, e);
    int64_t size = v->n * (int64_t)type_size(v->real);
    if (ok) v->pre.part[DINV] = v->dev->ops->alloc(v->dev, size, "the inverted diagonal", e);
    ok = ok && v->pre.part[DINV] && solve_put(v, v->pre.part[DINV], dinv, e);
    mem_free(dinv);
    return ok;
}

static bool apply(struct solve *v, const void *r, void *z, struct err *e)
{
    (void)e;
    v->ops.vec->mul(v->dev, v->n, v->scalars, v->pre.part[DINV], r, z);
    return true;
}

static double bytes(const struct solve *v)
{
    return 3.0 * (double)type_size(v->real) * (double)v->n;
}

const struct precond precond_jacobi = {
    .name = "jacobi",
    .aliases = "diagonal diag",
    .about = "the diagonal: corrects bad scaling",
    .source = "textbook",
    .needs = "no zero on the diagonal",
    .symmetric = true,
    .takes_complex = true,
    .make = make,
    .apply = apply,
    .bytes = bytes,
};
