/* Dense LU with partial pivoting, P A = L U: the methods, the state of a factorisation, and the solution of A x = b. A
   method consists of one file, lu_NAME.c, and one line in lus.def. */
#ifndef LU_H
#define LU_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "base/precision.h"
#include "machine/lu_ops.h"
#include "machine/microscope.h"

struct err;

C_BEGIN

/* The parts of the blocked method. Each part is timed separately. */
enum lu_part { LU_PANEL, LU_INNER, LU_SWAP, LU_GEMM, LU_PARTS };
extern const char *const lu_part_name[LU_PARTS];

/* A factorisation. Matrices are n x n values of type v->real (pairs if A is complex), stored column by column: element
   (i, j) is a[j * n + i]. */
struct lu_method;
struct lu {
    const struct lu_method *method;
    struct device *dev;
    enum type real; /* T_F32 or T_F64; T_C32 or T_C64 if A is complex */
    int64_t n;
    int b;      /* width of a tile (lu-paper) or of the outer panel (lu); 0: the method has no width */
    void *A;    /* on the device: A; after lu_factor: U and, below the diagonal, L without its unit diagonal */
    int *piv;   /* on the device, n items: step k exchanged row k with row piv[k] >= k, counted from 0 */
    int *info;  /* on the device: the first column without a pivot, or -1 */
    void *work; /* work memory on the device, method->work(v) bytes */
    const struct lu_ops *ops;
    void *given; /* on the host: a copy of A (n * n values of type v->real) from which lu_factor starts */
    const struct csr *of;
    struct watch *watch; /* watch_tick is called with it after each column or panel; may be NULL */
    bool sampling;       /* if true, wait for the device after each part, and add the part's time to part_us */
    double part_us[LU_PARTS];
    double part_from;
    int part; /* the part that is running, or -1 */

    /* after lu_factor */
    double us;        /* time of the last factorisation, without the copy of A to the device */
    double put_us;    /* time of the copy of A to the device */
    int64_t singular; /* the first column (from 0) without a nonzero pivot, to the precision, or -1 */
    int *swap;        /* on the host, n items: copy of piv */
    /* after lu_measure */
    int sign;         /* sign of the determinant: -1, 0, 1; if A is complex, 0 or 1 */
    double log10_det; /* log10 |det A|; -inf if the determinant is 0 */
    bool rounded;     /* a pivot is as small as rounding errors: no digit of the determinant is certain, nor its sign */
    double growth;    /* max |U| / max |A| */
    double backward;  /* ||b - A x|| / (||A|| ||x|| + ||b||), infinity norms, in double, with b = A * ones */
    double
        error; /* max |x_i - 1|, where x is the computed solution; backward and error are NaN for a singular matrix */
    double solve_us; /* time of forward and back substitution */
};

struct lu_method {
    const char *name, *about, *source;
    const char *lesson; /* how threads map to the matrix; lines of at most 110 columns, each terminated by \n */
    bool host;          /* true: loops on the host, for cpu; false: kernels for cuda and emu */
    bool vendor;        /* a function of a library, for cuda only */
    bool has_parts;     /* lu_sample measures the time of each part, in v->part_us */
    bool baseline;      /* speed-ups are relative to this method */
    int (*width)(const struct lu *v); /* the default b; NULL: the method has no width */
    int width_most;                   /* b is a power of two, 1 .. width_most */
    /* size of the work memory on the device, in addition to A, piv and info; NULL: none */
    bool (*work)(struct lu *v, int64_t *bytes, struct err *e);
    bool (*factor)(struct lu *v, struct err *e); /* queue the factorisation of v->A; sets v->piv and v->info */
    /* Queue the launches of column k alone, which `factor` queues for each column. NULL: the method does not work
       column by column. */
    void (*step)(struct lu *v, int64_t k);
};
extern const struct lu_method *const lu_methods[]; /* terminated by NULL, in the order of lus.def */
extern const struct registry lu_registry;
const struct lu_method *lu_find(const char *name);
bool lu_runs_on(const struct lu_method *m, const struct device *d);
/* The default method on d: the fastest of our own methods. */
const struct lu_method *lu_default(const struct device *d);
/* The version of the library, such as "cuSOLVER 11.7.2"; NULL if the library cannot be opened or if m does not use a
   library. */
const char *lu_version(const struct lu_method *m);
double lu_flops(int64_t n); /* 2/3 n^3 - n^2/2 - n/6: the number of multiplications, additions and divisions */

struct lu_options {
    const struct lu_method *method; /* NULL: lu_default */
    struct device *dev;
    enum precision real;
    int b;      /* 0: the default */
    bool force; /* accept NaN and inf */
    struct watch *watch;
};
/* Check A (square, no NaN or inf, not empty), the options and the free memory, and expand A on the host. A must
   outlive v. Fails with E_UNSUPPORTED, E_NUMERIC, E_USAGE or E_MEMORY. */
bool lu_begin(struct lu **v, const struct csr *A, const struct lu_options *o, struct err *e);
/* Copy A to the device and factor it; may be called again. A singular matrix is not an error: see v->singular. */
bool lu_factor(struct lu *v, struct err *e);
/* Factor `reps` times after a warm-up. If reps is 0, factor as many times as half a second allows, but at most ten
   times. *us is the median time, and *spread is half the interquartile range; both are NaN on the emulator, which
   factors once. */
bool lu_time(struct lu *v, int reps, double *us, double *spread, struct err *e);
/* Factor once and time each part, in v->part_us; the waits for the device make this slower than lu_factor. */
bool lu_sample(struct lu *v, struct err *e);
/* x = A^-1 b by forward and back substitution on v->dev; `b` and `x` are n doubles (n pairs if A is complex) on the
   host; they may be the same array. Call lu_solve after lu_factor. Fails with E_NUMERIC, naming the column, if the
   matrix is singular. */
bool lu_solve(struct lu *v, const double *b, double *x, struct err *e);
/* Fill in sign, log10_det, growth, backward, error, solve_us. */
bool lu_measure(struct lu *v, struct err *e);
/* Copy L and U to n * n doubles (pairs if A is complex) on the host, column by column, arranged as in v->A. */
bool lu_get(struct lu *v, double *out, struct err *e);
void lu_free(struct lu *v);
/* Bytes of a dense matrix and its vectors, to be compared with the free memory before anything is allocated. */
int64_t lu_bytes(int64_t n, enum type real);

/* ---- the textbook algorithm, one column per step, for display ---- */

enum { LU_STEPS_MAX = 512 }; /* maximum number of rows of a matrix that is stepped through */

struct lu_steps {
    int64_t n, k; /* number of columns that are done */
    /* n * n, column by column: the first k columns and rows hold L and U; the other rows and columns hold the part that
       is still to be eliminated */
    double *a;
    double *given;
    int *row;             /* the row of A that is now in row i */
    int64_t pivot;        /* the row that the last step exchanged with row k-1; -1 before the first step */
    int64_t singular;     /* the first column (from 0) without a nonzero pivot, or -1 */
    const struct csr *of; /* the address of A, only to be compared with other addresses: A may have been freed */
};
bool lu_steps_new(struct lu_steps **s, const struct csr *A, struct err *e);
/* Go to the state after k columns, 0 .. n. A step back recomputes the state from A. */
void lu_steps_to(struct lu_steps *s, int64_t k);
void lu_steps_free(struct lu_steps *s);

/* ---- one column on the emulator, for the microscope ---- */

struct lu_column {
    struct lu *v; /* owned */
    int64_t k;
};
/* Prepare to do column k of A after columns 0 .. k-1 are done; o names the emulator and a method that has `step`. A
   must outlive c. Fails like lu_begin, with E_USAGE if A has no column k, and with E_LIMIT if A has more than
   LU_STEPS_MAX rows. lu_column_free accepts an empty struct. */
bool lu_column_begin(struct lu_column *c, const struct csr *A, int64_t k, const struct lu_options *o, struct err *e);
struct watched lu_column_watched(struct lu_column *c); /* c must outlive the result */
void lu_column_free(struct lu_column *c);

/* For lu_NAME.c: end the previous part and begin this part. The value LU_PARTS only ends the previous part. */
bool lu_part(struct lu *v, enum lu_part part, struct err *e);

C_END
#endif
