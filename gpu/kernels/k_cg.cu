/* The passes of conjugate gradients: the inner products with q = A p, and one pass for all updates that follow.
   Every vector is read once; neighbouring threads access neighbouring elements. */
#include "cg.h"
#include "passes.h"

namespace KERNEL_SPACE
{

/* p.q, r.q and q.q: from these the step predicts the next residual without waiting for it (Meurant 1987),
   |r - alpha q|^2 = r.r - 2 alpha r.q + alpha^2 q.q. If p is conjugate to the previous direction, r.q equals p.q and r
   is not read. As soon as a computed residual differs from its prediction, `careful` is set and r.q is computed.
   If DIAGONAL, all these products are those of M^-1, the diagonal dinv: r.M^-1 r = r.z, and so on. */
template <typename AT, bool DIAGONAL> struct pass_cg_dots {
    enum { SUMS = 3 };
    typename AT::in p, q, r, dinv;
    int64_t n, last; /* if last is not negative: go backwards from this element */
    bool careful;

    __device__ void begin(typename AT::scalars s) { careful = s[S_CAREFUL] != 0; }
    __device__ vec_sums at(int64_t k) const
    {
        int64_t i = last < 0 ? k : last - k;
        if (AT::ALIGNED > 1 && i >= n) return {0, 0, 0};
        return cg_terms<DIAGONAL>(i, p, (double)q[i], r, dinv, careful);
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const { cg_keep(s, t); }
};

#define CG_PREDICTED 1e-12 /* relative difference allowed between residual and prediction */

template <typename AT, bool DIAGONAL> struct pass_cg_step {
    enum { SUMS = DIAGONAL ? 2 : 1 };
    typedef typename AT::real T;
    typename AT::in q, dinv;
    typename AT::out r, p, x;
    int64_t n, last; /* if last is not negative: go backwards from this element */
    double alpha, beta, next;
    bool broken;

    __device__ void begin(typename AT::scalars s)
    {
        double rho = s[DIAGONAL ? S_RHO : S_RR], rq = s[S_CAREFUL] != 0 ? s[S_RQ] : s[S_PQ];
        broken = cg_broken(s);
        alpha = rho / s[S_PQ];
        next = rho - 2 * alpha * rq + alpha * alpha * s[S_QQ];
        beta = next > 0 ? next / rho : 0;
    }
    __device__ vec_sums at(int64_t k) const
    {
        if (broken) return {0, 0, 0};
        int64_t i = last < 0 ? k : last - k;
        if (AT::ALIGNED > 1 && i >= n) return {0, 0, 0};
        T direction = p[i], residual = r[i] - (T)alpha * q[i], z = residual;
        if (DIAGONAL) z = dinv[i] * residual;
        put_once(x, i, once(x, i) + (T)alpha * direction); /* x is not used again before all of A has been read */
        r[i] = residual;
        p[i] = z + (T)beta * direction;
        return {(double)residual * (double)residual, DIAGONAL ? (double)residual * (double)z : 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        if (broken) return cg_break(s);
        double rho = DIAGONAL ? t.b : t.a;
        s[S_ALPHA] = alpha;
        s[S_BETA] = beta;
        if (!(fabs(rho - next) <= CG_PREDICTED * rho)) s[S_CAREFUL] = 1;
        vec_note(s, t.a, s[S_MAXDIFF]);
        if (!DIAGONAL) return;
        s[S_RHO] = rho;
        cg_check_rho(s, rho);
    }
};

/* ---- with a preconditioner that is no diagonal ---- */

template <typename AT> struct pass_cg_update {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in p, q;
    typename AT::out r, x;
    double alpha;
    bool broken;

    __device__ void begin(typename AT::scalars s)
    {
        broken = cg_broken(s);
        alpha = s[S_RHO] / s[S_PQ];
    }
    __device__ vec_sums at(int64_t i) const
    {
        if (broken) return {0, 0, 0};
        T residual = r[i] - (T)alpha * q[i];
        x[i] += (T)alpha * p[i];
        r[i] = residual;
        return {(double)residual * (double)residual, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        if (broken) return cg_break(s);
        s[S_ALPHA] = alpha;
        s[S_RR] = t.a;
    }
};

template <typename AT> struct pass_cg_rho {
    enum { SUMS = 1 };
    typename AT::in r, z;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const { return {(double)r[i] * (double)z[i], 0, 0}; }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        s[S_BETA] = s[S_RHO] != 0 ? t.a / s[S_RHO] : 0; /* 0 before the first iteration */
        s[S_RHO] = t.a;
        vec_note(s, s[S_RR], s[S_MAXDIFF]);
        cg_check_rho(s, t.a);
    }
};

template <typename AT> struct pass_cg_direction {
    enum { SUMS = 0 };
    typedef typename AT::real T;
    typename AT::in z;
    typename AT::out p;
    T beta;

    __device__ void begin(typename AT::scalars s) { beta = (T)s[S_BETA]; }
    __device__ vec_sums at(int64_t i) const
    {
        p[i] = z[i] + beta * p[i];
        return {0, 0, 0};
    }
    __device__ void end(typename AT::scalars, vec_sums) const {}
};

/* ---- the passes ---- The solve ends with BROKE_DOWN unless s[S_PQ] > 0, or, if s[S_SIGN] < 0, unless s[S_PQ] < 0.
   dots and step take the diagonal of M^-1, dinv, if the preconditioner is a diagonal; NULL: M = I. */

/* Vectors that do not all fit in the L2 cache are read backwards, since the SpMV has left their ends in the cache.
   The L2 cache of a large GPU of 2024 holds four vectors of 12 MB. Backwards, a pass begins at the end of a group of
   AT::ALIGNED elements, some of which may lie after the last element: without this, a warp would write parts of
   lines, and on an H200 the step took 1.6 times as long. Several columns go forwards, because a thread stays in its
   column. Returns the element at which to begin; -1: go forwards. */
template <typename AT> static int64_t beginning(int64_t n)
{
    if (AT::ALIGNED == 0 || n * (int64_t)sizeof(typename AT::real) <= 12000000) return -1;
    return (n + AT::ALIGNED - 1) / AT::ALIGNED * AT::ALIGNED - 1;
}

/* The number of steps of a pass over n elements that begins at `last`. */
static int64_t length(int64_t n, int64_t last)
{
    return last < 0 ? n : last + 1;
}

template <typename AT, bool DIAGONAL>
static void dots_with(struct device *d, int64_t n, double *s, const void *p, const void *q, const void *r,
                      const void *dinv)
{
    int64_t last = beginning<AT>(n);
    AT::run(d, length(n, last), s,
            pass_cg_dots<AT, DIAGONAL>{PASS_IN(p), PASS_IN(q), PASS_IN(r), PASS_IN(dinv), n, last, false});
}

/* s[S_PQ] = p.q, s[S_QQ] = q.M^-1 q; if s[S_CAREFUL] is set, also s[S_RQ] = r.M^-1 q */
template <typename AT>
static void dots(struct device *d, int64_t n, double *s, const void *p, const void *q, const void *r, const void *dinv)
{
    (dinv ? dots_with<AT, true> : dots_with<AT, false>)(d, n, s, p, q, r, dinv);
}

template <typename AT, bool DIAGONAL>
static void step_with(struct device *d, int64_t n, double *s, const void *q, const void *dinv, void *r, void *p,
                      void *x)
{
    int64_t last = beginning<AT>(n);
    AT::run(d, length(n, last), s,
            pass_cg_step<AT, DIAGONAL>{PASS_IN(q), PASS_IN(dinv), PASS_OUT(r), PASS_OUT(p), PASS_OUT(x), n, last});
}

/* alpha = r.M^-1 r / pq; x += alpha p; r -= alpha q; p = M^-1 r + beta p. To compute beta in the same pass, the
   function predicts r.M^-1 r from the sums of `dots`. s[S_RR] = the computed r.r, and s[S_RHO] = r.M^-1 r if there is a
   diagonal; s[S_CAREFUL] = 1 if the computed value differs from the prediction. Adds a record. */
template <typename AT>
static void step(struct device *d, int64_t n, double *s, const void *q, const void *dinv, void *r, void *p, void *x)
{
    (dinv ? step_with<AT, true> : step_with<AT, false>)(d, n, s, q, dinv, r, p, x);
}

/* With a preconditioner that is no diagonal, alpha = s[S_RHO] / pq: x += alpha p; r -= alpha q; s[S_RR] = r.r */
template <typename AT>
static void update(struct device *d, int64_t n, double *s, const void *p, const void *q, void *r, void *x)
{
    AT::run(d, n, s, pass_cg_update<AT>{PASS_IN(p), PASS_IN(q), PASS_OUT(r), PASS_OUT(x), 0, false});
}

/* beta = r.z / s[S_RHO], then s[S_RHO] = r.z. Adds a record. */
template <typename AT> static void rho(struct device *d, int64_t n, double *s, const void *r, const void *z)
{
    AT::run(d, n, s, pass_cg_rho<AT>{PASS_IN(r), PASS_IN(z)});
}

/* p = z + beta p */
template <typename AT> static void direction(struct device *d, int64_t n, double *s, const void *z, void *p)
{
    AT::run(d, n, s, pass_cg_direction<AT>{PASS_IN(z), PASS_OUT(p), 0});
}

} // namespace KERNEL_SPACE

PASSES_COLUMNS(cg, dots, step, update, rho, direction)
