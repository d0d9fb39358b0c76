/* The fused passes of qmrcgstab, which it needs beside those of bicgstab. If A is complex, they treat real and
   imaginary parts as separate unknowns. */
#include "bicg.h"
#include "passes.h"

namespace KERNEL_SPACE
{

/* The scalars of qmrcgstab beside those of bicgstab; see qmr_scalars. */
enum { S_TAU = S_QMR, S_MIX, S_FIRST, S_SECOND, S_ETA1, S_ETA2, QMR_END };
static_assert(+QMR_END <= +SCALARS, "there is room for the scalars");

template <typename AT> struct pass_qmr_begin {
    enum { SUMS = 1 };
    typename AT::in r;
    typename AT::out residual, dir, adir;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real v = r[i];
        residual[i] = v;
        dir[i] = adir[i] = 0;
        return {(double)v * (double)v, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        s[S_TAU] = sqrt(t.a);
        s[S_MIX] = 0;
    }
};

/* A quasi-minimisation after a step of length `step`; rr is the squared norm of the new residual. With theta =
   ||r|| / tau and c = 1 / sqrt(1 + theta^2), tau becomes tau theta c, and x moves by eta = c^2 step. Returns theta^2
   eta. */
template <typename P> __device__ double qmr_minimise(P s, double rr, double step, int eta)
{
    double tau = s[S_TAU], theta2 = tau > 0 ? rr / (tau * tau) : 0, c2 = 1 / (1 + theta2);
    s[S_TAU] = tau * sqrt(theta2 * c2);
    s[eta] = c2 * step;
    return theta2 * c2 * step;
}

/* Two quasi-minimisations: after the half step (length alpha), and after the full step (length omega). */
template <typename P> __device__ void qmr_scalars(P s, double rr)
{
    double alpha = s[S_ALPHA], omega = s[S_OMEGA];
    s[S_FIRST] = s[S_MIX] / alpha;
    double mix = qmr_minimise(s, s[S_HALF], alpha, S_ETA1);
    s[S_SECOND] = omega == 0 ? 0 : mix / omega;
    s[S_MIX] = qmr_minimise(s, rr, omega, S_ETA2);
    s[S_HALF] = rr;
}

template <typename AT> struct pass_qmr_residual {
    enum { SUMS = 2 };
    typename AT::in t, shadow;
    typename AT::out r;
    typename AT::real omega;

    __device__ void begin(typename AT::scalars s) { omega = (typename AT::real)s[S_OMEGA]; }
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real v = r[i] - omega * t[i];
        r[i] = v;
        return {(double)v * (double)v, (double)shadow[i] * (double)v, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums sum) const
    {
        qmr_scalars(s, sum.a);
        bicg_next<typename AT::real>(s, sum.b);
    }
};

/* Reads three vectors and updates five. `residual` is the residual of x, updated by a recurrence, so the record holds
   its norm itself, not a bound on the norm. */
template <typename AT> struct pass_qmr_update {
    enum { SUMS = 1 };
    typename AT::in r, v, t;
    typename AT::out p, dir, adir, x, residual;
    typename AT::real beta, omega, first, second, eta1, eta2;

    __device__ void begin(typename AT::scalars s)
    {
        typedef typename AT::real T;
        beta = (T)s[S_BETA];
        omega = (T)s[S_OMEGA];
        first = (T)s[S_FIRST];
        second = (T)s[S_SECOND];
        eta1 = (T)s[S_ETA1];
        eta2 = (T)s[S_ETA2];
    }
    __device__ vec_sums at(int64_t i) const
    {
        typedef typename AT::real T;
        T ri = r[i], pi = p[i], vi = v[i], ti = t[i];
        T d1 = pi + first * dir[i], ad1 = vi + first * adir[i];
        T d2 = ri + omega * ti + second * d1, ad2 = ti + second * ad1;
        T next = residual[i] - (eta1 * ad1 + eta2 * ad2);
        x[i] += eta1 * d1 + eta2 * d2;
        residual[i] = next;
        dir[i] = d2;
        adir[i] = ad2;
        p[i] = ri + beta * (pi - omega * vi);
        return {(double)next * (double)next, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums sum) const
    {
        bicg_note<typename AT::real>(s, s[S_HALF], sum.a);
    }
};

/* ---- the passes ---- */

/* residual = r, dir = adir = 0. `residual` is the residual of the smoothed x; adir = A dir */
template <typename AT>
static void begin(struct device *d, int64_t n, double *s, const void *r, void *residual, void *dir, void *adir)
{
    AT::run(d, n, s, pass_qmr_begin<AT>{PASS_IN(r), PASS_OUT(residual), PASS_OUT(dir), PASS_OUT(adir)});
}

/* r -= omega t; then compute the scalars of both quasi-minimisations */
template <typename AT>
static void residual(struct device *d, int64_t n, double *s, const void *t, const void *shadow, void *r)
{
    AT::run(d, n, s, pass_qmr_residual<AT>{PASS_IN(t), PASS_IN(shadow), PASS_OUT(r), 0});
}

/* Update x and its residual along both directions, then update p as `direction` of bicgstab does; record the inner
   product residual.residual */
template <typename AT>
static void update(struct device *d, int64_t n, double *s, const void *r, const void *v, const void *t, void *p,
                   void *dir, void *adir, void *x, void *residual)
{
    AT::run(d, n, s,
            pass_qmr_update<AT>{PASS_IN(r), PASS_IN(v), PASS_IN(t), PASS_OUT(p), PASS_OUT(dir), PASS_OUT(adir),
                                PASS_OUT(x), PASS_OUT(residual), 0, 0, 0, 0, 0, 0});
}

} // namespace KERNEL_SPACE

PASSES_COLUMNS(qmrcgstab, begin, residual, update)
