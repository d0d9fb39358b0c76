/* The fused passes of bicgstab: each reads and writes its vectors once and computes the scalars that
   the next pass needs. If the vectors are complex, an inner product conjugates its first vector. */
#include "bicg.h"
#include "passes.h"

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

/* ---- the passes ---- If a divisor is 0 up to rounding, a pass sets s[S_DONE] = BROKE_DOWN and s[S_WHAT] to the code
   of that divisor (see reason.h). */

/* r = b - q; shadow and p are copies of r; s[S_RHO] = s[S_SHADOW] = s[S_RR] = r.r. Adds no record. */
template <typename AT>
static void begin(struct device *d, int64_t n, double *s, const void *b, const void *q, void *r, void *shadow, void *p)
{
    AT::run(d, n, s, pass_begin<AT>{PASS_IN(b), PASS_IN(q), PASS_OUT(r), PASS_OUT(shadow), PASS_OUT(p)});
}

/* s[S_ALPHA] = rho / shadow.v */
template <typename AT> static void alpha(struct device *d, int64_t n, double *s, const void *shadow, const void *v)
{
    AT::run(d, n, s, pass_alpha<AT>{PASS_IN(shadow), PASS_IN(v)});
}

/* r -= alpha v; s[S_HALF] = r.r */
template <typename AT> static void half(struct device *d, int64_t n, double *s, const void *v, void *r)
{
    AT::run(d, n, s, pass_half<AT>{PASS_IN(v), PASS_OUT(r), 0});
}

/* s[S_OMEGA] = t.r / t.t */
template <typename AT> static void omega(struct device *d, int64_t n, double *s, const void *t, const void *r)
{
    AT::run(d, n, s, pass_omega<AT>{PASS_IN(t), PASS_IN(r)});
}

/* x += alpha p + omega r; r -= omega t; s[S_RR] = r.r; then compute the next rho and beta, and add a record */
template <typename AT>
static void update(struct device *d, int64_t n, double *s, const void *p, const void *t, const void *shadow, void *r,
                   void *x)
{
    AT::run(d, n, s, pass_update<AT>{PASS_IN(p), PASS_IN(t), PASS_IN(shadow), PASS_OUT(r), PASS_OUT(x), 0, 0});
}

/* p = r + beta (p - omega v) */
template <typename AT>
static void direction(struct device *d, int64_t n, double *s, const void *r, const void *v, void *p)
{
    AT::run(d, n, s, pass_direction<AT>{PASS_IN(r), PASS_IN(v), PASS_OUT(p), 0, 0});
}

} // namespace KERNEL_SPACE

PASSES_COMPLEX(bicgstab, begin, alpha, half, omega, update, direction)
