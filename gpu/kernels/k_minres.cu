/* The fused passes of MINRES: one pass for the Lanczos vectors and the search directions, and one pass for x. Every
   vector is read once; neighbouring threads access neighbouring elements. */
#include "minres.h"

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

/* ---- the launches ---- */

template <typename AT>
static void begin(struct device *d, int64_t n, double *s, bool again, const void *b, const void *q, void *r, void *old,
                  void *u, void *u_old)
{
    AT::run(
        d, n, s,
        pass_minres_begin<AT>{PASS_IN(b), PASS_IN(q), PASS_OUT(r), PASS_OUT(old), PASS_OUT(u), PASS_OUT(u_old), again});
}

template <typename AT>
static void lanczos(struct device *d, int64_t n, double *s, const void *q, const void *z, const void *r, void *old,
                    const void *u, void *u_old)
{
    AT::run(d, n, s,
            pass_minres_lanczos<AT>{PASS_IN(q), PASS_IN(z), PASS_IN(r), PASS_OUT(old), PASS_IN(u), PASS_OUT(u_old), 0,
                                    false, 0, 0, 0, 0, 0});
}

template <typename AT> static void step(struct device *d, int64_t n, double *s, const void *u, void *x)
{
    AT::run(d, n, s, pass_minres_step<AT>{PASS_IN(u), PASS_OUT(x), {}, false});
}

template <typename AT>
static void step_residual(struct device *d, int64_t n, double *s, const void *u, const void *r, void *x, void *residual)
{
    AT::run(d, n, s, pass_minres_step_residual<AT>{PASS_IN(u), PASS_IN(r), PASS_OUT(x), PASS_OUT(residual), {}, false});
}

} // namespace KERNEL_SPACE

#define MINRES_ENTRY(id, AT)                                                          \
    extern "C" const struct minres_ops id;                                            \
    const struct minres_ops id = {.begin = KERNEL_SPACE::begin<KERNEL_SPACE::AT>,     \
                                  .lanczos = KERNEL_SPACE::lanczos<KERNEL_SPACE::AT>, \
                                  .step = KERNEL_SPACE::step<KERNEL_SPACE::AT>,       \
                                  .step_residual = KERNEL_SPACE::step_residual<KERNEL_SPACE::AT>}

MINRES_ENTRY(VEC_SYMBOL(minres_f32), on_gpu<float>);
MINRES_ENTRY(VEC_SYMBOL(minres_f64), on_gpu<double>);
MINRES_ENTRY(VEC_SYMBOL(parts_minres_f32), gpu_then_host<float>);
MINRES_ENTRY(VEC_SYMBOL(parts_minres_f64), gpu_then_host<double>);
#ifndef __CUDACC__
MINRES_ENTRY(cpu_vec_minres_f32, on_host<float>);
MINRES_ENTRY(cpu_vec_minres_f64, on_host<double>);
MINRES_ENTRY(cpu_vec_parts_minres_f32, host_then_host<float>);
MINRES_ENTRY(cpu_vec_parts_minres_f64, host_then_host<double>);
#endif
