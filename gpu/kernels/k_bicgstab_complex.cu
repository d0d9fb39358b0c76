/* The fused passes of bicgstab in complex arithmetic: like those of k_bicgstab.cu, but alpha, beta, omega and rho are
   complex, and an inner product conjugates its first vector. The residual and its norm stay real. The callers count the
   numbers in a vector, two for each element. */
#include "bicg.h"

namespace KERNEL_SPACE
{

/* conj(a) b in double precision */
template <typename T> __device__ cplx<double> pair_product(T a, T b)
{
    double ar = (double)a.re, ai = (double)a.im, br = (double)b.re, bi = (double)b.im;
    return {ar * br + ai * bi, ar * bi - ai * br};
}

/* A complex scalar: its real part is s[re], its imaginary part is s[im]. */
template <typename P> __device__ cplx<double> pair_of(P s, int re, int im)
{
    return {s[re], s[im]};
}

template <typename P> __device__ void pair_set(P s, int re, int im, cplx<double> v)
{
    s[re] = v.re;
    s[im] = v.im;
}

template <typename T> __device__ T pair_as(cplx<double> v)
{
    typedef decltype(T::re) R;
    return {(R)v.re, (R)v.im};
}

#define PAIR_ALPHA S_ALPHA, S_ALPHA_IM
#define PAIR_BETA S_BETA, S_BETA_IM
#define PAIR_OMEGA S_OMEGA, S_OMEGA_IM
#define PAIR_RHO S_RHO, S_RHO_IM

template <typename AT> struct pair_begin {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in b, q;
    typename AT::out r, shadow, p;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T v = b[i] - q[i];
        r[i] = v;
        shadow[i] = v;
        p[i] = v;
        return {vec_square(v), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        s[S_RHO] = s[S_SHADOW] = s[S_RR] = t.a;
        s[S_RHO_IM] = 0;
    }
};

template <typename AT> struct pair_alpha {
    enum { SUMS = 3 };
    typedef typename AT::real T;
    typename AT::in shadow, v;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T b = v[i];
        cplx<double> product = pair_product<T>(shadow[i], b);
        return {product.re, product.im, vec_square(b)};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        pair_set(s, PAIR_ALPHA, pair_of(s, PAIR_RHO) / cplx<double>(t.a, t.b));
        double size = hypot(t.a, t.b);
        if (bicg_none(s, size, s[S_SHADOW], t.c)) bicg_break(s, BROKE_ALPHA, size);
    }
};

template <typename AT> struct pair_half {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in v;
    typename AT::out r;
    T alpha;

    __device__ void begin(typename AT::scalars s) { alpha = pair_as<T>(pair_of(s, PAIR_ALPHA)); }
    __device__ vec_sums at(int64_t i) const
    {
        T h = r[i] - alpha * v[i];
        r[i] = h;
        return {vec_square(h), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_HALF] = t.a; }
};

/* If t.r is 0 after a half step that has converged, no second half step is needed: omega = 0. */
template <typename AT> struct pair_omega {
    enum { SUMS = 3 };
    typedef typename AT::real T;
    typename AT::in t, r;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T a = t[i];
        cplx<double> product = pair_product<T>(a, r[i]);
        return {product.re, product.im, vec_square(a)};
    }
    __device__ void end(typename AT::scalars s, vec_sums sum) const
    {
        double size = hypot(sum.a, sum.b);
        bool none = bicg_none(s, size, s[S_HALF], sum.c), whole = s[S_HALF] <= s[S_TOL2];
        pair_set(s, PAIR_OMEGA, none ? cplx<double>(0) : cplx<double>(sum.a / sum.c, sum.b / sum.c));
        if (none && !whole) bicg_break(s, BROKE_OMEGA, size);
    }
};

template <typename AT> struct pair_update {
    enum { SUMS = 3 };
    typedef typename AT::real T;
    typename AT::in p, t, shadow;
    typename AT::out r, x;
    T alpha, omega;

    __device__ void begin(typename AT::scalars s)
    {
        alpha = pair_as<T>(pair_of(s, PAIR_ALPHA));
        omega = pair_as<T>(pair_of(s, PAIR_OMEGA));
    }
    __device__ vec_sums at(int64_t i) const
    {
        T half = r[i], next = half - omega * t[i];
        x[i] += alpha * p[i] + omega * half;
        r[i] = next;
        cplx<double> product = pair_product<T>(shadow[i], next);
        return {vec_square(next), product.re, product.im};
    }
    __device__ void end(typename AT::scalars s, vec_sums sum) const
    {
        cplx<double> rho(sum.b, sum.c), omega_now = pair_of(s, PAIR_OMEGA);
        pair_set(s, PAIR_BETA, rho / pair_of(s, PAIR_RHO) * (pair_of(s, PAIR_ALPHA) / omega_now));
        pair_set(s, PAIR_RHO, rho);
        vec_note(s, sum.a, s[S_MAXDIFF]);
        if (s[S_DONE] != 0) return;
        double size = hypot(sum.b, sum.c);
        if (omega_now == cplx<double>(0))
            bicg_break(s, BROKE_OMEGA, 0);
        else if (bicg_none(s, size, s[S_SHADOW], sum.a))
            bicg_break(s, BROKE_RHO, size);
    }
};

template <typename AT> struct pair_direction {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in r, v;
    typename AT::out p;
    T beta, omega;

    __device__ void begin(typename AT::scalars s)
    {
        beta = pair_as<T>(pair_of(s, PAIR_BETA));
        omega = pair_as<T>(pair_of(s, PAIR_OMEGA));
    }
    __device__ vec_sums at(int64_t i) const
    {
        p[i] = r[i] + beta * (p[i] - omega * v[i]);
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- the launches; numbers: two for each element ---- */

template <typename AT>
static void begin(struct device *d, int64_t numbers, double *s, const void *b, const void *q, void *r, void *shadow,
                  void *p)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_begin<AT>{PASS_IN(b), PASS_IN(q), PASS_OUT(r), PASS_OUT(shadow), PASS_OUT(p)});
}

template <typename AT>
static void alpha(struct device *d, int64_t numbers, double *s, const void *shadow, const void *v)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_alpha<AT>{PASS_IN(shadow), PASS_IN(v)});
}

template <typename AT> static void half(struct device *d, int64_t numbers, double *s, const void *v, void *r)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_half<AT>{PASS_IN(v), PASS_OUT(r), 0});
}

template <typename AT> static void omega(struct device *d, int64_t numbers, double *s, const void *t, const void *r)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_omega<AT>{PASS_IN(t), PASS_IN(r)});
}

template <typename AT>
static void update(struct device *d, int64_t numbers, double *s, const void *p, const void *t, const void *shadow,
                   void *r, void *x)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_update<AT>{PASS_IN(p), PASS_IN(t), PASS_IN(shadow), PASS_OUT(r), PASS_OUT(x), 0, 0});
}

template <typename AT>
static void direction(struct device *d, int64_t numbers, double *s, const void *r, const void *v, void *p)
{
    int64_t n = numbers / 2;
    AT::run(d, n, s, pair_direction<AT>{PASS_IN(r), PASS_IN(v), PASS_OUT(p), 0, 0});
}

} // namespace KERNEL_SPACE

#define BICG_PAIRS(id, AT)                                                        \
    extern "C" const struct bicg_ops id;                                          \
    const struct bicg_ops id = {.begin = KERNEL_SPACE::begin<KERNEL_SPACE::AT>,   \
                                .alpha = KERNEL_SPACE::alpha<KERNEL_SPACE::AT>,   \
                                .half = KERNEL_SPACE::half<KERNEL_SPACE::AT>,     \
                                .omega = KERNEL_SPACE::omega<KERNEL_SPACE::AT>,   \
                                .update = KERNEL_SPACE::update<KERNEL_SPACE::AT>, \
                                .direction = KERNEL_SPACE::direction<KERNEL_SPACE::AT>}

BICG_PAIRS(VEC_SYMBOL(bicg_c32), on_gpu<cplx<float>>);
BICG_PAIRS(VEC_SYMBOL(bicg_c64), on_gpu<cplx<double>>);
BICG_PAIRS(VEC_SYMBOL(parts_bicg_c32), gpu_then_host<cplx<float>>);
BICG_PAIRS(VEC_SYMBOL(parts_bicg_c64), gpu_then_host<cplx<double>>);
#ifndef __CUDACC__
BICG_PAIRS(cpu_vec_bicg_c32, on_host<cplx<float>>);
BICG_PAIRS(cpu_vec_bicg_c64, on_host<cplx<double>>);
BICG_PAIRS(cpu_vec_parts_bicg_c32, host_then_host<cplx<float>>);
BICG_PAIRS(cpu_vec_parts_bicg_c64, host_then_host<cplx<double>>);
#endif
