/* The work memory of GMRES(m) on a device, which the passes of gpu/kernels/k_gmres.cu and their callers share. */
#ifndef GMRES_WORK_H
#define GMRES_WORK_H

#include <stdint.h>

#include "vec_ops.h"

/* `V` is the m basis vectors of n values each, at the pitch of vector_pitch.h. `q` is the product of A and the newest
   basis vector. `w` has GMRES_WORK(m) doubles on the device: first the rows GM_*, of m + 1 doubles each, then the
   partial sums. Below, H is the Hessenberg matrix, R is H after the rotations, and g is the rotated right-hand side. */
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

#endif
