/* GMRES(m) on a device (k_gmres.cu). */
#ifndef GMRES_OPS_H
#define GMRES_OPS_H

#include <stdint.h>

#include "base/array.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device;

/* GMRES(m) (k_gmres.cu). V: m vectors, one after another; q: A times the last. w: GMRES_WORK(m) doubles on the device,
   rows of m + 1 (see GM_*), then the partial sums. */
enum {
    GM_H,
    GM_H2,
    GM_G,
    GM_COS,
    GM_SIN,
    GM_Y,
    GM_R, /* R's column c is row GM_R + c; H's, as it was, GM_R + m + c */
    GM_BLOCKS = 512,
    GM_MOST = 500
};
#define GMRES_WORK(m) (((int64_t)GM_R + 2 * (m) + GM_BLOCKS) * ((m) + 1))
#define GMRES_PARTS(m) (((int64_t)GM_R + 2 * (m)) * ((m) + 1)) /* where the partial sums of column 0 begin */
struct gmres_ops {
    /* row = V'q for the columns from .. to-1. `parts`: only the sums of the blocks, blocks(d, n) of them for each
       column at GMRES_PARTS(m), GM_BLOCKS apart; the row is left to who adds them up. */
    void (*dots)(struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row, bool parts,
                 const void *V, const void *q);
    int (*blocks)(const struct device *d, int64_t n);
    /* q -= V row for the same columns; s[S_PQ] = q.q */
    void (*subtract)(struct device *d, int64_t n, double *s, double *w, int m, int from, int to, int row, const void *V,
                     void *q);
    /* Column k of H, from row GM_H, or from GM_H and GM_H2 where q was made orthogonal twice, and s[S_PQ], rotated into
       R; the residual that is left; record. BROKE_DOWN if R is singular with it: then the column is not taken. */
    void (*column)(struct device *d, double *s, double *w, int m, int k, bool twice);
    void (*solve)(struct device *d, double *s, double *w, int m); /* R y = g, for s[S_COLUMNS] columns */
    void (*add)(struct device *d, int64_t n, double *s, double *w, int m, const void *V, void *x); /* x += V y */
    /* q = b - q, the true residual, from which a cycle begins; it replaces the last record, and may end the solve. */
    void (*residual)(struct device *d, int64_t n, double *s, double *w, int m, const void *b, void *q);
    void (*scale)(struct device *d, int64_t n, double *s, const void *q, void *v); /* v = s[S_SCALE] q */
};
/* real: T_F32 or T_F64 */
const struct gmres_ops *gmres_ops_of(const struct device *d, enum type real);

#ifdef __cplusplus
}
#endif
#endif
