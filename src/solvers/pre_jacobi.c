/* Jacobi's preconditioner, the diagonal of A: z_i = r_i / a_ii. */
#include "machine/device.h"
#include "base/err.h"
#include "base/mem.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "machine/vec_ops.h"

enum { DINV };

/* The diagonal is real, as in every hermitian matrix: it scales the real and the imaginary part of an element alike. */
static bool for_pairs(const struct csr *A, double *diag, struct err *e)
{
    for (int64_t i = A->rows - 1; i >= 0; i--) {
        int64_t k = csr_find(A, i, i);
        if (k >= 0 && A->imag[k] != 0)
            return fail(e, E_UNSUPPORTED,
                        "the preconditioner jacobi needs a real diagonal, but the diagonal entry of row %lld has an "
                        "imaginary part; solve without a preconditioner",
                        (long long)i);
        diag[2 * i] = diag[2 * i + 1] = diag[i];
    }
    return true;
}

static bool make(struct solve *v, struct err *e)
{
    const struct csr *A = v->matrix.csr;
    double *dinv = mem_new(v->n, sizeof *dinv, "the inverted diagonal", e);
    bool ok = dinv && diagonal_of(A, "the preconditioner jacobi", dinv, e) && (!A->imag || for_pairs(A, dinv, e));
    for (int64_t i = 0; ok && i < v->n; i++) dinv[i] = 1 / dinv[i];
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
