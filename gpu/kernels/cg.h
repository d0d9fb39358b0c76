/* Shared by the kernels of conjugate gradients: the tests for breakdown. */
#ifndef CG_H
#define CG_H

#include "vec.h"

namespace KERNEL_SPACE
{

/* p.q must be positive; otherwise the matrix is not positive definite, or a value is not a number. For a matrix that
   may be negative definite, p.q must be negative: the iterates of -A x = -b are those of A x = b with another sign of
   alpha and p.q. */
template <typename P> __device__ bool cg_broken(P s)
{
    return !((s[S_SIGN] < 0 ? -s[S_PQ] : s[S_PQ]) > 0);
}

template <typename P> __device__ void cg_break(P s)
{
    s[S_DONE] = s[S_PQ] != s[S_PQ] ? NOT_A_NUMBER : BROKE_DOWN;
}

/* r.z must be positive as well; otherwise M is not positive definite. At convergence, r.z and r.r may both be 0. */
template <typename P> __device__ void cg_check_rho(P s, double rho)
{
    if (s[S_DONE] != 0 || rho > 0) return;
    s[S_PQ] = rho;
    s[S_WHAT] = BROKE_RHO;
    s[S_DONE] = rho != rho ? NOT_A_NUMBER : BROKE_DOWN;
}

} // namespace KERNEL_SPACE

#endif
