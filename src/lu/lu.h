/* Dense LU with partial pivoting: P A = L U, its methods, the results of one, and solving with them. One method is one
   file, lu_NAME.c, and one line in lus.def. */
#ifndef LU_H
#define LU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "machine/lu_ops.h"

struct err;

#ifdef __cplusplus
extern "C" {
#endif

/* Parts of the blocked method, which are timed separately. */
enum lu_part { LU_PANEL, LU_INNER, LU_SWAP, LU_GEMM, LU_PARTS };
extern const char *const lu_part_name[LU_PARTS];

/* What the functions below work on: n x n values of v->real, column by column: element (i, j) is a[j * n + i]. */
struct lu_method;
struct lu {
    const struct lu_method *method;
    struct device *dev;
    enum type real;
    int64_t n;
    int b;      /* width of a tile (lu-paper), of the outer panel (lu); 0 where the method has none */
    void *A;    /* on the device: A, and after lu_factor L (its ones left out) below the diagonal of U */
    int *piv;   /* on the device, n: in step k row k changed places with row piv[k] >= k, counted from 0 */
    int *info;  /* on the device: the first column without a pivot, or -1 */
    void *work; /* on the device: method->work(v) bytes */
    const struct lu_ops *ops;
    void *given; /* host: A as it was given, n * n of v->real; lu_factor begins from it */
    const struct csr *of;
    struct watch *watch; /* looked at column by column or panel by panel; may be NULL */
    bool sampling;       /* wait for the device at each part, and add up what it took */
    double part_us[LU_PARTS];
    double part_from;
    int part; /* of the one under way, or -1 */

    /* after lu_factor */
    double us;        /* of the last factorisation, the copy of A to the device not counted */
    double put_us;    /* the copy */
    int64_t singular; /* the first column (from 0) in which no pivot but 0 was left, or -1 */
    int *swap;        /* host, n: piv */
    /* after lu_measure */
    int sign;         /* of the determinant: -1, 0, 1 */
    double log10_det; /* log10 |det A|; -inf where it is 0 */
    double growth;    /* max |U| / max |A| */
    double backward;  /* ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms, in double, with b = A * ones */
    double error;     /* max |x_i - 1| of the same x; both NaN for a singular matrix */
    double solve_us;  /* forward and back substitution */
};

struct lu_method {
    const char *name, *about, *source;
    const char *lesson; /* how the threads lie over the matrix; lines of at most 100 columns, divided by \n */
    bool host;          /* loops for the cpu device; else kernels for cuda and emu */
    bool vendor;        /* a library's, for cuda alone */
    bool has_parts;     /* lu_sample shows where its time goes, in v->part_us */
    bool baseline;      /* speed-ups are relative to its time */
    int (*width)(const struct lu *v);                          /* the default b; NULL: it has none */
    int width_most;                                            /* b is a power of two of 1 .. width_most */
    bool (*work)(struct lu *v, int64_t *bytes, struct err *e); /* on the device beside A, piv and info; NULL: none */
    bool (*factor)(struct lu *v, struct err *e);               /* queue it: v->A, v->piv, v->info */
};
extern const struct lu_method *const lu_methods[]; /* ended by NULL, in the order of lus.def */
extern const struct registry lu_registry;
const struct lu_method *lu_find(const char *name);
bool lu_runs_on(const struct lu_method *m, const struct device *d);
/* The method on d when none is named: our fastest. */
const struct lu_method *lu_default(const struct device *d);
/* Of a library: its version, "cuSOLVER 11.7.2"; NULL when it cannot be opened or m is ours. */
const char *lu_version(const struct lu_method *m);
double lu_flops(int64_t n); /* 2/3 n^3 - n^2/2 - n/6: multiplications, additions, divisions */

struct lu_options {
    const struct lu_method *method; /* NULL: lu_default */
    struct device *dev;
    enum type real;
    int b;      /* 0: the default */
    bool force; /* take NaN and inf */
    struct watch *watch;
};
/* Check A (square, real, no NaN or inf, not empty), the options and the memory there is, and expand A on the host. A
   must outlive v. Fails with E_UNSUPPORTED, E_NUMERIC, E_USAGE or E_MEMORY. */
bool lu_begin(struct lu **v, const struct csr *A, const struct lu_options *o, struct err *e);
/* Copy A to the device and factor it; may be called again. A singular matrix is no error: see v->singular. */
bool lu_factor(struct lu *v, struct err *e);
/* Factor `reps` times, after one that loads libraries and kernels; 0: as often as fits in half a second, at most ten.
   The median and half the distance between the quartiles, in us; NaN on the emulator, which factors once. */
bool lu_time(struct lu *v, int reps, double *us, double *spread, struct err *e);
/* A factorisation that is timed part by part, in v->part_us: slower by the waits. */
bool lu_sample(struct lu *v, struct err *e);
/* x = A^-1 b by forward and back substitution on v's own device; b, x: n doubles of the host, which may be the same.
   Call it after lu_factor; E_NUMERIC, naming the column, where the matrix is singular. */
bool lu_solve(struct lu *v, const double *b, double *x, struct err *e);
/* Fill in sign, log10_det, growth, backward, error, solve_us. */
bool lu_measure(struct lu *v, struct err *e);
/* L and U, n * n doubles on the host, column by column, as v->A. */
bool lu_get(struct lu *v, double *out, struct err *e);
void lu_free(struct lu *v);
/* Bytes on the device and on the host, before anything is allocated. */
int64_t lu_bytes(int64_t n, enum type real);

/* ---- the textbook's algorithm, one column per step, for display ---- */

struct lu_steps {
    int64_t n, k; /* k columns are done */
    double *a;    /* n * n, column by column: L and U in the first k columns and rows, the rest not done yet below */
    double *given;
    int *row;             /* which row of A stands in row i now */
    int64_t pivot;        /* the row that changed places with row k-1 in the last step, -1 before the first */
    int64_t singular;     /* as in struct lu */
    const struct csr *of; /* the matrix, for comparison only: it may have been freed */
};
bool lu_steps_new(struct lu_steps **s, const struct csr *A, struct err *e);
/* Go to the state after k columns, 0 .. n; going back recomputes it from A. */
void lu_steps_to(struct lu_steps *s, int64_t k);
void lu_steps_free(struct lu_steps *s);

/* For lu_NAME.c: a part begins, and ends the one before; LU_PARTS ends the last. */
bool lu_part(struct lu *v, enum lu_part part, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
