/* The fused passes of CG on a device. Implemented by gpu/kernels/k_cg.cu. */
#ifndef CG_OPS_H
#define CG_OPS_H

#include <stdint.h>

#include "base/array.h"
#include "base/base.h"

C_BEGIN

struct device;

/* The solve ends with BROKE_DOWN unless s[S_PQ] > 0, or, if s[S_SIGN] < 0, unless s[S_PQ] < 0. Vectors have n values;
   s: the solver's scalars (vec_ops.h). dots and step take the diagonal of M^-1, dinv, if the preconditioner is a
   diagonal; NULL: M = I. */
struct cg_ops {
    /* s[S_PQ] = p.q, s[S_QQ] = q.M^-1 q; if s[S_CAREFUL] is set, also s[S_RQ] = r.M^-1 q */
    void (*dots)(struct device *d, int64_t n, double *s, const void *p, const void *q, const void *r, const void *dinv);
    /* alpha = r.M^-1 r / pq; x += alpha p; r -= alpha q; p = M^-1 r + beta p. To compute beta in the same pass, the
       function predicts r.M^-1 r from the sums of `dots`. s[S_RR] = the computed r.r, and s[S_RHO] = r.M^-1 r if there
       is a diagonal; s[S_CAREFUL] = 1 if the computed value differs from the prediction. Adds a record. */
    void (*step)(struct device *d, int64_t n, double *s, const void *q, const void *dinv, void *r, void *p, void *x);
    /* With a preconditioner that is no diagonal, alpha = s[S_RHO] / pq: x += alpha p; r -= alpha q; s[S_RR] = r.r */
    void (*update)(struct device *d, int64_t n, double *s, const void *p, const void *q, void *r, void *x);
    /* beta = r.z / s[S_RHO], then s[S_RHO] = r.z. Adds a record. */
    void (*rho)(struct device *d, int64_t n, double *s, const void *r, const void *z);
    void (*direction)(struct device *d, int64_t n, double *s, const void *z, void *p); /* p = z + beta p */
};
/* real: T_F32 or T_F64 */
const struct cg_ops *cg_ops_of(const struct device *d, enum type real);
/* The same operations with sums that the host adds (see vec_ops.h). */
const struct cg_ops *cg_ops_host_sums(const struct device *d, enum type real);

C_END
#endif
