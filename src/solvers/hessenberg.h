/* The small least-squares problem of GMRES on the host. */
#ifndef HESSENBERG_H
#define HESSENBERG_H

#include <stdint.h>

/* y[0 .. k-1] minimises ||beta e_1 - H y||. Column j of H is h[j * ld] .. h[j * ld + j + 1], the rest of the column is
   0. Overwrites H, and g, which has k + 1 elements. Returns the number of operations: additions, multiplications,
   divisions and roots, 4 k^2 + 5 k in all. If H has no full rank, elements of y are not finite. */
int64_t hessenberg_minimise(int64_t k, double *h, int64_t ld, double beta, double *g, double *y);

#endif
