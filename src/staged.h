/* Rows of a sparse matrix in an order that lets many be worked on at once: stage by stage, where the rows of a stage do
   not need each other. The stages are colours for Gauss-Seidel, levels for a triangular solve. */
#ifndef STAGED_H
#define STAGED_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One launch: a wide stage over many blocks, or a run of narrow ones in one block, which passes from one to the next by a
   barrier. */
struct staged_run {
    int from, to;    /* stages */
    int first, end;  /* places */
    bool wide;       /* one stage, over many blocks of STAGED_BLOCK threads; else one block of `threads` */
    bool warps;      /* a warp takes a row; else a thread does */
    unsigned blocks;
    unsigned threads;
};
enum { STAGED_NARROW = 1024, STAGED_WORK = 8192, STAGED_LONG = 16, STAGED_BLOCK = 256 };

/* Places count rows in the order of the stages. All pointers but `run` are to the device's memory. */
struct staged {
    int64_t n, nnz;
    int nstages;
    const int *start; /* [nstages + 1] the first place of each stage */
    const int *row;   /* [n] the row at each place */
    const int *at;    /* [n] where its right side is found */
    const int *ptr;   /* [n + 1] where its entries begin */
    const int *col;   /* [nnz] what they multiply: columns, or places */
    const void *val;  /* [nnz] */
    const void *dinv; /* [n] 1 / the diagonal; NULL: it is 1 */
    void *y;          /* [n] results by place */
    int64_t bytes[2]; /* of the two pieces of memory that hold all that */
    int nruns;
    struct staged_run run[];
};

/* The rows 0 .. n-1 sorted by stage. */
struct order {
    int64_t n;
    int nstages;
    int *start, *row; /* as above */
    int *place;       /* [n] where each row is */
};
/* stage[n], each below nstages. Within a stage rows ascend, or descend where `down` is set. */
bool order_by(struct order *o, int64_t n, const int *stage, int nstages, bool down, struct err *e);
/* All rows in one stage: for a host that goes through them one by one. */
bool order_plain(struct order *o, int64_t n, bool down, struct err *e);
void order_free(struct order *o);

/* Which entries of a matrix: of row i those from begin[i] + skip to end[i] - 1. */
struct entries {
    const int *begin, *end;
    int skip;
    const int *col;
    const double *val;
};
/* The stage of each row of a triangle: one more than the last of the rows that it needs, which come before it (after it:
   `down`). stage[n]; returns the number of stages. */
int levels_of(const struct entries *t, int64_t n, bool down, int *stage);

/* What staged_make is told besides the order and the entries; rows and columns are numbered as in the matrix. */
struct staged_from {
    struct entries entries;
    const int *place;   /* col holds place[column]; NULL: the column */
    const int *at;      /* [n]; NULL: the row itself */
    const double *dinv; /* [n]; NULL: all 1 */
};
/* On the device d with values of `real`; piece[0] and piece[1] are what to free there, after a failure too. Free the struct
   with mem_free. */
struct staged *staged_make(struct device *d, enum type real, const struct order *o, const struct staged_from *f,
                           void **piece, struct err *e);
/* Tests: a narrow stage has at most so many rows, 0 .. STAGED_NARROW; -1: the usual. */
void staged_hook(int rows);

/* ---- the launches: nothing is done once s[S_DONE] is not 0 ---- */

/* Gauss-Seidel and SOR (k_sweep.cu). */
struct sweep_ops {
    /* x_i += omega / a_ii (b_i - sum_j a_ij x_j), stage by stage; s[S_NEXT_DIFF] rises to the largest change */
    void (*sweep)(struct device *d, const struct staged *A, double *s, double omega, const void *b, void *x);
    /* Record ||b - q||^2 and, as the change that led to it, s[S_NEXT_DIFF], which is 0 then. */
    void (*record)(struct device *d, int64_t n, double *s, const void *b, const void *q);
};
/* Parts of preconditioners (k_tri.cu). */
struct pre_ops {
    /* y = dinv (r - the entries times y), by place; z, unless NULL, the same by row */
    void (*solve)(struct device *d, const struct staged *t, double *s, const void *r, void *z);
    /* z = the inverse of each diagonal block of `size` rows times r; column j of all blocks is inverse[j n .. j n + n - 1] */
    void (*blocks)(struct device *d, int64_t n, int size, double *s, const void *inverse, const void *r, void *z);
};
const struct sweep_ops *sweep_ops_of(const struct device *d, enum type real);
const struct pre_ops *pre_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
