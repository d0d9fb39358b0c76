/* The passes of multigrid on a device: the steps of its smoother between two products with a matrix. Implemented by
   gpu/kernels/k_amg.cu. */
#ifndef AMG_OPS_H
#define AMG_OPS_H

#include <stdint.h>

#include "base/array.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/* r is the residual of x, dinv the inverse of the diagonal D, and z the last change of x; the products with A, which
   come between the passes, change r. Vectors have n values; the passes do nothing once s[S_DONE] is not 0. */
struct amg_ops {
    /* Start from x = 0: r = scale b, z = c D^-1 r, x = z. If r is NULL, b takes the place of r, and scale must be 1. */
    void (*begin)(struct device *d, int64_t n, double *s, double scale, double c, const void *b, const void *dinv,
                  void *r, void *z, void *x);
    /* z = a z + c D^-1 r, x += z */
    void (*smooth)(struct device *d, int64_t n, double *s, double a, double c, const void *r, const void *dinv, void *z,
                   void *x);
    /* z is a correction that r takes into account, but x does not: w = c D^-1 r, x += z + w, z = w */
    void (*correct)(struct device *d, int64_t n, double *s, double c, const void *r, const void *dinv, void *z,
                    void *x);
    void (*scale)(struct device *d, int64_t n, double *s, double factor, const void *x, void *y); /* y = factor x */
};
/* real: T_F32 or T_F64 */
const struct amg_ops *amg_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
