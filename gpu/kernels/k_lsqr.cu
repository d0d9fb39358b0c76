/* The passes of the Golub-Kahan process, which lsqr and lsmr share, and the step of LSQR. Every vector is read once;
   neighbouring threads access neighbouring elements. */
#include "least.h"
#include "passes.h"

namespace KERNEL_SPACE
{

enum { S_RHO_BAR = LEAST_END, S_PHI_BAR, LSQR_END }; /* the last entry of the rotated matrix, and of its right side */
static_assert(+LSQR_END <= +SCALARS, "there is room for the scalars");

template <typename AT> struct pass_lsqr_begin : least_difference<AT> {
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        s[S_U_NORM] = sqrt(t.a);
        s[S_NORM2] = s[S_INVERSE2] = 0;
    }
};

template <typename AT> struct pass_lsqr_left {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in q;
    typename AT::out u;
    T of_q, of_u;

    __device__ void begin(typename AT::scalars s)
    {
        of_q = (T)(1 / s[S_V_NORM]);
        of_u = (T)(s[S_V_NORM] / s[S_U_NORM]);
    }
    __device__ vec_sums at(int64_t i) const
    {
        T next = of_q * q[i] - of_u * u[i];
        u[i] = next;
        return {vec_square(next), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        double alpha = s[S_V_NORM];
        s[S_NORM2] = s[S_NORM2] + alpha * alpha + t.a;
        s[S_U_NORM] = sqrt(t.a);
    }
};

template <typename AT, bool DIAGONAL> struct pass_lsqr_right {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in t, dinv;
    typename AT::out v, z;
    bool first;
    T of_t, of_v;

    __device__ void begin(typename AT::scalars s)
    {
        double beta = s[S_U_NORM];
        of_t = (T)(beta > 0 ? 1 / beta : 0);
        of_v = (T)(first ? 0 : beta / s[S_V_NORM]);
    }
    __device__ vec_sums at(int64_t i) const
    {
        T next = of_t * least_divided<DIAGONAL>(i, (T)t[i], dinv);
        if (!first) next -= of_v * v[i];
        v[i] = next;
        if (DIAGONAL) z[i] = least_divided<DIAGONAL>(i, next, dinv);
        return {vec_square(next), 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums sums) const { s[S_V_NORM] = sqrt(sums.a); }
};

/* The rotation that eliminates beta from the bidiagonal matrix, and the step along w that follows from it. */
template <typename AT, bool DIAGONAL> struct pass_lsqr_step {
    enum { SUMS = 2 };
    typedef typename AT::real T;
    typename AT::in z, dinv;
    typename AT::out w, x;
    bool first;
    double rho, c, sn;
    T step, of_z, of_w;

    __device__ void begin(typename AT::scalars s)
    {
        double alpha = s[S_V_NORM], beta = s[S_U_NORM], rho_bar = s[S_RHO_BAR];
        of_z = (T)(alpha > 0 ? 1 / alpha : 0);
        rho = hypot(rho_bar, beta);
        c = rho_bar / rho;
        sn = beta / rho;
        step = (T)(first ? 0 : c * s[S_PHI_BAR] / rho);
        of_w = (T)(first ? 0 : sn * alpha / rho);
    }
    __device__ vec_sums at(int64_t i) const
    {
        T before = first ? (T)0 : (T)w[i], sum = x[i] + step * before;
        w[i] = of_z * z[i] - of_w * before;
        x[i] = sum;
        double size = least_multiplied<DIAGONAL>(i, sum, dinv), way = least_multiplied<DIAGONAL>(i, before, dinv);
        return {size * size, way * way, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        double alpha = s[S_V_NORM], phi_bar = first ? s[S_U_NORM] : sn * s[S_PHI_BAR], cosine = first ? 1 : c;
        if (first) s[S_NORM2] = alpha * alpha;
        if (!first) s[S_INVERSE2] = s[S_INVERSE2] + t.b / (rho * rho);
        double norm = least_norm(s), condition = norm * sqrt((double)s[S_INVERSE2]);
        s[S_RHO_BAR] = first ? alpha : -c * alpha;
        s[S_PHI_BAR] = phi_bar;
        least_note(s, {phi_bar * phi_bar, fabs(phi_bar * cosine) * alpha, sqrt(t.a), norm, condition});
        if (first) s[S_NORM2] = 0;
    }
};

/* ---- the passes ---- u and v are kept times their norms beta and alpha, which are s[S_U_NORM] and s[S_V_NORM]. If
   dinv is not NULL, the process is that of A D^-1, where D^-1 is the diagonal dinv, and z = D^-1 v times alpha;
   otherwise z is v. */

/* u = b - q, where q = A x; beta = ||u|| */
template <typename AT> static void begin(struct device *d, int64_t n, double *s, const void *b, const void *q, void *u)
{
    AT::run(d, n, s, pass_lsqr_begin<AT>{{PASS_IN(b), PASS_IN(q), PASS_OUT(u)}});
}

/* u = q / alpha - (alpha / beta) u, where q = A z; then beta = ||u|| */
template <typename AT> static void left(struct device *d, int64_t n, double *s, const void *q, void *u)
{
    AT::run(d, n, s, pass_lsqr_left<AT>{PASS_IN(q), PASS_OUT(u), 0, 0});
}

/* v = D^-1 t / beta - (beta / alpha) v, where t = A' u; then alpha = ||v||. `first`: there is no v yet. */
template <typename AT>
static void right(struct device *d, int64_t n, double *s, bool first, const void *t, const void *dinv, void *v, void *z)
{
    if (dinv)
        AT::run(d, n, s, pass_lsqr_right<AT, true>{PASS_IN(t), PASS_IN(dinv), PASS_OUT(v), PASS_OUT(z), first, 0, 0});
    else
        AT::run(d, n, s, pass_lsqr_right<AT, false>{PASS_IN(t), PASS_IN(dinv), PASS_OUT(v), PASS_OUT(z), first, 0, 0});
}

template <typename AT, bool DIAGONAL>
static void step_with(struct device *d, int64_t n, double *s, bool first, const void *z, const void *dinv, void *w,
                      void *x)
{
    AT::run(d, n, s,
            pass_lsqr_step<AT, DIAGONAL>{PASS_IN(z), PASS_IN(dinv), PASS_OUT(w), PASS_OUT(x), first, 0, 0, 0, 0, 0, 0});
}

/* x += (phi / rho) w; w = z / alpha - (theta / rho) w. Adds a record. `first`: only w = z / alpha, and the record. */
template <typename AT>
static void step(struct device *d, int64_t n, double *s, bool first, const void *z, const void *dinv, void *w, void *x)
{
    (dinv ? step_with<AT, true> : step_with<AT, false>)(d, n, s, first, z, dinv, w, x);
}

} // namespace KERNEL_SPACE

PASSES(lsqr, begin, left, right, step)
