/* Shared by the passes of bicgstab and qmrcgstab in real and in complex arithmetic: the tests for breakdown. */
#ifndef BICG_H
#define BICG_H

#include "vec.h"

#include "machine/bicg_ops.h"

namespace KERNEL_SPACE
{

/* The scalars of bicgstab and qmrcgstab. */
enum {
    S_HALF = S_OWN, /* r.r after the half step */
    S_SHADOW,       /* r.r at the start */
    S_QMR           /* the first scalar of qmrcgstab alone */
};

/* Whether an inner product is 0 up to rounding, given the squared norms aa and bb of its two vectors. */
template <typename P> __device__ bool bicg_none(P s, double sum, double aa, double bb)
{
    return !(fabs(sum) > s[S_NONE] * sqrt(aa) * sqrt(bb));
}

template <typename P> __device__ void bicg_break(P s, int what, double value)
{
    s[S_DONE] = value != value ? NOT_A_NUMBER : BROKE_DOWN;
    s[S_WHAT] = what;
    s[S_PQ] = value;
}

/* ---- the scalars of real bicgstab; one thread ---- */

/* alpha = rho / shadow.v; vv: v.v */
template <typename P> __device__ void bicg_alpha(P s, double shadow_v, double vv)
{
    s[S_ALPHA] = s[S_RHO] / shadow_v;
    if (bicg_none(s, shadow_v, s[S_SHADOW], vv)) bicg_break(s, BROKE_ALPHA, shadow_v);
}

/* omega = t.r / t.t, where s[S_HALF] is r.r. If t.r is 0 after a half step that has converged, no second half step is
   needed: omega = 0. */
template <typename P> __device__ void bicg_omega(P s, double tr, double tt)
{
    bool none = bicg_none(s, tr, s[S_HALF], tt), whole = s[S_HALF] <= s[S_TOL2];
    s[S_OMEGA] = none ? 0 : tr / tt;
    if (none && !whole) bicg_break(s, BROKE_OMEGA, tr);
}

/* Update beta and rho between two iterations. */
template <typename P> __device__ void bicg_next(P s, double rho)
{
    s[S_BETA] = rho / s[S_RHO] * (s[S_ALPHA] / s[S_OMEGA]);
    s[S_RHO] = rho;
}

/* After the record: report a breakdown in rho or omega only if the solve has not converged. rr: r.r of the same
   residual as rho. */
template <typename P> __device__ void bicg_check(P s, double rr)
{
    if (s[S_DONE] != 0) return;
    if (s[S_OMEGA] == 0)
        bicg_break(s, BROKE_OMEGA, 0);
    else if (bicg_none(s, s[S_RHO], s[S_SHADOW], rr))
        bicg_break(s, BROKE_RHO, s[S_RHO]);
}

} // namespace KERNEL_SPACE

#endif
