/* The fused passes of MINRES: one pass for the Lanczos vectors and the search directions, and one pass for x. Every
   vector is read once; neighbouring threads access neighbouring elements. */
#include "minres.h"
#include "passes.h"

namespace KERNEL_SPACE
{

/* The true residual may be twice as large as tol (solve_end.c); and it must halve to count as a gain. */
#define MINRES_DRIFT 4.0

template <typename AT> struct pass_minres_begin {
    enum { SUMS = 1 };
    typename AT::in b, q;
    typename AT::out r, old, u, u_old;
    bool again;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real v = b[i] - q[i];
        r[i] = v;
        old[i] = u[i] = u_old[i] = 0;
        return {(double)v * (double)v, 0, 0};
    }
    /* Rounding errors separate the norm that the rotations give from the norm of b - A x. The solve may go on from
       this x only if it gains from that, so that it ends. */
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        bool goes = !again || (t.a > MINRES_DRIFT * s[S_TOL2] && t.a <= s[S_CHECKED] / MINRES_DRIFT);
        if (!goes) {
            s[S_DONE] = t.a != t.a ? NOT_A_NUMBER : CONVERGED;
            return;
        }
        s[S_RR] = t.a;
        s[S_RHO] = t.a;
        s[S_BETA_OLD] = s[S_SIN] = s[S_DBAR] = s[S_EPSLN] = s[S_NORM] = 0;
        s[S_COS] = -1;
        s[S_GAMMA] = s[S_GAMMA_OLD] = 1;
        s[S_CHECKED] = again ? t.a : HUGE_VAL;
        if (!again) return;
        s[S_BEST] = t.a;
        s[S_BEST_AT] = s[S_ITER] - 1;
        vec_show(s, s[S_ITER] - 1, t.a, RUNNING);
    }
};

/* residual = sin^2 residual - step r, where r is the next Lanczos vector (Fong and Saunders 2012). */
template <typename AT> struct pass_minres_step_residual {
    enum { SUMS = 1 };
    typedef typename AT::real T;
    typename AT::in u, r;
    typename AT::out x, residual;
    minres_rotation to;
    bool broken;

    __device__ void begin(typename AT::scalars s)
    {
        to.from(s);
        broken = to.broken(s, MINRES_SLACK * minres_rounding<T>) || to.wastes(s, minres_rounding<T>, minres_small<T>);
    }
    __device__ vec_sums at(int64_t i) const
    {
        if (broken) return {0, 0, 0};
        T next = (T)(to.sn * to.sn) * residual[i] - (T)to.step * r[i];
        x[i] += (T)to.step * u[i];
        residual[i] = next;
        return {(double)next * (double)next, 0, 0};
    }
    __device__ void end(typename AT::scalars s, vec_sums t) const
    {
        if (broken) return to.stop(s);
        to.keep(s);
        vec_note(s, t.a, s[S_MAXDIFF]);
    }
};

/* ---- the passes ---- A Lanczos vector r_k is kept unnormalised; beta_k^2 = r_k . z_k, where z_k = M^-1 r_k, or r_k
   without a preconditioner. The vector u_k is gamma_k times the k-th search direction. */

/* r = b - q, where q = A x; old, u and u_old become 0; s[S_RR] = s[S_RHO] = r.r. Adds no record.
   `again`: the last record claims convergence. If ||r|| is more than twice tol, but at most half of what it was at the
   last such check, the record receives r.r, and the solve starts again from x. Otherwise, the record stays, and
   s[S_DONE] = CONVERGED. */
template <typename AT>
static void begin(struct device *d, int64_t n, double *s, bool again, const void *b, const void *q, void *r, void *old,
                  void *u, void *u_old)
{
    AT::run(
        d, n, s,
        pass_minres_begin<AT>{PASS_IN(b), PASS_IN(q), PASS_OUT(r), PASS_OUT(old), PASS_OUT(u), PASS_OUT(u_old), again});
}

/* alpha = s[S_PQ] / beta^2, where s[S_PQ] = z.A z; old = the next Lanczos vector, whose squared norm is s[S_RHO_NEXT];
   u_old = the next u. q = A z. Without a preconditioner, z is r. */
template <typename AT>
static void lanczos(struct device *d, int64_t n, double *s, const void *q, const void *z, const void *r, void *old,
                    const void *u, void *u_old)
{
    AT::run(d, n, s,
            pass_minres_lanczos<AT>{PASS_IN(q), PASS_IN(z), PASS_IN(r), PASS_OUT(old), PASS_IN(u), PASS_OUT(u_old), 0,
                                    false, 0, 0, 0, 0, 0});
}

/* The next rotation, from s[S_RHO_NEXT]; then x += step u. Adds a record with the norm that the rotations give. */
template <typename AT> static void step(struct device *d, int64_t n, double *s, const void *u, void *x)
{
    AT::run(d, n, s, pass_minres_step<AT>{PASS_IN(u), PASS_OUT(x), {}, false});
}

/* The same with a preconditioner: the rotations give the norm of the residual in M^-1, so `residual`, the residual
   itself, is updated as well. r: the next Lanczos vector. */
template <typename AT>
static void step_residual(struct device *d, int64_t n, double *s, const void *u, const void *r, void *x, void *residual)
{
    AT::run(d, n, s, pass_minres_step_residual<AT>{PASS_IN(u), PASS_IN(r), PASS_OUT(x), PASS_OUT(residual), {}, false});
}

} // namespace KERNEL_SPACE

PASSES_COLUMNS(minres, begin, lanczos, step, step_residual)
