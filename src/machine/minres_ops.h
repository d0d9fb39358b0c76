/* The fused passes of MINRES on a device. Implemented by gpu/kernels/k_minres.cu. */
#ifndef MINRES_OPS_H
#define MINRES_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"

C_BEGIN

struct device;

/* A Lanczos vector r_k is kept unnormalised; beta_k^2 = r_k . z_k, where z_k = M^-1 r_k, or r_k without a
   preconditioner. The vector u_k is gamma_k times the k-th search direction. Vectors have n values; s: the solver's
   scalars (vec_ops.h). */
struct minres_ops {
    /* r = b - q, where q = A x; old, u and u_old become 0; s[S_RR] = s[S_RHO] = r.r. Adds no record.
       `again`: the last record claims convergence. If ||r|| is more than twice tol, but at most half of what it was at
       the last such check, the record receives r.r, and the solve starts again from x. Otherwise, the record stays, and
       s[S_DONE] = CONVERGED. */
    void (*begin)(struct device *d, int64_t n, double *s, bool again, const void *b, const void *q, void *r, void *old,
                  void *u, void *u_old);
    /* alpha = s[S_PQ] / beta^2, where s[S_PQ] = z.A z; old = the next Lanczos vector, whose squared norm is
       s[S_RHO_NEXT]; u_old = the next u. q = A z. Without a preconditioner, z is r. */
    void (*lanczos)(struct device *d, int64_t n, double *s, const void *q, const void *z, const void *r, void *old,
                    const void *u, void *u_old);
    /* The next rotation, from s[S_RHO_NEXT]; then x += step u. Adds a record with the norm that the rotations give. */
    void (*step)(struct device *d, int64_t n, double *s, const void *u, void *x);
    /* The same with a preconditioner: the rotations give the norm of the residual in M^-1, so `residual`, the residual
       itself, is updated as well. r: the next Lanczos vector. */
    void (*step_residual)(struct device *d, int64_t n, double *s, const void *u, const void *r, void *x,
                          void *residual);
};
/* real: T_F32 or T_F64 */
const struct minres_ops *minres_ops_of(const struct device *d, enum type real);
/* The same operations with sums that the host adds (see vec_ops.h). */
const struct minres_ops *minres_ops_host_sums(const struct device *d, enum type real);

C_END
#endif
