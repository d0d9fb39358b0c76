/* Is a matrix diagonally dominant, and do its rows sum to 0? Decided without rounding errors. */
#ifndef DOMINANCE_H
#define DOMINANCE_H

#include <stdbool.h>

struct csr;
struct err;

/* WEAKLY: in every row, |a_ii| is at least the sum of the other |a_ij|. CHAINED: WEAKLY, and from every row a path of
   nonzero entries (i, j), (j, k), ... leads to a row in which |a_ii| is larger. Then A is nonsingular (Shivakumar and
   Chew 1974; Taussky 1949 for an irreducible A). A symmetric A with a positive diagonal is positive semidefinite if it
   is WEAK, and positive definite if it is CHAINED. */
enum dominant { DOMINANT_NOT, DOMINANT_WEAKLY, DOMINANT_CHAINED };

/* For a square matrix of finite values. A complex matrix counts as NOT, since its |a| are rounded. */
bool dominant_of(const struct csr *A, enum dominant *out, struct err *e);
/* Is A times the vector of ones exactly 0? */
bool rows_sum_to_0(const struct csr *A, bool *all, struct err *e);

#endif
