/* The step of LSMR, after the passes of the Golub-Kahan process in k_lsqr.cu. The names are those of Fong and Saunders,
   SIAM J. Sci. Comput. 33, 2011, section 5, without damping. */
#include "least.h"
#include "passes.h"

namespace KERNEL_SPACE
{

enum {
    S_ALPHA_BAR = LEAST_END,
    S_ZETA_BAR,
    S_ZETA,
    S_LSMR_RHO,
    S_RHO_BAR,
    S_C_BAR,
    S_S_BAR,
    S_BETA_DOT_DOT, /* for ||r||, as are the next four */
    S_BETA_DOT,
    S_RHO_DOT_OLD,
    S_TAU_TILDE_OLD,
    S_THETA_TILDE,
    S_RHO_BAR_MOST, /* the extremes of rho bar so far, for the condition */
    S_RHO_BAR_LEAST,
    LSMR_END
};
static_assert(+LSMR_END <= +SCALARS, "there is room for the scalars");

/* The two rotations of an iteration. */
struct lsmr_rotation {
    double alpha, c, s_, rho, theta_new, alpha_bar, theta_bar, rho_temp, c_bar, s_bar, rho_bar, zeta, zeta_bar;
    double of_hbar, step, of_h;

    template <typename P> __device__ void from(P s)
    {
        double beta = s[S_U_NORM], before = s[S_ALPHA_BAR], rho_old = s[S_LSMR_RHO], rho_bar_old = s[S_RHO_BAR];
        alpha = s[S_V_NORM];
        rho = hypot(before, beta);
        c = before / rho;
        s_ = beta / rho;
        theta_new = s_ * alpha;
        alpha_bar = c * alpha;
        theta_bar = s[S_S_BAR] * rho;
        rho_temp = s[S_C_BAR] * rho;
        rho_bar = hypot(rho_temp, theta_new);
        c_bar = rho_temp / rho_bar;
        s_bar = theta_new / rho_bar;
        zeta = c_bar * s[S_ZETA_BAR];
        zeta_bar = -s_bar * s[S_ZETA_BAR];
        of_hbar = theta_bar * rho / (rho_old * rho_bar_old);
        step = zeta / (rho * rho_bar);
        of_h = theta_new / rho;
    }
    /* Returns ||r||, from the rotations that make the upper bidiagonal matrix lower bidiagonal again. */
    template <typename P> __device__ double residual(P s) const
    {
        double beta_hat = c * s[S_BETA_DOT_DOT], beta_dot_dot = -s_ * s[S_BETA_DOT_DOT];
        double rho_tilde = hypot((double)s[S_RHO_DOT_OLD], theta_bar), theta_tilde_old = s[S_THETA_TILDE];
        double c_tilde = s[S_RHO_DOT_OLD] / rho_tilde, s_tilde = theta_bar / rho_tilde;
        double theta_tilde = s_tilde * rho_bar, rho_dot = c_tilde * rho_bar;
        double beta_dot = -s_tilde * s[S_BETA_DOT] + c_tilde * beta_hat;
        double tau_tilde_old = (s[S_ZETA] - theta_tilde_old * s[S_TAU_TILDE_OLD]) / rho_tilde;
        double tau_dot = (zeta - theta_tilde * tau_tilde_old) / rho_dot;
        s[S_BETA_DOT_DOT] = beta_dot_dot;
        s[S_BETA_DOT] = beta_dot;
        s[S_RHO_DOT_OLD] = rho_dot;
        s[S_TAU_TILDE_OLD] = tau_tilde_old;
        s[S_THETA_TILDE] = theta_tilde;
        return hypot(beta_dot - tau_dot, beta_dot_dot);
    }
    /* Returns the largest of rho bar and the next one, divided by the smallest of them. */
    template <typename P> __device__ double condition(P s) const
    {
        double before = s[S_RHO_BAR], most = s[S_RHO_BAR_MOST], least = s[S_RHO_BAR_LEAST];
        bool first = least == 0; /* then `before` is no entry of the matrix */
        s[S_RHO_BAR_MOST] = most = first ? 0 : max(most, before);
        s[S_RHO_BAR_LEAST] = least = first ? HUGE_VAL : min(least, before);
        return max(most, rho_temp) / min(least, rho_temp);
    }
    template <typename P> __device__ void keep(P s) const
    {
        s[S_ALPHA_BAR] = alpha_bar;
        s[S_ZETA_BAR] = zeta_bar;
        s[S_ZETA] = zeta;
        s[S_LSMR_RHO] = rho;
        s[S_RHO_BAR] = rho_bar;
        s[S_C_BAR] = c_bar;
        s[S_S_BAR] = s_bar;
    }
};

template <typename AT, bool DIAGONAL> struct pass_lsmr_begin {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in z, x, dinv;
    typename AT::out h, hbar;
    T of_z;

    __device__ void begin(typename AT::scalars s) { of_z = (T)(s[S_V_NORM] > 0 ? 1 / s[S_V_NORM] : 0); }
    __device__ vec_sums at(int64_t i) const
    {
        h[i] = of_z * z[i];
        hbar[i] = 0;
        double size = least_multiplied<DIAGONAL>(i, (T)x[i], dinv);
        return {size * size, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        double alpha = s[S_V_NORM], beta = s[S_U_NORM];
        s[S_ALPHA_BAR] = alpha;
        s[S_ZETA_BAR] = alpha * beta;
        s[S_ZETA] = s[S_S_BAR] = s[S_BETA_DOT] = s[S_TAU_TILDE_OLD] = s[S_THETA_TILDE] = 0;
        s[S_RHO_BAR_MOST] = s[S_RHO_BAR_LEAST] = 0;
        s[S_LSMR_RHO] = s[S_RHO_BAR] = s[S_C_BAR] = s[S_RHO_DOT_OLD] = 1;
        s[S_BETA_DOT_DOT] = beta;
        least_note(s, {beta * beta, alpha * beta, sqrt(t.a), min(alpha, (double)s[S_NORM_MOST]), 0});
    }
};

template <typename AT, bool DIAGONAL> struct pass_lsmr_step {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in z, dinv;
    typename AT::out h, hbar, x;
    lsmr_rotation to;
    T of_z;

    __device__ void begin(typename AT::scalars s)
    {
        to.from(s);
        of_z = (T)(to.alpha > 0 ? 1 / to.alpha : 0);
    }
    __device__ vec_sums at(int64_t i) const
    {
        T before = h[i], way = before - (T)to.of_hbar * hbar[i], sum = x[i] + (T)to.step * way;
        hbar[i] = way;
        x[i] = sum;
        h[i] = of_z * z[i] - (T)to.of_h * before;
        double size = least_multiplied<DIAGONAL>(i, sum, dinv);
        return {size * size, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        double r = to.residual(s), condition = to.condition(s);
        to.keep(s);
        least_note(s, {r * r, fabs(to.zeta_bar), sqrt(t.a), least_norm(s), condition});
    }
};

/* ---- the passes ---- z and dinv are as in k_lsqr.cu. */

/* h = z / alpha, hbar = 0, and the first record. */
template <typename AT>
static void begin(struct device *d, int64_t n, double *s, const void *z, const void *x, const void *dinv, void *h,
                  void *hbar)
{
    if (dinv)
        AT::run(d, n, s,
                pass_lsmr_begin<AT, true>{PASS_IN(z), PASS_IN(x), PASS_IN(dinv), PASS_OUT(h), PASS_OUT(hbar), 0});
    else
        AT::run(d, n, s,
                pass_lsmr_begin<AT, false>{PASS_IN(z), PASS_IN(x), PASS_IN(dinv), PASS_OUT(h), PASS_OUT(hbar), 0});
}

template <typename AT, bool DIAGONAL>
static void step_with(struct device *d, int64_t n, double *s, const void *z, const void *dinv, void *h, void *hbar,
                      void *x)
{
    AT::run(d, n, s,
            pass_lsmr_step<AT, DIAGONAL>{PASS_IN(z), PASS_IN(dinv), PASS_OUT(h), PASS_OUT(hbar), PASS_OUT(x), {}, 0});
}

/* hbar = h - (theta bar rho / (rho old rho bar old)) hbar; x += (zeta / (rho rho bar)) hbar; h = z / alpha -
   (theta / rho) h. Adds a record. */
template <typename AT>
static void step(struct device *d, int64_t n, double *s, const void *z, const void *dinv, void *h, void *hbar, void *x)
{
    (dinv ? step_with<AT, true> : step_with<AT, false>)(d, n, s, z, dinv, h, hbar, x);
}

} // namespace KERNEL_SPACE

PASSES(lsmr, begin, step)
