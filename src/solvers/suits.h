/* Which preconditioners suit a matrix: cheap trials on the host, made before a method is advised. */
#ifndef SUITS_H
#define SUITS_H

#include <stdbool.h>

#include "matrix/facts.h"

struct csr;

/* Both take some 100 ms at most the first time. If they cannot decide in that time, the factors are taken to exist. For
   a matrix without entries in memory (A->source), both are false. */
bool suits_ilu0(struct facts *f, const struct csr *A); /* every diagonal entry is stored, and no pivot is (almost) 0 */
bool suits_ic0(struct facts *f, const struct csr *A);  /* for a symmetric A: and the pivots of A or -A are positive */
/* Would the order `matching` make an ilu0 possible that A has not as it is? For an A that is not symmetric. */
bool suits_matching(struct facts *f, const struct csr *A);
/* Do the sizes of the diagonal entries differ by a factor of 10 or more? */
bool diagonal_varies(const struct csr *A);

#endif
