/* The passes of multigrid on a device: the steps of its smoother, with and without the product with a matrix.
   Implemented by gpu/kernels/k_amg.cu. */
#ifndef AMG_OPS_H
#define AMG_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "machine/vec_ops.h"

C_BEGIN

struct amg_csr;
struct device;

/* A step of the smoother with the product of the residual: r -= A z. Then z' = a z + c D^-1 r is the next change, and
   x += z'. With `corrects`, z is a correction that x does not contain yet: z' = c D^-1 r and x += z + z'. */
struct amg_relaxed {
    double a, c;
    bool corrects;
    const void *z, *dinv;
    void *r, *x;
    void *next;   /* receives z'; NULL: no step follows, and r keeps its value */
    void *result; /* receives x, and x keeps its value; NULL: x receives it */
};

/* Steps of conjugate gradients, and where their coefficients are among the scalars: in room for sums that passes with
   one sum do not use. */
enum { AMG_STEPS = 10, AMG_ALPHAS = S_SUMS + VEC_BLOCKS, AMG_BETAS = AMG_ALPHAS + AMG_STEPS };

/* r is the residual of x, dinv the inverse of the diagonal D, and z the last change of x; the products with A, which
   come between the passes, change r. Vectors have n values; the passes do nothing once s[S_DONE] is not 0. */
struct amg_ops {
    /* Start from x = 0: r = scale b, z = c D^-1 r, x = z. If r is NULL, b replaces r, and scale must be 1. begin_wide:
       b is fp64. */
    void (*begin)(struct device *d, int64_t n, double *s, double scale, double c, const void *b, const void *dinv,
                  void *r, void *z, void *x);
    void (*begin_wide)(struct device *d, int64_t n, double *s, double scale, double c, const void *b, const void *dinv,
                       void *r, void *z, void *x);
    /* z = a z + c D^-1 r, x += z */
    void (*smooth)(struct device *d, int64_t n, double *s, double a, double c, const void *r, const void *dinv, void *z,
                   void *x);
    /* z is a correction that r includes, but x does not: w = c D^-1 r, x += z + w, z = w */
    void (*correct)(struct device *d, int64_t n, double *s, double c, const void *r, const void *dinv, void *z,
                    void *x);
    /* The same as one launch, with A in CSR. relax_wide: the result is fp64 */
    void (*relax)(struct device *d, const struct amg_csr *A, double *s, const struct amg_relaxed *v);
    void (*relax_wide)(struct device *d, const struct amg_csr *A, double *s, const struct amg_relaxed *v);
    /* y = alpha A x + beta y; y is not read if beta is 0 */
    void (*multiply)(struct device *d, const struct amg_csr *A, double *s, double alpha, const void *x, double beta,
                     void *y);
    /* The parts of step k of conjugate gradients for A, preconditioned by D: after q = A p, s[AMG_ALPHAS + k] =
       s[S_RHO] / p.q; r -= that q, and s[AMG_BETAS + k] = r.D^-1 r / s[S_RHO], which becomes r.D^-1 r; p = D^-1 r +
       that p. start: p = D^-1 r, and s[S_RHO] = r.p */
    void (*krylov_start)(struct device *d, int64_t n, double *s, const void *dinv, const void *r, void *p);
    void (*krylov_alpha)(struct device *d, int64_t n, double *s, int k, const void *p, const void *q);
    void (*krylov_beta)(struct device *d, int64_t n, double *s, int k, const void *q, const void *dinv, void *r);
    void (*krylov_turn)(struct device *d, int64_t n, double *s, int k, const void *dinv, const void *r, void *p);
    void (*scale)(struct device *d, int64_t n, double *s, double factor, const void *x, void *y); /* y = factor x */
};
/* real: T_F32 or T_F64 */
const struct amg_ops *amg_ops_of(const struct device *d, enum type real);

C_END
#endif
