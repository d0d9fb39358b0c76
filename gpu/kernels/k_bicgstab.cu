/* The fused passes of bicgstab and qmrcgstab: each reads and writes its vectors once and computes the scalars that
   the next pass needs. If the vectors are complex, an inner product conjugates its first vector. */
#include "bicg.h"

namespace KERNEL_SPACE
{

template <typename AT> struct pass_begin {
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
        s[S_SHADOW] = s[S_RR] = t.a;
        scalar_set<T>(s, S_RHO, t.a);
    }
};

template <typename AT> struct pass_alpha {
    typedef typename AT::real T;
    enum { SUMS = SQUARE_AND_PRODUCT<T> };
    typename AT::in shadow, v;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T a = shadow[i], b = v[i];
        return square_and_product<T>(vec_square(b), wide_product<T>(a, b));
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { bicg_alpha<T>(s, product_of<T>(t), t.a); }
};

template <typename AT> struct pass_half {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in v;
    typename AT::out r;
    T alpha;

    __device__ void begin(typename AT::scalars s) { alpha = narrowed<T>(scalar_of<T>(s, S_ALPHA)); }
    __device__ vec_sums at(int64_t i) const
    {
        T h = r[i] - alpha * v[i];
        r[i] = h;
        return {vec_square(h), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { s[S_HALF] = t.a; }
};

template <typename AT> struct pass_omega {
    typedef typename AT::real T;
    enum { SUMS = SQUARE_AND_PRODUCT<T> };
    typename AT::in t, r;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        T a = t[i], b = r[i];
        return square_and_product<T>(vec_square(a), wide_product<T>(a, b));
    }
    __device__ void end(typename AT::scalars s, vec_sums sum) const { bicg_omega<T>(s, product_of<T>(sum), sum.a); }
};

template <typename AT> struct pass_update {
    typedef typename AT::real T;
    enum { SUMS = SQUARE_AND_PRODUCT<T> };
    typename AT::in p, t, shadow;
    typename AT::out r, x;
    T alpha, omega;

    __device__ void begin(typename AT::scalars s)
    {
        alpha = narrowed<T>(scalar_of<T>(s, S_ALPHA));
        omega = narrowed<T>(scalar_of<T>(s, S_OMEGA));
    }
    __device__ vec_sums at(int64_t i) const
    {
        T half = r[i], next = half - omega * t[i];
        x[i] += alpha * p[i] + omega * half;
        r[i] = next;
        return square_and_product<T>(vec_square(next), wide_product<T>(shadow[i], next));
    }
    __device__ void end(typename AT::scalars s, vec_sums sum) const
    {
        bicg_next<T>(s, product_of<T>(sum));
        bicg_note<T>(s, sum.a, sum.a);
    }
};

template <typename AT> struct pass_direction {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in r, v;
    typename AT::out p;
    T beta, omega;

    __device__ void begin(typename AT::scalars s)
    {
        beta = narrowed<T>(scalar_of<T>(s, S_BETA));
        omega = narrowed<T>(scalar_of<T>(s, S_OMEGA));
    }
    __device__ vec_sums at(int64_t i) const
    {
        p[i] = r[i] + beta * (p[i] - omega * v[i]);
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- qmrcgstab ---- */

/* Its scalars; see qmr_scalars. */
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

/* ---- the launches; numbers: two for each complex element ---- */

template <typename AT>
static void begin(struct device *d, int64_t numbers, double *s, const void *b, const void *q, void *r, void *shadow,
                  void *p)
{
    int64_t n = numbers / wide_of<typename AT::real>::PARTS;
    AT::run(d, n, s, pass_begin<AT>{PASS_IN(b), PASS_IN(q), PASS_OUT(r), PASS_OUT(shadow), PASS_OUT(p)});
}

template <typename AT>
static void alpha(struct device *d, int64_t numbers, double *s, const void *shadow, const void *v)
{
    int64_t n = numbers / wide_of<typename AT::real>::PARTS;
    AT::run(d, n, s, pass_alpha<AT>{PASS_IN(shadow), PASS_IN(v)});
}

template <typename AT> static void half(struct device *d, int64_t numbers, double *s, const void *v, void *r)
{
    int64_t n = numbers / wide_of<typename AT::real>::PARTS;
    AT::run(d, n, s, pass_half<AT>{PASS_IN(v), PASS_OUT(r), 0});
}

template <typename AT> static void omega(struct device *d, int64_t numbers, double *s, const void *t, const void *r)
{
    int64_t n = numbers / wide_of<typename AT::real>::PARTS;
    AT::run(d, n, s, pass_omega<AT>{PASS_IN(t), PASS_IN(r)});
}

template <typename AT>
static void update(struct device *d, int64_t numbers, double *s, const void *p, const void *t, const void *shadow,
                   void *r, void *x)
{
    int64_t n = numbers / wide_of<typename AT::real>::PARTS;
    AT::run(d, n, s, pass_update<AT>{PASS_IN(p), PASS_IN(t), PASS_IN(shadow), PASS_OUT(r), PASS_OUT(x), 0, 0});
}

template <typename AT>
static void direction(struct device *d, int64_t numbers, double *s, const void *r, const void *v, void *p)
{
    int64_t n = numbers / wide_of<typename AT::real>::PARTS;
    AT::run(d, n, s, pass_direction<AT>{PASS_IN(r), PASS_IN(v), PASS_OUT(p), 0, 0});
}

template <typename AT>
static void qmr_begin(struct device *d, int64_t n, double *s, const void *r, void *residual, void *dir, void *adir)
{
    AT::run(d, n, s, pass_qmr_begin<AT>{PASS_IN(r), PASS_OUT(residual), PASS_OUT(dir), PASS_OUT(adir)});
}

template <typename AT>
static void qmr_residual(struct device *d, int64_t n, double *s, const void *t, const void *shadow, void *r)
{
    AT::run(d, n, s, pass_qmr_residual<AT>{PASS_IN(t), PASS_IN(shadow), PASS_OUT(r), 0});
}

template <typename AT>
static void qmr_update(struct device *d, int64_t n, double *s, const void *r, const void *v, const void *t, void *p,
                       void *dir, void *adir, void *x, void *residual)
{
    AT::run(d, n, s,
            pass_qmr_update<AT>{PASS_IN(r), PASS_IN(v), PASS_IN(t), PASS_OUT(p), PASS_OUT(dir), PASS_OUT(adir),
                                PASS_OUT(x), PASS_OUT(residual), 0, 0, 0, 0, 0, 0});
}

} // namespace KERNEL_SPACE

/* The functions of qmrcgstab exist for real numbers only. */
#define BICG_STEPS(id, AT)                                                                          \
    .begin = KERNEL_SPACE::begin<KERNEL_SPACE::AT>, .alpha = KERNEL_SPACE::alpha<KERNEL_SPACE::AT>, \
    .half = KERNEL_SPACE::half<KERNEL_SPACE::AT>, .omega = KERNEL_SPACE::omega<KERNEL_SPACE::AT>,   \
    .update = KERNEL_SPACE::update<KERNEL_SPACE::AT>, .direction = KERNEL_SPACE::direction<KERNEL_SPACE::AT>
#define BICG_ENTRY(id, AT)                                                                                  \
    extern "C" const struct bicg_ops id;                                                                    \
    const struct bicg_ops id = {BICG_STEPS(id, AT), .qmr_begin = KERNEL_SPACE::qmr_begin<KERNEL_SPACE::AT>, \
                                .qmr_residual = KERNEL_SPACE::qmr_residual<KERNEL_SPACE::AT>,               \
                                .qmr_update = KERNEL_SPACE::qmr_update<KERNEL_SPACE::AT>}
#define BICG_PAIRS(id, AT)               \
    extern "C" const struct bicg_ops id; \
    const struct bicg_ops id = {BICG_STEPS(id, AT)}

BICG_ENTRY(VEC_SYMBOL(bicg_f32), on_gpu<float>);
BICG_ENTRY(VEC_SYMBOL(bicg_f64), on_gpu<double>);
BICG_ENTRY(VEC_SYMBOL(parts_bicg_f32), gpu_then_host<float>);
BICG_ENTRY(VEC_SYMBOL(parts_bicg_f64), gpu_then_host<double>);
BICG_PAIRS(VEC_SYMBOL(bicg_c32), on_gpu<cplx<float>>);
BICG_PAIRS(VEC_SYMBOL(bicg_c64), on_gpu<cplx<double>>);
BICG_PAIRS(VEC_SYMBOL(parts_bicg_c32), gpu_then_host<cplx<float>>);
BICG_PAIRS(VEC_SYMBOL(parts_bicg_c64), gpu_then_host<cplx<double>>);
#ifndef __CUDACC__
BICG_ENTRY(cpu_vec_bicg_f32, on_host<float>);
BICG_ENTRY(cpu_vec_bicg_f64, on_host<double>);
BICG_ENTRY(cpu_vec_parts_bicg_f32, host_then_host<float>);
BICG_ENTRY(cpu_vec_parts_bicg_f64, host_then_host<double>);
BICG_PAIRS(cpu_vec_bicg_c32, on_host<cplx<float>>);
BICG_PAIRS(cpu_vec_bicg_c64, on_host<cplx<double>>);
BICG_PAIRS(cpu_vec_parts_bicg_c32, host_then_host<cplx<float>>);
BICG_PAIRS(cpu_vec_parts_bicg_c64, host_then_host<cplx<double>>);
#endif
