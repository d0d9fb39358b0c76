/* Some eigenvalues and eigenvectors of a real or hermitian matrix. */
#ifndef EIGEN_H
#define EIGEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct csr;
struct device;
struct kernel;
struct mat;
struct watch;

/* LARGEST, SMALLEST: by the real part; NEAR: to a shift; FARTHEST from 0: only of a general matrix */
enum eigen_part { EIGEN_LARGEST, EIGEN_SMALLEST, EIGEN_NEAR, EIGEN_FARTHEST };
/* GENERAL: real. Eigenvalues are real, unless the matrix is general. */
enum eigen_kind { EIGEN_SYMMETRIC, EIGEN_HERMITIAN, EIGEN_GENERAL };

/* The matrix on the host and on a device. */
struct eigen_matrix {
    const char *name; /* like csr, it must outlive the result */
    const struct csr *csr;
    enum eigen_kind kind;
    const struct mat *mat; /* for EIGEN_NEAR, mat and kernel may be NULL */
    const struct kernel *kernel;
    struct device *dev;
};

struct eigen_options {
    enum eigen_part part;
    double shift; /* EIGEN_NEAR */
    int64_t pairs;
    int64_t columns;  /* of the basis; 0: chosen */
    int64_t restarts; /* at most */
    double tol;       /* on ||A v - value v|| / |value| */
    uint64_t seed;
    bool verify;    /* count the eigenvalues by the signs of pivots */
    bool condition; /* search for the left eigenvectors of a general matrix, however long it takes */
    bool left;      /* A is itself the transpose of a matrix whose left eigenvectors are looked for */
    bool quick;     /* do not search for further copies of multiple eigenvalues */
    bool force;     /* factor even if memory does not seem to suffice */
    struct watch *watch;
};

/* ROUNDED: the residual is as small as rounding errors allow, but larger than tol |value|. */
enum eigen_status { EIGEN_OPEN, EIGEN_ROUNDED, EIGEN_CONVERGED };
const char *eigen_status_name(enum eigen_status status);

struct eigen_pair {
    double value, imag; /* the eigenvalue: its real and its imaginary part */
    double residual;    /* ||A v - value v|| for ||v|| = 1, with compensated sums; NaN: not measured, after Ctrl-C */
    double estimate; /* the same by the Lanczos process; for EIGEN_NEAR, of the inverse, relative to its eigenvalue */
    /* 1 / |y'x| for a left and a right eigenvector of norm 1: a small change E of A changes the eigenvalue by at most
       condition ||E||. 1 unless A is general; NaN: not computed. */
    double condition;
    enum eigen_status status;
};

struct eigen {
    const char *name;
    const struct csr *A;
    const struct device *dev;
    const struct kernel *kernel; /* NULL: products by the factors of A - shift I */
    struct eigen_options o;
    enum eigen_kind kind;
    int64_t columns; /* of the basis */

    /* The pairs, in the order that `part` asks for, and their vectors, of A->rows values each or, if `complex_vectors`,
       as many pairs of values. Of conjugate eigenvalues, the one with the positive imaginary part comes first. vector
       is NULL if Ctrl-C came before the vectors could be copied. */
    int64_t found;
    struct eigen_pair *pair;
    double *vector;
    bool complex_vectors;
    double orthogonality; /* largest |v_i' v_j| for i != j; NaN: not measured, or A is general */

    double norm;      /* ||A||_1, an upper bound on the size of every eigenvalue */
    double asked;     /* the shift of the options that were given; o.shift lies at most at 2 norm */
    int64_t products; /* with A, or with the inverse of A - shift I */
    int64_t restarts;
    int64_t left_products; /* with A', of the search for left eigenvectors; 0: none */
    bool complete;         /* the basis spans the whole space, so the list of all eigenvalues is complete */
    bool checked;          /* a second start vector found no further copies */
    int64_t more; /* further copies of the last eigenvalue that the search saw beyond the wanted pairs, at least */
    /* With `verify`: the first `verified` pairs lie beyond a bound, where `counted` eigenvalues are; -1: not counted,
       for the reason in `unverified`. */
    int64_t verified, counted;
    double from, to; /* the bounds; infinite at an end of the spectrum */
    char unverified[240];
    bool cancelled;          /* by Ctrl-C */
    int64_t sure;            /* no other eigenvalue is nearer to the shift than the first `sure` pairs */
    double shift;            /* EIGEN_NEAR: the shift that was used, which differs from o.shift if A - shift I is
                                singular */
    const char *factored_by; /* the direct method; NULL: none */
    int64_t below;           /* number of eigenvalues of A below `shift`; -1: unknown */
    double factor_us, us;    /* factor_us: NaN unless EIGEN_NEAR */
};

enum { EIGEN_PAIRS_MAX = 240, EIGEN_COLUMNS_MAX = 500 };

/* Find pairs of a square, finite matrix of the kind that A->kind names. After Ctrl-C, the pairs of the last restart are
   kept, and the result has `cancelled` set; fails with E_CANCELLED if there are none yet. */
bool eigen_find(struct eigen **out, const struct eigen_matrix *A, const struct eigen_options *o, struct err *e);
/* Can the options be met for this matrix? A refusal is one line. `symmetric`: A is symmetric or hermitian. */
bool eigen_check(const struct eigen_matrix *A, const struct eigen_options *o, bool symmetric, struct err *e);
/* Numbers in a vector of the result. */
int64_t eigen_numbers(const struct eigen *v);
void eigen_free(struct eigen *v);

#endif
