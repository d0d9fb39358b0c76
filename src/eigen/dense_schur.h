/* The ordered real Schur form of a small dense matrix, by LAPACK, which is loaded at its first use. */
#ifndef DENSE_SCHUR_H
#define DENSE_SCHUR_H

#include <stdbool.h>

#include "wanted.h"

struct err;
struct watch;

/* A = Q T Q'. All matrices are n x n, column by column, with leading dimension n. T is upper triangular, apart from a
   block of 2 rows on the diagonal for each pair of conjugate eigenvalues. All arrays belong to the caller. */
struct small_schur {
    int n;
    double *T; /* in: A */
    double *Q;
    /* The eigenvectors of T, of norm 1. For a conjugate pair, columns i and i + 1 are the real and the imaginary part
       of the vector of value i, and imag[i] > 0. */
    double *Y;
    double *value, *imag; /* [n], in the wanted order */
    double *share;        /* [n] |y'x| for a left and a right eigenvector of norm 1: 1 / condition of the eigenvalue */
};
/* The call runs on a worker thread if n is large, so that Ctrl-C ends it; the arrays are then unchanged. */
bool small_schur(struct small_schur *s, const struct wanted *w, struct watch *watch, struct err *e);

#endif
