/* Dense LU: the launches for each kind of device and precision, and the vendor's libraries. Implemented by
   gpu/kernels/ and gpu/cuda/vendor_lu.cu. */
#ifndef LU_OPS_H
#define LU_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"

struct device;
struct err;
struct watch;

C_BEGIN

enum { LU_WIDEST = 128 };    /* maximum number of columns whose swaps one launch applies */
enum { LU_OUTERMOST = 256 }; /* maximum number of columns of an outer panel */

/* An n x n matrix on a device, stored column by column. */
struct lu_at {
    void *a; /* n * n */
    int64_t n;
    int *piv, *info;
};
enum { LU_SWAPS = 1, LU_SOLVES = 2 }; /* the parts of lu_ops.swap to do; may be combined */
/* Functions under "cpu" are set only for the device cpu. Functions under "kernels" are set only for cuda and emu.
   Functions marked "all" are set for every device. */
struct lu_ops {
    /* cpu: the whole factorisation by loops, on one thread or on all threads */
    bool (*serial)(struct lu_at A, struct watch *w, struct err *e);
    bool (*openmp)(struct lu_at A, struct watch *w, struct err *e);
    /* kernels */
    void (*begin)(struct device *d, struct lu_at A);                   /* info = -1 */
    void (*paper)(struct device *d, struct lu_at A, int64_t k, int b); /* step k of lu-paper */
    /* The width of the widest panel of `rows` rows, up to `most` columns, for which one thread block or one cluster of
       blocks has room; 0 if no panel fits, in which case columns must be eliminated one by one. */
    int (*panel_width)(int64_t rows, int most);
    /* Factor columns j .. j+w-1 from row j down, in one launch. Rows are swapped only in these columns. */
    void (*panel)(struct device *d, struct lu_at A, int64_t j, int w);
    /* Factor column j. In columns [from, to), swap rows, and update those columns that are to the right of column
       j. */
    void (*column)(struct device *d, struct lu_at A, int64_t j, int64_t from, int64_t to);
    /* After a panel of columns j .. j+w-1, apply the panel's swaps to columns [from, to) outside the panel. In
       the columns to the right of the panel, also compute rows j .. j+w-1 of U and update the rows below. */
    void (*inner)(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to);
    /* In columns [from, to), apply the swaps of columns j .. j+w-1 if `what` contains LU_SWAPS, and then compute rows
       j .. j+w-1 of U if it contains LU_SOLVES, for columns to the right of j+w-1. w <= lu_widest. */
    void (*swap)(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to, int what);
    /* Our own kernel for the trailing update: subtract L U, with L in columns j .. j+w-1 and U in rows j .. j+w-1, from
       rows [j+w, below) of columns [from, to). */
    void (*gemm)(struct device *d, struct lu_at A, int64_t j, int w, int64_t below, int64_t from, int64_t to);
    /* all devices: solve L y = b, then U x = y. b: n values in the permuted row order, overwritten by x; room: work
       memory for n values */
    void (*solve)(struct device *d, struct lu_at A, void *b, void *room);
    /* all devices: out[j] = max |U(:, j)|, out[n + j] = U(j, j), or |U(j, j)| if A is complex */
    void (*measure)(struct device *d, struct lu_at A, double *out);
};
/* type: T_F32, T_F64, T_C32 or T_C64 */
const struct lu_ops *lu_ops_of(const struct device *d, enum type type);
/* The maximum number of columns that lu_ops.swap accepts: LU_WIDEST, or half of that in complex fp64, because the
   columns must fit in the shared memory of a block. */
static inline int lu_widest(enum type type)
{
    return type == T_C64 ? LU_WIDEST / 2 : LU_WIDEST;
}

/* NVIDIA's libraries (gpu/cuda/vendor_lu.cu). In a build without CUDA, every function fails. */
struct lu_vendor {
    /* The trailing update by cuBLAS. If the library cannot be opened, this call and all later calls return false: use
       lu_ops.gemm instead. Complex matrices: always false. */
    bool (*gemm)(struct device *d, enum type real, struct lu_at A, int64_t j, int w, int64_t below, int64_t from,
                 int64_t to);
    const char *(*blas_version)(void); /* version of cuBLAS; NULL: not opened */
    bool (*work)(struct device *d, enum type real, int64_t n, int64_t *bytes, struct err *e);
    bool (*factor)(struct device *d, enum type real, struct lu_at A, void *work, struct err *e);
    const char *(*version)(void); /* version of cuSOLVER; NULL: not opened */
    /* side: *side becomes a copy of d that launches on a second stream. after: later launches on `waits` start only
       when all launches that are now queued on `on` are done. */
    bool (*side)(struct device *d, struct device *side, struct err *e);
    void (*after)(struct device *waits, struct device *on);
};
extern const struct lu_vendor lu_vendor_cuda;

/* Settings for tests and benches. Tests need these settings, because the matrices that they factor on the emulator are
   small. In each field, 0 selects the default. */
struct lu_hook {
    int outer;    /* width of the outer panel */
    int threads;  /* number of threads per block of a panel, a multiple of 32 */
    int64_t rows; /* if a panel has more rows than this, columns are eliminated one by one */
    int ahead;    /* 1: always factor the next panel during the update; -1: never do so */
    int blocks;   /* number of blocks that share a panel */
};
extern struct lu_hook lu_hook;

C_END
#endif
