/* Shared by the kernels of bicgstab and qmrcgstab: the scalars of an iteration, and the tests for breakdown. T is the
   type of an element: if it is complex, so are alpha, beta, omega and rho. */
#ifndef BICG_H
#define BICG_H

#include "wide.h"

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

/* ---- the scalars; one thread ---- */

/* alpha = rho / shadow.v; vv: v.v */
template <typename T, typename P> __device__ void bicg_alpha(P s, wide<T> shadow_v, double vv)
{
    double size = signed_size(shadow_v);
    scalar_set<T>(s, S_ALPHA, scalar_of<T>(s, S_RHO) / shadow_v);
    if (bicg_none(s, size, s[S_SHADOW], vv)) bicg_break(s, BROKE_ALPHA, size);
}

/* omega = t.r / t.t, where s[S_HALF] is r.r. If t.r is 0 after a half step that has converged, no second half step is
   needed: omega = 0. */
template <typename T, typename P> __device__ void bicg_omega(P s, wide<T> tr, double tt)
{
    double size = signed_size(tr);
    bool none = bicg_none(s, size, s[S_HALF], tt), whole = s[S_HALF] <= s[S_TOL2];
    scalar_set<T>(s, S_OMEGA, none ? wide<T>(0) : tr / wide<T>(tt));
    if (none && !whole) bicg_break(s, BROKE_OMEGA, size);
}

/* Update beta and rho between two iterations. */
template <typename T, typename P> __device__ void bicg_next(P s, wide<T> rho)
{
    scalar_set<T>(s, S_BETA, rho / scalar_of<T>(s, S_RHO) * (scalar_of<T>(s, S_ALPHA) / scalar_of<T>(s, S_OMEGA)));
    scalar_set<T>(s, S_RHO, rho);
}

/* After the record: report a breakdown in rho or omega only if the solve has not converged. rr: r.r of the same
   residual as rho. */
template <typename T, typename P> __device__ void bicg_check(P s, double rr)
{
    if (s[S_DONE] != 0) return;
    double size = signed_size(scalar_of<T>(s, S_RHO));
    if (scalar_of<T>(s, S_OMEGA) == wide<T>(0))
        bicg_break(s, BROKE_OMEGA, 0);
    else if (bicg_none(s, size, s[S_SHADOW], rr))
        bicg_break(s, BROKE_RHO, size);
}

/* Record the squared norm `record`, then check; rr as above. */
template <typename T, typename P> __device__ void bicg_note(P s, double rr, double record)
{
    vec_note(s, record, s[S_MAXDIFF]);
    bicg_check<T>(s, rr);
}

} // namespace KERNEL_SPACE

#endif
