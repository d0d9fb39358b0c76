/* The fused passes of bicgstab: each reads and writes its vectors once, and leaves the scalars that the next needs. */
#include "vec.h"

namespace KERNEL_SPACE
{

/* Whether a sum of products is 0 but for rounding, given the squared norms of its two vectors. */
__device__ bool bicg_none(double sum, double aa, double bb)
{
    return !(fabs(sum) > DBL_EPSILON * sqrt(aa) * sqrt(bb));
}

template <typename P> __device__ void bicg_break(P s, int what, double value)
{
    s[S_DONE] = value != value ? NOT_A_NUMBER : BROKE_DOWN;
    s[S_WHAT] = what;
    s[S_PQ] = value;
}

template <typename AT> struct pass_begin {
    enum { SUMS = 1 };
    typename AT::in b, q;
    typename AT::out r, shadow, p;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real v = b[i] - q[i];
        r[i] = shadow[i] = p[i] = v;
        return {(double)v * (double)v, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_RHO] = s[S_SHADOW] = s[S_RR] = t.a; }
};

template <typename AT> struct pass_alpha {
    enum { SUMS = 2 };
    typename AT::in shadow, v;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        double a = (double)shadow[i], b = (double)v[i];
        return {a * b, b * b, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        s[S_ALPHA] = s[S_RHO] / t.a;
        if (bicg_none(t.a, s[S_SHADOW], t.b)) bicg_break(s, BROKE_ALPHA, t.a);
    }
};

template <typename AT> struct pass_half {
    enum { SUMS = 1 };
    typename AT::in v;
    typename AT::out r;
    typename AT::real alpha;

    __device__ void begin(typename AT::scalars s) { alpha = (typename AT::real)s[S_ALPHA]; }
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real h = r[i] - alpha * v[i];
        r[i] = h;
        return {(double)h * (double)h, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_HALF] = t.a; }
};

/* Where the half step has converged, it is the whole: omega = 0. */
template <typename AT> struct pass_omega {
    enum { SUMS = 2 };
    typename AT::in t, r;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        double a = (double)t[i], b = (double)r[i];
        return {a * b, a * a, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums sum) const
    {
        bool whole = s[S_HALF] <= s[S_TOL2];
        s[S_OMEGA] = whole ? 0 : sum.a / sum.b;
        if (!whole && bicg_none(sum.a, s[S_HALF], sum.b)) bicg_break(s, BROKE_OMEGA, sum.a);
    }
};

/* The scalars between two iterations. That rho broke down matters only if the solve goes on. */
template <typename P> __device__ void bicg_next(P s, double rr, double rho)
{
    s[S_BETA] = rho / s[S_RHO] * (s[S_ALPHA] / s[S_OMEGA]);
    s[S_RHO] = rho;
    if (s[S_DONE] == 0 && bicg_none(rho, s[S_SHADOW], rr)) bicg_break(s, BROKE_RHO, rho);
}

template <typename AT> struct pass_update {
    enum { SUMS = 2 };
    typename AT::in p, t, shadow;
    typename AT::out r, x;
    typename AT::real alpha, omega;

    __device__ void begin(typename AT::scalars s)
    {
        alpha = (typename AT::real)s[S_ALPHA];
        omega = (typename AT::real)s[S_OMEGA];
    }
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real half = r[i], next = half - omega * t[i];
        x[i] += alpha * p[i] + omega * half;
        r[i] = next;
        return {(double)next * (double)next, (double)shadow[i] * (double)next, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums sum) const
    {
        vec_note(s, sum.a, s[S_MAXDIFF]);
        bicg_next(s, sum.a, sum.b);
    }
};

template <typename AT> struct pass_direction {
    enum { SUMS = 0 };
    typename AT::in r, v;
    typename AT::out p;
    typename AT::real beta, omega;

    __device__ void begin(typename AT::scalars s)
    {
        beta = (typename AT::real)s[S_BETA];
        omega = (typename AT::real)s[S_OMEGA];
    }
    __device__ vec_sums at(int64_t i) const
    {
        p[i] = r[i] + beta * (p[i] - omega * v[i]);
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- the launches ---- */

template <typename AT>
static void begin(struct device *d, int64_t n, double *s, const void *b, const void *q, void *r, void *shadow, void *p)
{
    AT::run(d, n, s, pass_begin<AT>{PASS_IN(b), PASS_IN(q), PASS_OUT(r), PASS_OUT(shadow), PASS_OUT(p)});
}

template <typename AT> static void alpha(struct device *d, int64_t n, double *s, const void *shadow, const void *v)
{
    AT::run(d, n, s, pass_alpha<AT>{PASS_IN(shadow), PASS_IN(v)});
}

template <typename AT> static void half(struct device *d, int64_t n, double *s, const void *v, void *r)
{
    AT::run(d, n, s, pass_half<AT>{PASS_IN(v), PASS_OUT(r), 0});
}

template <typename AT> static void omega(struct device *d, int64_t n, double *s, const void *t, const void *r)
{
    AT::run(d, n, s, pass_omega<AT>{PASS_IN(t), PASS_IN(r)});
}

template <typename AT>
static void update(struct device *d, int64_t n, double *s, const void *p, const void *t, const void *shadow, void *r,
                   void *x)
{
    AT::run(d, n, s, pass_update<AT>{PASS_IN(p), PASS_IN(t), PASS_IN(shadow), PASS_OUT(r), PASS_OUT(x), 0, 0});
}

template <typename AT>
static void direction(struct device *d, int64_t n, double *s, const void *r, const void *v, void *p)
{
    AT::run(d, n, s, pass_direction<AT>{PASS_IN(r), PASS_IN(v), PASS_OUT(p), 0, 0});
}

} // namespace KERNEL_SPACE

#define BICG_ENTRY(id, AT)                                                        \
    extern "C" const struct bicg_ops id;                                          \
    const struct bicg_ops id = {.begin = KERNEL_SPACE::begin<KERNEL_SPACE::AT>,   \
                                .alpha = KERNEL_SPACE::alpha<KERNEL_SPACE::AT>,   \
                                .half = KERNEL_SPACE::half<KERNEL_SPACE::AT>,     \
                                .omega = KERNEL_SPACE::omega<KERNEL_SPACE::AT>,   \
                                .update = KERNEL_SPACE::update<KERNEL_SPACE::AT>, \
                                .direction = KERNEL_SPACE::direction<KERNEL_SPACE::AT>}

BICG_ENTRY(VEC_SYMBOL(bicg_f32), on_gpu<float>);
BICG_ENTRY(VEC_SYMBOL(bicg_f64), on_gpu<double>);
#ifndef __CUDACC__
BICG_ENTRY(cpu_vec_bicg_f32, on_host<float>);
BICG_ENTRY(cpu_vec_bicg_f64, on_host<double>);
#endif
