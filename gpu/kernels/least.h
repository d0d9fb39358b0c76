/* Shared by the kernels of the solvers of least squares: their scalars, their record, and D, the diagonal of their
   preconditioner. Stop rules: Paige and Saunders, ACM Trans. Math. Softw. 8, 1982. */
#ifndef LEAST_H
#define LEAST_H

#include "vec.h"

namespace KERNEL_SPACE
{

enum {
    S_B_NORM = S_OWN, /* ||b||; set by the host */
    S_NORM_MOST,      /* ||A||_F, or more; set by the host */
    S_CONLIM,         /* the largest estimate of the condition; set by the host */
    S_NORM2,          /* the estimate of ||A||_F^2: the squares of all alpha and beta so far */
    S_INVERSE2,       /* the estimate of ||A^+||_F^2: the squared norms of the directions w / rho */
    S_BEST_NORMAL,    /* as S_BEST, of ||A' r|| / (||A|| ||r||) */
    S_U_NORM,         /* beta: the norm of LEAST_U */
    S_V_NORM,         /* alpha: the norm of LEAST_V */
    LEAST_END
};

/* What an iteration has reached: ||r||^2, ||A' r||, ||x|| and estimates of ||A|| and of the condition of A. */
struct least_reached {
    double rr, normal, x, norm, condition;
};

template <typename P> __device__ double least_norm(P s)
{
    return min(sqrt((double)s[S_NORM2]), (double)s[S_NORM_MOST]);
}

/* One thread: add record number s[S_ITER]. The solve has converged if ||r|| <= tol (||A|| ||x|| + ||b||), or if
   ||A' r|| <= tol ||A|| ||r||. It stagnates if neither ||r|| nor the latter gains 1% over the window. */
template <typename P> __device__ void least_note(P s, least_reached at)
{
    double k = s[S_ITER], r = sqrt(at.rr), b = s[S_B_NORM], tol = sqrt((double)s[S_TOL2]) / b;
    double normal = r > 0 && at.norm > 0 ? at.normal / (at.norm * r) : 0, backward = r / (at.norm * at.x + b);
    double best = s[S_BEST], best_normal = s[S_BEST_NORMAL], best_at = s[S_BEST_AT];
    bool first = best == HUGE_VAL;
    if (first || at.rr <= 0.99 * 0.99 * best || normal <= 0.99 * best_normal) {
        s[S_BEST] = first ? at.rr : min(best, at.rr);
        s[S_BEST_NORMAL] = first ? normal : min(best_normal, normal);
        s[S_BEST_AT] = best_at = k;
    }
    bool wrong = at.rr != at.rr || normal != normal, met = backward <= tol || normal <= tol;
    int going = at.condition >= s[S_CONLIM] ? BROKE_DOWN : k - best_at >= s[S_WINDOW] ? STAGNATED : RUNNING;
    double done = wrong ? NOT_A_NUMBER : met ? CONVERGED : going;
    s[S_DONE] = done;
    s[S_ITER] = k + 1;
    s[S_RR] = at.rr;
    s[S_ALPHA] = normal;
    s[S_BETA] = backward;
    if (!wrong && !met && going == BROKE_DOWN) s[S_PQ] = at.condition;
    vec_show(s, k, at.rr, done);
}

/* The begin of a pass that computes r = b - q and the square of its norm; the pass adds `end`. */
template <typename AT> struct least_difference {
    enum { SUMS = 1 };
    typename AT::in b, q;
    typename AT::out r;

    __device__ void begin(typename AT::scalars) {}
    __device__ vec_sums at(int64_t i) const
    {
        typename AT::real residual = b[i] - q[i];
        r[i] = residual;
        return {vec_square(residual), 0, 0};
    }
};

/* Element i of D^-1 v and of D x; D is I unless DIAGONAL. */
template <bool DIAGONAL, typename T, typename V> __device__ T least_divided(int64_t i, T value, V dinv)
{
    if constexpr (DIAGONAL) return dinv[i] * value;
    return value;
}
template <bool DIAGONAL, typename T, typename V> __device__ double least_multiplied(int64_t i, T value, V dinv)
{
    if constexpr (DIAGONAL) return (double)value / (double)dinv[i];
    return (double)value;
}

} // namespace KERNEL_SPACE

#endif
