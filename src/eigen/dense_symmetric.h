/* The eigenvalue problem of a small dense symmetric or hermitian matrix, by LAPACK, which is loaded at its first use.
 */
#ifndef DENSE_SYMMETRIC_H
#define DENSE_SYMMETRIC_H

#include <stdbool.h>

struct err;
struct shared_library;
struct watch;

/* A: n x n, column by column, leading dimension n; only the upper triangle is read. value[n] receives the eigenvalues,
   ascending, and A the orthonormal eigenvectors, column by column. The call runs on a worker thread if n is large, so
   that Ctrl-C ends it; A is then unchanged. */
bool small_eigen(int n, double *A, double *value, struct watch *w, struct err *e);
/* The same for a hermitian matrix, whose elements, like those of the eigenvectors, are pairs. */
bool small_eigen_hermitian(int n, double *A, double *value, struct watch *w, struct err *e);
/* Fails, with the package to install, if LAPACK is missing. */
bool small_ready(struct err *e);
extern struct shared_library lapack_library;

#endif
