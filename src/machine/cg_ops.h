/* The fused passes of CG on a device (k_cg.cu). */
#ifndef CG_OPS_H
#define CG_OPS_H

#include <stdint.h>

#include "base/array.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/* The fused passes of cg (k_cg.cu). The step is BROKE_DOWN unless s[S_PQ] > 0. */
struct cg_ops {
    /* s[S_PQ] = p.q, s[S_QQ] = q.q, and if s[S_CAREFUL] s[S_RQ] = r.q */
    void (*dots)(struct device *d, int64_t n, double *s, const void *p, const void *q, const void *r);
    /* alpha = rr / pq; x += alpha p; r -= alpha q; p = r + beta p, with the beta that the sums foretell, so that one
       pass does; s[S_RR] = r.r as it came out, s[S_CAREFUL] = 1 if that is not what they foretold; record */
    void (*step)(struct device *d, int64_t n, double *s, const void *q, void *r, void *p, void *x);
    /* With a preconditioner, alpha = s[S_RHO] / pq: x += alpha p; r -= alpha q; s[S_RR] = r.r */
    void (*update)(struct device *d, int64_t n, double *s, const void *p, const void *q, void *r, void *x);
    /* beta = r.z / s[S_RHO], then s[S_RHO] = r.z; record */
    void (*rho)(struct device *d, int64_t n, double *s, const void *r, const void *z);
    void (*direction)(struct device *d, int64_t n, double *s, const void *z, void *p); /* p = z + beta p */
};
/* real: T_F32 or T_F64 */
const struct cg_ops *cg_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
