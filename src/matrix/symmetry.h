/* Is a matrix symmetric: exactly, or up to the rounding errors of the program that made it? */
#ifndef SYMMETRY_H
#define SYMMETRY_H

#include <stdbool.h>

struct csr;
struct err;
struct watch;

/* Two entries (i, j) and (j, i) are equal up to rounding if they differ by at most this times the smaller of the
   largest |a| of row i and of row j. Assembling a matrix sums some 100 terms, each with an error of 1e-16; values
   rounded for a file to 10 or fewer digits differ by more. */
#define SYMMETRY_ROUNDING 1e-12

/* An entry that is not stored counts as 0, except for `pattern`. NaN differs from every value. A matrix that is not
   square has none of these properties. */
struct symmetry {
    bool pattern;   /* (j, i) is stored wherever (i, j) is */
    bool values;    /* a_ij = a_ji, exactly */
    bool hermitian; /* a_ij is the conjugate of a_ji, exactly; of a real matrix the same as `values` */
    bool rounding;  /* a_ij is the conjugate of a_ji up to rounding; true if `hermitian` is */
    double gap;     /* if `rounding`: the largest |a_ij - conj(a_ji)| divided by the largest |a| */
};

/* O(nnz) time if the pattern is symmetric, otherwise up to O(nnz log(longest row)); O(rows) memory per thread. */
bool symmetry_of(const struct csr *A, struct watch *w, struct symmetry *out, struct err *e);

/* "yes", "no", "hermitian", "to rounding: |a_ij - a_ji| at most 4e-17 max |a|", ... */
struct symmetry_text {
    char text[96];
};
struct symmetry_text symmetry_text(const struct symmetry *s, bool complex);

/* "hermitian" or "symmetric" */
const char *symmetry_word(const struct csr *A);

/* Is A hermitian (if real: symmetric) up to rounding? If not, fails with E_NUMERIC: "WHO needs a symmetric matrix,
   but entry ...; CURE". */
bool symmetry_needed(const struct csr *A, const char *who, const char *cure, struct err *e);

#endif
