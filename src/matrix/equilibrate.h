/* Rows and columns of a matrix, multiplied by powers of two so that their norms are about 1. */
#ifndef EQUILIBRATE_H
#define EQUILIBRATE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* The largest |a| of the row with the largest such |a|, divided by that of the row with the smallest one; the same for
   columns. Empty rows and columns do not count; 1 if there are none. */
struct imbalance {
    double rows, cols;
};
bool csr_imbalance(const struct csr *A, struct imbalance *out, struct err *e);

/* Exponents of 2 with which the largest |a| of each row and column of the matrix a_ij 2^(row[i] + col[j]) is near 1.
   Rows and columns are scaled together by the square roots of their largest |a|, several times (Ruiz 2001); a symmetric
   matrix stays symmetric. Rows and columns without a finite nonzero entry get 0. row[rows] and col[cols] are allocated
   by the caller. */
bool equilibrate(const struct csr *A, int *row, int *col, struct err *e);

/* Multiplies a_ij by 2^(row[i] + col[j]), which is exact unless a value leaves the range of fp64. */
bool csr_scale_by_powers(struct csr *A, const int *row, const int *col, struct err *e);

/* *out = R A C, with R_ii = 2^row[i] and C_jj = 2^col[j], which is exact unless a value leaves the range of fp64. The
   powers of two nearest to scales with which all rows and columns have the 2-norm 1, as far as there are such scales.
   They are unique (Sinkhorn and Knopp 1967), so that the result does not depend on how A was scaled before. Found by
   the iteration of Ruiz 2001: a symmetric matrix stays symmetric, with row = col. Needs an A with finite values. */
bool csr_equilibrate(struct csr *out, const struct csr *A, int *row, int *col, struct err *e);

#endif
