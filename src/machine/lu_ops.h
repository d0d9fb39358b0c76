/* What gpu/ implements of dense LU: the launches of each device kind and precision, and the vendor's libraries. */
#ifndef LU_OPS_H
#define LU_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct device;
struct err;
struct watch;

#ifdef __cplusplus
extern "C" {
#endif

enum { LU_WIDEST = 128 }; /* columns of a panel at most */

/* One n x n matrix on a device, column by column. */
struct lu_at {
    void *a; /* n * n */
    int64_t n;
    int *piv, *info;
};
/* Tables of a host device have only what its comment allows. */
struct lu_ops {
    /* cpu: the whole factorisation by loops, on one thread or all */
    bool (*serial)(struct lu_at A, struct watch *w, struct err *e);
    bool (*openmp)(struct lu_at A, struct watch *w, struct err *e);
    /* the others: kernels */
    void (*begin)(struct device *d, struct lu_at A);                   /* info = -1 */
    void (*paper)(struct device *d, struct lu_at A, int64_t k, int b); /* step k of lu-paper */
    /* The widest panel, up to `most`, that one block can hold of so many rows; 0: none, columns come one by one. */
    int (*panel_width)(int64_t rows, int most);
    /* Columns j .. j+w-1 below row j, by one block; swaps happen in these columns alone. */
    void (*panel)(struct device *d, struct lu_at A, int64_t j, int w);
    /* Column j, its swap in all of columns from .. to-1, and their update on its right. */
    void (*column)(struct device *d, struct lu_at A, int64_t j, int64_t from, int64_t to);
    /* Columns from .. to-1 but for j .. j+w-1: those swaps; and right of the panel, rows j.. of U and the update below.
     */
    void (*inner)(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to);
    /* Columns from .. to-1, all left or all right of the panel: the swaps of columns j .. j+w-1; right of it also rows
       j .. j+w-1 of U. w <= LU_WIDEST. */
    void (*swap)(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to);
    /* Columns from .. to-1 below row j+w: minus L U. Ours. */
    void (*gemm)(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to);
    /* all: L y = b, then U x = y. b: n values, in the rows' new order, in whose place x is left; room: n more */
    void (*solve)(struct device *d, struct lu_at A, void *b, void *room);
    /* all: out[j] = max |U(:, j)|, out[n + j] = U(j, j) */
    void (*measure)(struct device *d, struct lu_at A, double *out);
};
const struct lu_ops *lu_ops_of(const struct device *d, enum type real);

/* Libraries (gpu/vendor_lu.cu); without CUDA all of them fail. */
struct lu_vendor {
    /* The trailing update by cuBLAS; false, once and for all, where it cannot be opened: then take lu_ops.gemm. */
    bool (*gemm)(struct device *d, enum type real, struct lu_at A, int64_t j, int w, int64_t from, int64_t to);
    const char *(*blas_version)(void); /* NULL: not opened */
    bool (*work)(struct device *d, enum type real, int64_t n, int64_t *bytes, struct err *e);
    bool (*factor)(struct device *d, enum type real, struct lu_at A, void *work, struct err *e);
    const char *(*version)(void);
    /* A second stream beside d's: a copy of d that launches there; what one queues after `after` waits for the other.
     */
    bool (*side)(struct device *d, struct device *side, struct err *e);
    void (*after)(struct device *waits, struct device *on);
};
extern const struct lu_vendor lu_vendor_cuda;

/* Tests and benches; 0: the default. outer: the outer panel's width. threads: of a panel's block, a multiple of 32.
   rows: beyond so many, columns come one by one. ahead: 1 always, -1 never looks ahead. The emulator's matrices are
   small. */
struct lu_hook {
    int outer, threads;
    int64_t rows;
    int ahead;
};
extern struct lu_hook lu_hook;

#ifdef __cplusplus
}
#endif
#endif
