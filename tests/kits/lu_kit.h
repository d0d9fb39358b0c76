/* Checks of dense LU that hold on every device: see lu_kit.c. */
#ifndef LU_KIT_H
#define LU_KIT_H

#include "base/precision.h"

#include <stdint.h>

struct csr;
struct device;
struct lu_method;

/* Dense matrices stored as CSR: random in [-1, 1); Wilkinson's matrix, whose growth is 2^(n-1). */
void lu_random(struct csr *A, int64_t n, uint64_t seed);
void lu_wilkinson(struct csr *A, int64_t n);
/* P^-1 L U with short binary fractions in L and U, and unique pivots that are powers of two: any method must find them
   exactly, in fp32 too. lu receives L and U in the layout of lu_get. row[i] receives the row of A that is row i of L U.
   zero is the index k with U(k, k) = 0, or -1. */
void lu_exact(struct csr *A, int64_t n, int64_t zero, uint64_t seed, double *lu, int *row);
/* Factor; fails the test on an error. */
struct lu *lu_done(const struct csr *A, const struct lu_method *m, struct device *d, enum precision real);
/* Check that P A = L U element by element, to within n eps |L| |U|, that |L| <= 1, and that P is a permutation. */
void lu_check_factors(struct lu *v);

/* Factor random complex matrices by every method of ours on the device: P A = L U, and x. */
void lu_check_complex(const char *device, enum precision real, const int64_t *sizes, int count);
/* Checks of every method that runs on the device: */
void lu_check_sizes(const char *device, enum precision real, const int64_t *sizes, int count);
void lu_check_exact(const char *device, enum precision real);
void lu_check_singular(const char *device, enum precision real);
void lu_check_growth(const char *device, enum precision real);
void lu_check_solutions(const char *device, enum precision real);

#endif
