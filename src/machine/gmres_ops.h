/* The fused passes of GMRES(m) on a device. Implemented by gpu/kernels/k_gmres.cu. */
#ifndef GMRES_OPS_H
#define GMRES_OPS_H

#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "vec_ops.h"

#include <stdbool.h>

C_BEGIN

struct device;

/* `V` holds the m basis vectors of n values each, one after another. `q` is the product of A and the newest basis
   vector. `w` holds GMRES_WORK(m) doubles on the device: first the rows GM_*, of m + 1 doubles each, then the partial
   sums. Below, H is the Hessenberg matrix, R is H after the rotations, and g is the rotated right-hand side. */
enum {
    GM_H,
    GM_H2,
    GM_G,
    GM_COS,
    GM_SIN,
    GM_Y,
    GM_R, /* column c of R is row GM_R + c; column c of H, before rotation, is row GM_R + m + c */
    GM_BLOCKS = 512,
    GM_MAX = 500,
    GM_CLUSTER_BLOCKS = 16 /* of a launch by a cluster of thread blocks (cluster_ops.h), at most */
};
/* The scalars of gmres. */
enum {
    S_COLUMNS = S_OWN, /* number of columns of the current cycle */
    S_SCALE            /* 1 / the norm of the next vector */
};
#define GMRES_WORK(m) (((int64_t)GM_R + 2 * (m) + GM_BLOCKS) * ((m) + 1))
#define GMRES_PARTS(m) (((int64_t)GM_R + 2 * (m)) * ((m) + 1)) /* start of the partial sums of column 0 */
/* bytes of shared memory per block that such a launch needs in addition: 6 arrays, and a slot for each block and pass
 */
#define GMRES_CLUSTER(m) ((6 + 2 * (int64_t)GM_CLUSTER_BLOCKS) * ((m) + 2) * (int64_t)sizeof(double))
struct gmres_ops {
    /* row = V'q for the columns [from, to) */
    void (*dots)(struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row, const void *V,
                 const void *q);
    /* q -= V row for the columns [from, to); with `norm`, also s[S_PQ] = q.q */
    void (*subtract)(struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row, bool norm,
                     const void *V, void *q);
    /* Rotate column k of H into R and record the new residual. The column consists of row GM_H (plus GM_H2 if q was
       orthogonalised twice), followed by the square root of s[S_PQ]. If the column makes R singular, the solve ends
       with BROKE_DOWN and the column is not used. */
    void (*column)(struct device *d, double *s, double *w, int m, int k, bool twice);
    void (*solve)(struct device *d, double *s, double *w, int m); /* solve R y = g with s[S_COLUMNS] columns */
    void (*add)(struct device *d, int64_t n, double *s, double *w, int m, const void *V, void *x); /* x += V y */
    /* q = b - q, which is the true residual. The next cycle starts from this residual. The true residual replaces the
       residual in the last record, and may end the solve. */
    void (*residual)(struct device *d, int64_t n, double *s, double *w, int m, const void *b, void *q);
    void (*scale)(struct device *d, int64_t n, double *s, const void *q, void *v); /* v = s[S_SCALE] q */
};
/* T_F32 or T_F64; for T_C32 and T_C64, the vectors hold n / 2 complex numbers, and `w` holds GMRES_WORK(m) pairs.
   Implemented by gpu/kernels/k_gmres.cu. */
const struct gmres_ops *gmres_ops_of(const struct device *d, enum type type);
/* The same operations with sums that the host adds (see vec_ops.h); `dots` needs m * SUM_BLOCKS doubles of d->sums. */
const struct gmres_ops *gmres_ops_host_sums(const struct device *d, enum type real);

C_END
#endif
