/* Norms of vectors and matrices. They are the same with any number of threads. */
#ifndef NORMS_H
#define NORMS_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* ||x||_2 without overflow or underflow; NaN if an element is NaN. A complex vector is a vector of 2 n numbers. */
double norm2(int64_t n, const double *x);
/* x'y, added in the order of the elements. */
double dot_product(int64_t n, const double *x, const double *y);
/* The Frobenius norm of a matrix with arrays, likewise. */
double frobenius_norm(const struct csr *A);
/* *out = the largest sum of |a| of a row, for a matrix with arrays, of any size. Returns false if the user cancels. */
bool norm_inf(const struct csr *A, double *out, struct err *e);
/* The larger one; NaN if one is NaN, which fmax and comparisons drop. */
double max_or_nan(double a, double b);

#endif
