/* Level schedules of Gauss-Seidel, SOR and the preconditioners, and their launches. Implemented by
   gpu/kernels/k_sweep.cu, gpu/kernels/k_tri.cu and gpu/kernels/k_tri_chunks.cu. */
#ifndef LEVEL_OPS_H
#define LEVEL_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"

struct device;

C_BEGIN

/* A level is narrow if it exceeds neither LEVEL_NARROW nor LEVEL_STEPS. */
enum {
    LEVEL_NARROW = 1024,  /* maximum number of rows of a narrow level */
    LEVEL_STEPS = 6,      /* maximum number of steps of a narrow level (level_steps) */
    LEVEL_THREADS = 1024, /* maximum number of threads of a block that solves narrow levels */
    LEVEL_EARLY = 3,      /* entries of a row that a thread loads while the block solves the level before */
    LEVEL_LATE = 4,       /* entries of a row that a thread then loads at a time */
    LEVEL_LONG = 16,      /* sweeps: if the average row has more entries than this, one warp processes each row */
    LEVEL_BLOCK = 256,    /* threads per block of a wide level */
    CHUNK_THREADS = 1024, /* threads per block of a sync-free solve */
    MISSING_BYTE = 0xff   /* each byte of a result that is missing (gpu/results.h) */
};

/* One launch: a wide level on many blocks, or several narrow levels in one block, with a barrier after each level. */
struct level_run {
    int from, to;   /* levels [from, to) */
    int first, end; /* positions first .. end-1 */
    bool wide;      /* true: one level, on many blocks of LEVEL_BLOCK threads; false: one block of `threads` threads */
    int lanes;      /* threads per row: 1, 4, 8 or 32 */
    unsigned blocks;
    unsigned threads;
};

/* Positions number the rows in the order of the levels. All pointers point to device memory.
   A sync-free solve needs step, ticket and a y whose elements are all missing (gpu/results.h) except while the
   two triangles of a preconditioner are solved one after the other. Each block processes CHUNK_THREADS / lanes
   positions.
 */
struct level_schedule {
    int64_t n, nnz;
    int nlevels;
    const int *start; /* [nlevels + 1] the first position of each level */
    const int *row;   /* [n] the row at each position */
    const int *at;    /* [n] for the row at each position, the index of its value in the right-hand side */
    const int *ptr;   /* [n + 1] the first entry of the row at each position */
    const int *col;   /* [nnz] index of the vector element that an entry is multiplied by: a column or a position */
    const void *val;  /* [nnz] */
    const void *dinv; /* [n] 1 / the diagonal; NULL: 1 */
    void *y;          /* [n] results by position */
    const int *step;  /* [n] number of the step, within the block, that solves the row at each position; NULL: none */
    unsigned *ticket; /* the number of blocks of the launch that have begun; between launches, 0 */
    int lanes;        /* threads per row of a sync-free solve, 1, 4 or 32; of a sweep, 1 or 32 */
    int64_t bytes[2]; /* sizes of the two allocations in which the arrays above are: integers and reals */
    int nruns;
    struct level_run run[]; /* on the host */
};

/* ---- the launches: no-ops once s[S_DONE] is not 0 ---- */

/* Gauss-Seidel and SOR (k_sweep.cu). */
struct sweep_ops {
    /* x_i += omega / a_ii (b_i - sum_j a_ij x_j), level by level; if the largest change exceeds s[S_NEXT_DIFF],
       s[S_NEXT_DIFF] becomes that change */
    void (*sweep)(struct device *d, const struct level_schedule *A, double *s, double omega, const void *b, void *x);
    /* Record ||b - q||^2 together with s[S_NEXT_DIFF], the largest change of the sweep, then set s[S_NEXT_DIFF] to
       0. n: the numbers in b, two for each complex element. */
    void (*record)(struct device *d, int64_t n, double *s, const void *b, const void *q);
};
/* Triangular solves and block-diagonal products of preconditioners (k_tri.cu). */
struct pre_ops {
    /* y = dinv (r - (entries times y)), indexed by position. If z is not NULL, z receives the same values, indexed by
       row. */
    void (*solve)(struct device *d, const struct level_schedule *t, double *s, const void *r, void *z);
    /* z = (inverse of each diagonal block of `size` rows) times r, for n rows. inverse[j n .. j n + n-1] is column j of
       all blocks. */
    void (*blocks)(struct device *d, int64_t n, int size, double *s, const void *inverse, const void *r, void *z);
};
/* Triangular solves that need no launch per level (k_tri_chunks.cu). */
struct tri_ops {
    /* Like `solve` above, by one launch. `other` is the other triangle of the preconditioner, whose y and ticket are
       cleared; r may be other->y. NULL on the device cpu. */
    void (*chunks)(struct device *d, const struct level_schedule *t, const struct level_schedule *other, double *s,
                   const void *r, void *z);
    /* One sweep of Jacobi's method: to = dinv (r - (entries times x)); x = NULL stands for dinv r. r is indexed like
       the r of `solve`. x and `to` are indexed by position, or `to` by row if it `scatters`. x and `to` are different
       vectors.
     */
    void (*sweep)(struct device *d, const struct level_schedule *t, double *s, const void *r, const void *x, void *to,
                  bool scatters);
};
/* T_F32, T_F64, T_C32 or T_C64 */
const struct tri_ops *tri_ops_of(const struct device *d, enum type real);
const struct sweep_ops *sweep_ops_of(const struct device *d, enum type real);
const struct sweep_ops *sweep_ops_host_sums(const struct device *d, enum type real); /* see vec_ops.h */
const struct pre_ops *pre_ops_of(const struct device *d, enum type real);

C_END
#endif
