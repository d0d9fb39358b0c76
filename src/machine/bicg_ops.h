/* The fused passes of BiCGStab and QMRCGStab on a device (k_bicgstab.cu). */
#ifndef BICG_OPS_H
#define BICG_OPS_H

#include <stdint.h>

#include "base/array.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/* The fused passes of bicgstab and qmrcgstab (k_bicgstab.cu). Where a number that they divide by is 0 but for rounding,
   s[S_DONE] = BROKE_DOWN, and s[S_WHAT] says which. */
struct bicg_ops {
    /* s[S_RHO] = s[S_SHADOW] = s[S_RR] = r.r, with r = b - q and copies of it in shadow and p; no record */
    void (*begin)(struct device *d, int64_t n, double *s, const void *b, const void *q, void *r, void *shadow, void *p);
    void (*alpha)(struct device *d, int64_t n, double *s, const void *shadow, const void *v); /* rho / shadow.v */
    void (*half)(struct device *d, int64_t n, double *s, const void *v, void *r); /* r -= alpha v; s[S_HALF] = r.r */
    void (*omega)(struct device *d, int64_t n, double *s, const void *t, const void *r); /* t.r / t.t */
    /* x += alpha p + omega r; r -= omega t; s[S_RR] = r.r; the next rho and beta; record */
    void (*update)(struct device *d, int64_t n, double *s, const void *p, const void *t, const void *shadow, void *r,
                   void *x);
    void (*direction)(struct device *d, int64_t n, double *s, const void *r, const void *v,
                      void *p); /* p = r + beta (p - omega v) */
    /* qmrcgstab: rest = r, d = ad = 0, where rest is the residual of its x, and ad = A d */
    void (*qmr_begin)(struct device *d, int64_t n, double *s, const void *r, void *rest, void *dir, void *adir);
    /* r -= omega t, and the scalars of both quasi-minimisations */
    void (*qmr_residual)(struct device *d, int64_t n, double *s, const void *t, const void *shadow, void *r);
    /* Both steps of x, with their directions; rest likewise; p as in direction; record of rest.rest */
    void (*qmr_update)(struct device *d, int64_t n, double *s, const void *r, const void *v, const void *t, void *p,
                       void *dir, void *adir, void *x, void *rest);
};
/* real: T_F32 or T_F64 */
const struct bicg_ops *bicg_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
