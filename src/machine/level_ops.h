/* Level schedules as launches see them: what gpu/ implements of Gauss-Seidel, SOR and the preconditioners. */
#ifndef LEVEL_OPS_H
#define LEVEL_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct device;

#ifdef __cplusplus
extern "C" {
#endif

/* LEVEL_NARROW rows and LEVEL_WORK rows and entries at most: a narrow level. More than LEVEL_LONG entries per row on
   average: a warp takes each row. LEVEL_BLOCK: threads per block of a wide level. */
enum { LEVEL_NARROW = 1024, LEVEL_WORK = 8192, LEVEL_LONG = 16, LEVEL_BLOCK = 256 };

/* One launch: a wide level on many blocks, or consecutive narrow ones in one block, with a barrier between two levels.
 */
struct level_run {
    int from, to;   /* levels */
    int first, end; /* positions */
    bool wide;      /* one level, on many blocks of LEVEL_BLOCK threads; else one block of `threads` */
    bool warps;     /* a warp takes a row; else a thread does */
    unsigned blocks;
    unsigned threads;
};

/* Positions count the rows in the order of the levels. All pointers are to the device's memory. */
struct level_schedule {
    int64_t n, nnz;
    int nlevels;
    const int *start; /* [nlevels + 1] the first position of each level */
    const int *row;   /* [n] the row at each position */
    const int *at;    /* [n] the index of its right side */
    const int *ptr;   /* [n + 1] its first entry */
    const int *col;   /* [nnz] the index of the vector element that an entry multiplies: a column, or a position */
    const void *val;  /* [nnz] */
    const void *dinv; /* [n] 1 / the diagonal; NULL: 1 */
    void *y;          /* [n] results by position */
    int64_t bytes[2]; /* of the two allocations that hold all this: integers and reals */
    int nruns;
    struct level_run run[]; /* on the host */
};

/* ---- the launches: they do nothing once s[S_DONE] is not 0 ---- */

/* Gauss-Seidel and SOR (k_sweep.cu). */
struct sweep_ops {
    /* x_i += omega / a_ii (b_i - sum_j a_ij x_j), level by level; s[S_NEXT_DIFF] rises to the largest change */
    void (*sweep)(struct device *d, const struct level_schedule *A, double *s, double omega, const void *b, void *x);
    /* Record ||b - q||^2 and, as the change that led to it, s[S_NEXT_DIFF], and reset that to 0. */
    void (*record)(struct device *d, int64_t n, double *s, const void *b, const void *q);
};
/* Parts of preconditioners (k_tri.cu). */
struct pre_ops {
    /* y = dinv (r - the entries times y), by position; z, unless NULL, the same by row */
    void (*solve)(struct device *d, const struct level_schedule *t, double *s, const void *r, void *z);
    /* z = the inverse of each diagonal block of `size` rows times r; column j of all blocks is inverse[j n .. j n + n -
     * 1] */
    void (*blocks)(struct device *d, int64_t n, int size, double *s, const void *inverse, const void *r, void *z);
};
const struct sweep_ops *sweep_ops_of(const struct device *d, enum type real);
const struct pre_ops *pre_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
