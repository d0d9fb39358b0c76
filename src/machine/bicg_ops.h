/* The fused passes of BiCGStab and QMRCGStab on a device. Implemented by gpu/kernels/k_bicgstab.cu. */
#ifndef BICG_OPS_H
#define BICG_OPS_H

#include <stdint.h>

#include "base/array.h"
#include "base/base.h"

C_BEGIN

struct device;

/* If a divisor is 0 up to rounding, a pass sets s[S_DONE] = BROKE_DOWN and s[S_WHAT] to the code of that divisor (see
   reason.h). Vectors have n values; s: the solver's scalars (vec_ops.h). */
struct bicg_ops {
    /* r = b - q; shadow and p are copies of r; s[S_RHO] = s[S_SHADOW] = s[S_RR] = r.r. Adds no record. */
    void (*begin)(struct device *d, int64_t n, double *s, const void *b, const void *q, void *r, void *shadow, void *p);
    void (*alpha)(struct device *d, int64_t n, double *s, const void *shadow, const void *v); /* rho / shadow.v */
    void (*half)(struct device *d, int64_t n, double *s, const void *v, void *r); /* r -= alpha v; s[S_HALF] = r.r */
    void (*omega)(struct device *d, int64_t n, double *s, const void *t, const void *r); /* t.r / t.t */
    /* x += alpha p + omega r; r -= omega t; s[S_RR] = r.r; then compute the next rho and beta, and add a record */
    void (*update)(struct device *d, int64_t n, double *s, const void *p, const void *t, const void *shadow, void *r,
                   void *x);
    /* p = r + beta (p - omega v) */
    void (*direction)(struct device *d, int64_t n, double *s, const void *r, const void *v, void *p);
    /* qmrcgstab: residual = r, dir = adir = 0. `residual` is the residual of the smoothed x; adir = A dir */
    void (*qmr_begin)(struct device *d, int64_t n, double *s, const void *r, void *residual, void *dir, void *adir);
    /* r -= omega t; then compute the scalars of both quasi-minimisations */
    void (*qmr_residual)(struct device *d, int64_t n, double *s, const void *t, const void *shadow, void *r);
    /* Update x and its residual along both directions, then update p as `direction` does; record the inner product
       residual.residual */
    void (*qmr_update)(struct device *d, int64_t n, double *s, const void *r, const void *v, const void *t, void *p,
                       void *dir, void *adir, void *x, void *residual);
};
/* T_F32 or T_F64; for T_C32 and T_C64, the vectors hold n / 2 complex numbers, alpha, beta, omega and rho are complex
   (their imaginary parts are in s[S_ALPHA_IM] and so on), and the functions of qmrcgstab are NULL. Implemented by
   gpu/kernels/k_bicgstab.cu. */
const struct bicg_ops *bicg_ops_of(const struct device *d, enum type type);
/* The same operations with sums that the host adds (see vec_ops.h). */
const struct bicg_ops *bicg_ops_host_sums(const struct device *d, enum type type);

C_END
#endif
