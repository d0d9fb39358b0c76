/* Vectors that a real square matrix A maps to 0, and those that A' maps to 0: found by row sums, or given. */
#ifndef NULL_SPACE_H
#define NULL_SPACE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* An orthonormal basis: either the columns of a full matrix, or vectors of which no two share a row. */
struct null_basis {
    int64_t n, count; /* elements of a vector; vectors */
    double *full;     /* [count * n], one vector after another; NULL: the vectors share no row */
    int *of;          /* [n] the vector that is not 0 in this row; -1: none */
    double *value;    /* [n] its element there */
};
void null_basis_free(struct null_basis *b);
/* Subtract from x[n] its part in the space; `part`, if it is not NULL, receives the 2-norm of what was subtracted.
   Returns false after Ctrl-C, or without memory. */
bool null_basis_project(const struct null_basis *b, double *x, double *part, struct err *e);
/* Write vector j to x[n]. */
void null_basis_vector(const struct null_basis *b, int64_t j, double *x);

/* Make vectors, one after another, orthonormal. Returns false if one is 0 or depends on those before it. */
bool null_orthonormalise(int64_t n, int64_t count, double *full);

/* right: A x = 0. left: A' y = 0, so that A x = b has a solution only if b is orthogonal to these y. */
struct null_space {
    struct null_basis right, left;
    bool same;     /* A is symmetric: `left` is empty, and `right` is both */
    bool has_left; /* false: the left vectors are not known */
    bool constant; /* right: constants of components */
    int64_t alone; /* of these components, those of one row, which is empty, as is its column */
};
/* The left vectors; NULL: not known, or there are none. */
const struct null_basis *null_space_left(const struct null_space *s);
void null_space_free(struct null_space *s);

/* *count = the weakly connected components of A on which constants are mapped to 0, up to rounding errors; *alone =
   those of them that are one row without a nonzero entry in it or its column. 0 also for a complex matrix, for one
   without arrays, and for one of more than 2^24 entries in which a row does not sum to 0. */
bool null_constants_count(const struct csr *A, int64_t *count, int64_t *alone, struct err *e);
/* The constants of these components. If A is not symmetric, but a diagonal matrix times A is, which is so for D^-1
   times a symmetric matrix, `left` receives the diagonals. */
bool null_constants(struct null_space *out, const struct csr *A, bool symmetric, struct err *e);
/* The space that the columns of given[columns * n] span. Fails if A does not map one of them to 0, to 8 digits, or if
   they depend on each other; `from` names them in the message. */
bool null_given(struct null_space *out, const struct csr *A, bool symmetric, const double *given, int64_t columns,
                const char *from, struct err *e);

#endif
