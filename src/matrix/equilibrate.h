/* Row and column scales that make all rows and columns of a matrix about equally large. */
#ifndef EQUILIBRATE_H
#define EQUILIBRATE_H

#include <math.h>
#include <stdbool.h>

struct csr;
struct err;

/* Exponents of 2: the equilibrated matrix has the entries a_ij 2^(row[i] + col[j]), and the largest |a| of each of its
   rows and columns is near 1. Powers of 2 change no digit of a value. Several rounds of scaling rows and columns
   together by the square roots of their largest |a| (Ruiz 2001); a symmetric matrix stays symmetric. Rows and columns
   without a finite nonzero entry get 0. row[rows] and col[cols] are allocated by the caller. */
bool equilibrate(const struct csr *A, int *row, int *col, struct err *e);

#endif
