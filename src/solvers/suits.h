/* Which methods suit a matrix: cheap trials on the host, made before a method is advised. */
#ifndef SUITS_H
#define SUITS_H

#include <stdbool.h>

struct csr;

/* YES and NOT are proved. SEMI: no eigenvalue is below 0 by more than rounding errors, and one is 0 up to rounding
   errors. UNKNOWN: finding out would take long. */
enum definiteness { DEFINITE_UNKNOWN, DEFINITE_NOT, DEFINITE_SEMI, DEFINITE_YES };

/* What has been found out about one matrix, so that nothing is found out twice. All 0: nothing. */
struct suits {
    enum fact { FACT_UNKNOWN, FACT_NO, FACT_YES } symmetric, ilu0, ic0;
    bool definite_known;
    enum definiteness definite; /* DEFINITE_UNKNOWN if it is not known */
};

/* All of these are bounded to some 100 ms the first time. If they cannot decide in that time, suits_symmetric is false,
   and the factors of ilu0 and ic0 are taken to exist. For a matrix without entries in memory (A->source), all are
   false. */
bool suits_symmetric(struct suits *s, const struct csr *A); /* real, and symmetric up to rounding */
bool suits_ilu0(struct suits *s, const struct csr *A); /* every diagonal entry is there, and no pivot is (almost) 0 */
bool suits_ic0(struct suits *s, const struct csr *A);  /* for a symmetric A: and the pivots of A or -A are positive */
/* Is A, or -A if its diagonal is negative, positive definite? For a real symmetric A. */
enum definiteness suits_definite(struct suits *s, const struct csr *A);
/* Do the sizes of the diagonal entries differ by a factor of 10 or more? */
bool diagonal_varies(const struct csr *A);

#endif
