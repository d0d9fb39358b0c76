/* Vectors on a device, for solvers: scalars, the live record, the operations. Implemented by gpu/vec.c and
   gpu/kernels/k_vec.cu. */
#ifndef VEC_OPS_H
#define VEC_OPS_H

#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "sum_tree.h"

C_BEGIN

struct device;

/* Scalars are kept on the device, in the array s of VEC_WORK doubles. Every operation is a launch that does nothing
   once s[S_DONE] is not 0, so that the vectors keep their values from the end of the solve even if more iterations are
   queued. Reductions sum in double precision in a fixed order: every run gives the same result. All operations are
   asynchronous on cuda. */

enum {
    S_DONE,
    S_ITER,
    S_RR,
    S_TOL2,
    S_MAXDIFF,
    S_PQ,
    /* coefficients of a step; in complex arithmetic, their real parts */
    S_ALPHA,
    S_BETA,
    S_RHO,
    S_OMEGA,
    /* the imaginary parts, in the same order: that of s[i] is s[i + S_IM] */
    S_ALPHA_IM,
    S_BETA_IM,
    S_RHO_IM,
    S_OMEGA_IM,
    S_IM = S_ALPHA_IM - S_ALPHA,
    S_ONE = S_OMEGA_IM + 1, /* 1 */
    S_LIMIT2,    /* before the first record: the factor by which r.r may grow; after that record: the limit of r.r */
    S_EPS,       /* the solve has converged when max |x' - x| < s[S_EPS]; 0: this test is not used */
    S_NEXT_DIFF, /* max |x' - x| of the current step; s[S_MAXDIFF] is the value for the recorded residual */
    /* the smallest r.r so far, updated only if it improves by at least 1%; infinite before the first record */
    S_BEST,
    S_BEST_AT, /* the record in which s[S_BEST] was reached */
    S_WINDOW,  /* the solve has stagnated when s[S_BEST] has not improved for this number of records */
    S_TICKET,  /* number of blocks that have finished: an unsigned integer, stored in the space of a double */
    S_NONE,    /* an inner product counts as 0 up to this share of its largest possible value */
    S_WHAT,    /* code of the quantity that was 0 up to rounding (reason.h); its value is in s[S_PQ] */
    S_LIVE,    /* address of the live record, stored in the space of a double; 0: there is no live record */
    S_TRUE,    /* r.r of r = b - A x at the last probe */
    /* the sums that an SpMV computes as well if its kernel can (see cg_terms in vec.h), beside s[S_PQ] */
    S_RQ, /* r.q */
    S_QQ, /* q.q */
    /* compute r.q separately instead of using p.q in its place; once a step has set this flag, it stays set */
    S_CAREFUL,
    S_SIGN,     /* -1 if all diagonal entries of A are negative: cg then solves -A x = -b */
    S_RHO_NEXT, /* r.z of the next vector, while s[S_RHO] is that of the current one */
    /* launches of many iterations: times of the parts of the iterations, in us, since the solver started */
    S_SPMV_US,
    S_DOTS_US,
    S_STEP_US,
    S_NULL, /* the inner product of a vector with one of the null space */
    S_COLS, /* the number of columns, for operations on several columns at a time */
    S_OWN,  /* the first of the scalars that are a solver's own; its kernels (gpu/kernels) name them */
    SCALARS = 64,
    S_SUMS = SCALARS,
    VEC_BLOCKS = 1024,
    VEC_WORK = S_SUMS + 3 * VEC_BLOCKS, /* up to three partial sums per block */
    VEC_SUMS = 3 * SUM_BLOCKS
};

/* Several columns at a time: the vectors of up to COLUMNS_MAX solves with the same A are stored row by row, as SpMM
   kernels store them, so element i of such a vector belongs to column i % s[S_COLS]. Column c has the scalars s + c *
   SCALARS, and its partial sums begin at s[COLUMN_SUMS + 3 * c * VEC_BLOCKS]; s[S_COLS] and the ticket are those of
   column 0. A column whose s[S_DONE] is not 0 keeps its values while the others go on. */
enum {
    COLUMNS_MAX = 64,
    COLUMN_SUMS = COLUMNS_MAX * SCALARS,
    COLUMNS_WORK = COLUMN_SUMS + 3 * COLUMNS_MAX * VEC_BLOCKS
};

/* The live record: an array of doubles that the host can read while launches run. Element LIVE_KNOWN counts the
   complete records. Record k is in slot k % RECORDS until record k + RECORDS overwrites it. */
enum {
    LIVE_KNOWN,
    LIVE_DONE,    /* s[S_DONE] */
    LIVE_TRUE,    /* s[S_TRUE] */
    LIVE_TRUE_AT, /* number of the record that has the same x as LIVE_TRUE */
    LIVE_RING = 8,
    LIVE_SLOT = 4, /* number of elements in a slot; record k is in slot k % RECORDS */
    LIVE_RR = 0,   /* element of a slot: r.r */
    LIVE_ALPHA,    /* element of a slot: s[S_ALPHA] */
    LIVE_BETA,     /* element of a slot: s[S_BETA] */
    LIVE_STAMP,    /* element of a slot: the device's clock in us */
    RECORDS = 4096,
    LIVE_SIZE = LIVE_RING + RECORDS * LIVE_SLOT
};

struct vec_ops {
    void (*copy)(struct device *d, int64_t n, const void *x, void *y); /* y = x */
    void (*zero)(struct device *d, int64_t n, void *x);                /* x = 0; like copy, not subject to s[S_DONE] */
    /* y += sign s[a] x */
    void (*axpy)(struct device *d, int64_t n, double *s, int a, double sign, const void *x, void *y);
    void (*xpby)(struct device *d, int64_t n, double *s, const void *x, int b, void *y);        /* y = x + s[b] y */
    void (*mul)(struct device *d, int64_t n, double *s, const void *a, const void *x, void *y); /* y_i = a_i x_i */
    void (*dot)(struct device *d, int64_t n, double *s, const void *x, const void *y, int to);  /* s[to] = x . y */
    void (*div)(struct device *d, double *s, int to, int a, int b); /* s[to] = s[a] / s[b] */
    /* Fused: r = b - q; next = x + dinv r; s[S_RR] = r.r; s[S_NEXT_DIFF] = max |dinv r|; record. x stays unchanged,
       because the recorded residual is that of x: if this record ends the solve, x is the solution. */
    void (*jacobi)(struct device *d, int64_t n, double *s, const void *b, const void *q, const void *dinv,
                   const void *x, void *next);
    /* The same step in the form x' = B x + f, where q = B x: next = q + f; r = d (next - x), which is b - A x up to
       rounding if d = a_ii / omega; s[S_RR] = r.r; s[S_NEXT_DIFF] = max |next - x|; record. */
    void (*affine)(struct device *d, int64_t n, double *s, const void *q, const void *f, const void *diagonal,
                   const void *x, void *next);
    /* s[S_TRUE] = r.r of the true residual r = b - q, where q = A x. */
    void (*probe)(struct device *d, int64_t n, double *s, const void *b, const void *q);
    /* Between precisions, for iterative refinement, in all tables: next = x + d; r = b - q. Not subject to s[S_DONE].
     */
    void (*widen)(struct device *d, int64_t n, const double *x, const float *correction, double *next);
    void (*narrow)(struct device *d, int64_t n, const double *b, const double *q, float *r);
    /* Write s[S_RR] to the live record as number s[S_ITER] (from 0), then s[S_ITER] += 1. Sets s[S_DONE] to the
       reason if s[S_RR] <= s[S_TOL2], if s[S_MAXDIFF] < s[S_EPS], or if the residual exceeds the limit, stagnates or
       is NaN. */
    void (*record)(struct device *d, double *s);
};
/* T_F32 or T_F64; for T_C32 and T_C64, the vectors are pairs, n counts the numbers, two for each element, and mul,
   jacobi and affine multiply complex elements. The other operations treat pairs as numbers. */
const struct vec_ops *vec_ops_of(const struct device *d, enum type real);
/* The same operations, but the host adds the sums of the thread blocks in d->sums, and every operation that has a sum
   waits for the device. The caller has at least VEC_SUMS doubles of d->sums (device_sums_take). */
const struct vec_ops *vec_ops_host_sums(const struct device *d, enum type real);
/* The same operations on several columns at a time, with COLUMNS_WORK doubles of scalars. T_F32 or T_F64; NULL for a
   device with members. */
const struct vec_ops *vec_ops_by_column(const struct device *d, enum type real);

C_END
#endif
