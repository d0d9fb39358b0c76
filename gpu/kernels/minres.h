/* Shared by the kernels of MINRES: the next Lanczos vector, the rotations, and the step of x without a preconditioner.
 */
#ifndef MINRES_H
#define MINRES_H

#include "vec.h"

namespace KERNEL_SPACE
{

/* The scalars of minres. s[S_RHO] is beta_k^2 of the current Lanczos vector, s[S_RHO_NEXT] is beta_k+1^2 of the next.
 */
enum {
    S_BETA_OLD = S_OWN, /* beta_k-1; 0 in the first iteration */
    S_COS,              /* the last rotation, and the entries of R that it left in row k and in column k */
    S_SIN,
    S_DBAR,
    S_EPSLN,
    S_PHIBAR,    /* the norm of the residual; in the norm of M^-1 if there is a preconditioner */
    S_GAMMA,     /* gamma_k-1 */
    S_GAMMA_OLD, /* gamma_k-2 */
    S_NORM,      /* a lower bound on the norm of A */
    S_UU,        /* u.u of the current search direction */
    S_CHECKED,   /* r.r of b - A x when convergence was last checked */
    MINRES_END
};
static_assert(+MINRES_END <= +SCALARS, "there is room for the scalars");

/* The precision of the vectors limits how small a number can be before it counts as 0. */
template <typename T> constexpr double minres_rounding = sizeof(T) == sizeof(float) ? FLT_EPSILON : DBL_EPSILON;

/* If ||A r|| / (||A|| ||r||) is below this, b may not be in the range of A. */
template <typename T> constexpr double minres_small = sizeof(T) == sizeof(float) ? 1e-3 : 1e-6;

template <typename P> __device__ void minres_break(P s, int what, double value)
{
    s[S_DONE] = value != value ? NOT_A_NUMBER : BROKE_DOWN;
    s[S_WHAT] = what;
    s[S_PQ] = value;
}

/* In exact arithmetic, the coefficients follow from T, which has alpha_k on its diagonal and beta_k+1 beside it. */
template <typename AT> struct pass_minres_lanczos {
    enum { SUMS = 2 };
    typedef typename AT::real T;
    typename AT::in q, z, r;
    typename AT::out old;
    typename AT::in u;
    typename AT::out u_old;
    double alpha;
    bool broken;
    T scale, of_r, of_old, of_u, of_u_old;

    __device__ void begin(typename AT::scalars s)
    {
        double rho = s[S_RHO], beta = sqrt(rho), before = s[S_BETA_OLD];
        broken = !(rho > 0);
        alpha = s[S_PQ] / rho;
        scale = (T)(1 / beta);
        of_r = (T)(alpha / beta);
        of_old = (T)(before > 0 ? beta / before : 0);
        of_u = (T)((s[S_COS] * s[S_DBAR] + s[S_SIN] * alpha) / s[S_GAMMA]);
        of_u_old = (T)(s[S_EPSLN] / s[S_GAMMA_OLD]);
    }
    __device__ vec_sums at(int64_t i) const
    {
        if (broken) return {0, 0, 0};
        T next = scale * q[i] - of_old * old[i] - of_r * r[i];
        T way = scale * z[i] - of_u_old * u_old[i] - of_u * u[i];
        u_old[i] = way;
        old[i] = next;
        return {(double)next * (double)next, (double)way * (double)way, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        if (broken) return minres_break(s, BROKE_RHO, s[S_RHO]);
        s[S_ALPHA] = alpha;
        s[S_RHO_NEXT] = t.a;
        s[S_UU] = t.b;
    }
};

/* The rotation that eliminates beta_k+1 from T, and the step along u that follows from it. */
struct minres_rotation {
    double beta, next, dbar, gamma, c, sn, phibar, step, norm, root;

    template <typename P> __device__ void from(P s)
    {
        double alpha = s[S_ALPHA], gbar = s[S_SIN] * s[S_DBAR] - s[S_COS] * alpha;
        beta = sqrt(s[S_RHO]);
        next = sqrt(s[S_RHO_NEXT]);
        dbar = -s[S_COS] * next;
        norm = max((double)s[S_NORM], hypot(alpha, next));
        root = hypot(gbar, dbar); /* ||A r|| / ||r|| */
        gamma = hypot(gbar, next);
        c = gbar / gamma;
        sn = next / gamma;
        phibar = s[S_BETA_OLD] > 0 ? s[S_PHIBAR] : beta;
        step = c * phibar / gamma;
    }
    /* M is not positive definite, or r is orthogonal to the range of A up to rounding. */
    template <typename P> __device__ bool broken(P s, double rounding) const
    {
        return !(s[S_RHO_NEXT] >= 0) || !(root > rounding * norm);
    }
    /* Would the rounding errors of A times this step exceed the residual? If A is singular, x grows without bound along
       a null vector once r has become orthogonal to the range. */
    template <typename P> __device__ bool spoils(P s, double rounding) const
    {
        return rounding * norm * fabs(step) * sqrt(s[S_UU]) > phibar;
    }
    /* Is r almost orthogonal to the range, and are those rounding errors as large as half of what this step gains? The
       residual falls from phibar to sn phibar, by about c^2 / 2 phibar. This ends a solve at the least possible
       residual, where rounding errors keep ||A r|| above 0. */
    template <typename P> __device__ bool wastes(P s, double rounding, double small) const
    {
        double size = norm * fabs(step) * sqrt(s[S_UU]) / phibar;
        return root < small * norm && size > 1 && 4 * rounding * size > c * c;
    }
    template <typename P> __device__ void stop(P s) const
    {
        if (s[S_RHO_NEXT] >= 0) return minres_break(s, BROKE_SINGULAR, root / (norm > 0 ? norm : 1));
        minres_break(s, BROKE_RHO, s[S_RHO_NEXT]);
    }
    template <typename P> __device__ void keep(P s) const
    {
        s[S_BETA] = next;
        s[S_BETA_OLD] = beta;
        s[S_RHO] = s[S_RHO_NEXT];
        s[S_EPSLN] = s[S_SIN] * next;
        s[S_DBAR] = dbar;
        s[S_COS] = c;
        s[S_SIN] = sn;
        s[S_GAMMA_OLD] = s[S_GAMMA];
        s[S_GAMMA] = gamma;
        s[S_PHIBAR] = sn * phibar;
        s[S_NORM] = norm;
    }
};

#define MINRES_SLACK 10.0 /* rounding errors in the last vectors may be a few units */

template <typename AT> struct pass_minres_step {
    enum { SUMS = 1 }; /* this sum is 0: one thread adds the record after the last element */
    typedef typename AT::real T;
    typename AT::in u;
    typename AT::out x;
    minres_rotation to;
    bool broken;

    __device__ void begin(typename AT::scalars s)
    {
        to.from(s);
        broken = to.broken(s, MINRES_SLACK * minres_rounding<T>) || to.spoils(s, minres_rounding<T>) ||
                 to.wastes(s, minres_rounding<T>, minres_small<T>);
    }
    __device__ vec_sums at(int64_t i) const
    {
        if (!broken) x[i] += (T)to.step * u[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums) const
    {
        if (broken) return to.stop(s);
        to.keep(s);
        vec_note(s, s[S_PHIBAR] * s[S_PHIBAR], s[S_MAXDIFF]);
    }
};

} // namespace KERNEL_SPACE

#endif
