/* The passes of CGLS: conjugate gradients on the normal equations, with the residual r = b - A x in place of A' r.
   Every vector is read once; neighbouring threads access neighbouring elements. */
#include "least.h"
#include "passes.h"

namespace KERNEL_SPACE
{

enum {
    S_GAMMA = LEAST_END, /* ||A' r||^2 of the current r */
    S_GAMMA_NEXT,
    S_QQ_CGLS, /* q.q, where q = A p */
    S_RATIO,   /* beta / alpha of the last step, for the estimate of ||A|| */
    S_RR_NEXT,
    CGLS_END
};
static_assert(+CGLS_END <= +SCALARS, "there is room for the scalars");

template <typename AT> struct pass_cgls_begin : least_difference<AT> {
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        s[S_RR_NEXT] = t.a;
        s[S_NORM2] = s[S_INVERSE2] = s[S_RATIO] = 0;
    }
};

template <typename AT> struct pass_cgls_square {
    enum { SUMS = 1 };
    typename AT::in q;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const { return {vec_square((typename AT::real)q[i]), 0, 0}; }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_QQ_CGLS] = t.a; }
};

template <typename AT> struct pass_cgls_residual {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in q;
    typename AT::out r;
    T alpha;

    __device__ void begin(typename AT::scalars s) { alpha = (T)(s[S_GAMMA] / s[S_QQ_CGLS]); }
    __device__ vec_sums at(int64_t i) const
    {
        T residual = r[i] - alpha * q[i];
        r[i] = residual;
        return {vec_square(residual), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_RR_NEXT] = t.a; }
};

template <typename AT, bool DIAGONAL> struct pass_cgls_normal {
    enum { SUMS = 1 };
    typename AT::in t, dinv;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        return {vec_square(least_divided<DIAGONAL>(i, (typename AT::real)t[i], dinv)), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums sums) const { s[S_GAMMA_NEXT] = sums.a; }
};

template <typename AT, bool DIAGONAL> struct pass_cgls_step {
    enum { SUMS = 2 };
    typedef typename AT::real T;
    typename AT::in t, dinv;
    typename AT::out p, x;
    bool first;
    double alpha, beta;

    __device__ void begin(typename AT::scalars s)
    {
        alpha = first ? 0 : s[S_GAMMA] / s[S_QQ_CGLS];
        beta = first ? 0 : s[S_GAMMA_NEXT] / s[S_GAMMA];
    }
    __device__ vec_sums at(int64_t i) const
    {
        T before = first ? (T)0 : (T)p[i], sum = x[i] + (T)alpha * before;
        T way = least_divided<DIAGONAL>(i, least_divided<DIAGONAL>(i, (T)t[i], dinv), dinv);
        p[i] = way + (T)beta * before;
        x[i] = sum;
        double size = least_multiplied<DIAGONAL>(i, sum, dinv), step = least_multiplied<DIAGONAL>(i, before, dinv);
        return {size * size, step * step, 0};
    }
    /* The first estimate of ||A|| is that of lsqr, ||A' r|| / ||r||; later ones are the trace of the tridiagonal matrix
       of A'A, which alpha and beta give. */
    __device__ void end(typename AT::scalars s, vec_sums sums) const
    {
        double rr = s[S_RR_NEXT], gamma = s[S_GAMMA_NEXT], condition = 0, norm;
        if (first) {
            norm = min(rr > 0 ? sqrt(gamma / rr) : 0, (double)s[S_NORM_MOST]);
        } else {
            s[S_NORM2] = s[S_NORM2] + s[S_RATIO] + 1 / alpha;
            s[S_INVERSE2] = s[S_INVERSE2] + sums.b / s[S_QQ_CGLS];
            s[S_RATIO] = beta / alpha;
            norm = least_norm(s);
            condition = norm * sqrt((double)s[S_INVERSE2]);
        }
        s[S_GAMMA] = gamma;
        least_note(s, {rr, sqrt(gamma), sqrt(sums.a), norm, condition});
    }
};

/* ---- the passes ---- gamma = ||D^-1 t||^2, where t = A' r, and D^-1 is the diagonal dinv; NULL: I. */

/* r = b - q, where q = A x */
template <typename AT> static void begin(struct device *d, int64_t n, double *s, const void *b, const void *q, void *r)
{
    AT::run(d, n, s, pass_cgls_begin<AT>{{PASS_IN(b), PASS_IN(q), PASS_OUT(r)}});
}

/* s[S_QQ_CGLS] = q.q */
template <typename AT> static void square(struct device *d, int64_t n, double *s, const void *q)
{
    AT::run(d, n, s, pass_cgls_square<AT>{PASS_IN(q)});
}

/* r -= alpha q, where alpha = gamma / q.q */
template <typename AT> static void residual(struct device *d, int64_t n, double *s, const void *q, void *r)
{
    AT::run(d, n, s, pass_cgls_residual<AT>{PASS_IN(q), PASS_OUT(r), 0});
}

/* the next gamma */
template <typename AT> static void normal(struct device *d, int64_t n, double *s, const void *t, const void *dinv)
{
    if (dinv)
        AT::run(d, n, s, pass_cgls_normal<AT, true>{PASS_IN(t), PASS_IN(dinv)});
    else
        AT::run(d, n, s, pass_cgls_normal<AT, false>{PASS_IN(t), PASS_IN(dinv)});
}

template <typename AT, bool DIAGONAL>
static void step_with(struct device *d, int64_t n, double *s, bool first, const void *t, const void *dinv, void *p,
                      void *x)
{
    AT::run(d, n, s, pass_cgls_step<AT, DIAGONAL>{PASS_IN(t), PASS_IN(dinv), PASS_OUT(p), PASS_OUT(x), first, 0, 0});
}

/* x += alpha p; p = D^-2 t + beta p. Adds a record. `first`: only p = D^-2 t, and the record. */
template <typename AT>
static void step(struct device *d, int64_t n, double *s, bool first, const void *t, const void *dinv, void *p, void *x)
{
    (dinv ? step_with<AT, true> : step_with<AT, false>)(d, n, s, first, t, dinv, p, x);
}

} // namespace KERNEL_SPACE

PASSES(cgls, begin, square, residual, normal, step)
