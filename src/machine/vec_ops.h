/* Vectors on a device, for solvers: scalars, the live record, the operations (k_vec.cu). */
#ifndef VEC_OPS_H
#define VEC_OPS_H

#include <stdint.h>

#include "base/array.h"

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/* Scalars live on the device in double s[VEC_WORK]; every operation is a launch that does nothing once
   s[S_DONE] is not 0, so that an iteration freezes exactly where it converged while more are queued.
   Reductions sum in double and in a fixed order: the same result every run. All asynchronous on cuda. */

enum {
    S_DONE,
    S_ITER,
    S_RR,
    S_TOL2,
    S_MAXDIFF,
    S_PQ,
    S_ALPHA,
    S_BETA,
    S_ONE,       /* 1 */
    S_LIMIT2,    /* before the first record: how much r.r may grow; then the limit itself */
    S_EPS,       /* converged when max |x' - x| is below; 0 = no such rule */
    S_NEXT_DIFF, /* of the step under way; s[S_MAXDIFF] belongs to the recorded residual */
    S_BEST,      /* the least r.r but for 1%; infinite before the first record */
    S_BEST_AT,
    S_WINDOW, /* stagnated when no gain of 1% over s[S_BEST] came for so many records */
    S_TICKET, /* blocks that have arrived: an unsigned, kept in the place of a double */
    S_OMEGA,
    S_RHO,
    S_HALF,
    S_SHADOW, /* bicgstab, qmrcgstab: half-step residual, squared; norm of r0 */
    S_TAU,
    S_MIX,
    S_FIRST,
    S_SECOND,
    S_ETA1,
    S_ETA2, /* qmrcgstab: see qmr_scalars in k_bicgstab.cu */
    S_COLUMNS,
    S_SCALE, /* gmres: columns of the cycle under way; 1 / the length of the vector that comes next */
    S_WHAT,  /* which number broke down: its value is in S_PQ */
    S_LIVE,  /* the address of the live record, in the place of a double; 0: none is kept */
    S_TRUE,  /* r.r of b - A x as last probed */
    S_RQ,
    S_QQ,      /* cg: r.q and q.q, beside s[S_PQ] */
    S_CAREFUL, /* cg: r.q is needed, and not p.q in its place; set by a step, for good */
    S_FREE,
    SCALARS = 64,
    S_SUMS = SCALARS,
    VEC_BLOCKS = 1024,
    VEC_WORK = S_SUMS + 3 * VEC_BLOCKS /* three sums of each block */
};

/* The live record, in memory that the host can read while launches run: doubles of which the first LIVE_KNOWN say how
   many records are complete, and record k has a slot of its own until RECORDS later ones were written. */
enum {
    LIVE_KNOWN,
    LIVE_DONE, /* s[S_DONE] */
    LIVE_TRUE,
    LIVE_TRUE_AT, /* s[S_TRUE], and of which record's x */
    LIVE_RING = 8,
    LIVE_SLOT = 4, /* slot k % RECORDS holds: */
    LIVE_RR = 0,
    LIVE_ALPHA,
    LIVE_BETA,
    LIVE_STAMP, /* r.r, s[S_ALPHA], s[S_BETA], the device's clock in us */
    RECORDS = 4096,
    LIVE_SIZE = LIVE_RING + RECORDS * LIVE_SLOT
};

struct vec_ops {
    void (*copy)(struct device *d, int64_t n, const void *x, void *y); /* y = x */
    void (*axpy)(struct device *d, int64_t n, double *s, int a, double sign, const void *x,
                 void *y);                                                                      /* y += sign s[a] x */
    void (*xpby)(struct device *d, int64_t n, double *s, const void *x, int b, void *y);        /* y = x + s[b] y */
    void (*mul)(struct device *d, int64_t n, double *s, const void *a, const void *x, void *y); /* y_i = a_i x_i */
    void (*dot)(struct device *d, int64_t n, double *s, const void *x, const void *y, int to);  /* s[to] = x . y */
    void (*div)(struct device *d, double *s, int to, int a, int b); /* s[to] = s[a] / s[b] */
    /* fused: r = b - q; next = x + dinv r; s[S_RR] = r.r; s[S_NEXT_DIFF] = max |dinv r|; record. x is kept, so
       that the solution with the recorded residual is still there when the record ends the iteration. */
    void (*jacobi)(struct device *d, int64_t n, double *s, const void *b, const void *q, const void *dinv,
                   const void *x, void *next);
    /* s[S_TRUE] = r.r of r = b - q, where q = A x: a look at the true residual. */
    void (*probe)(struct device *d, int64_t n, double *s, const void *b, const void *q);
    /* The residual of record number s[S_ITER], from 0: kept in the live record, s[S_ITER] += 1, and s[S_DONE] = the
       reason if s[S_RR] <= s[S_TOL2], s[S_MAXDIFF] < s[S_EPS], it grew past the limit, stood still or is NaN. */
    void (*record)(struct device *d, double *s);
};
/* real: T_F32 or T_F64 */
const struct vec_ops *vec_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
