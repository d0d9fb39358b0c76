/* Eigenvalues of matrices whose whole spectrum is known, on any device; for test_eigs.c and gpu_eigs.c. */
#ifndef EIGS_KIT_H
#define EIGS_KIT_H

struct csr;
struct eigen;

/* Find pairs at both ends of each spectrum and near several numbers, and compare them with the spectrum. */
void check_eigs(const char *device);
/* Check the pairs of a result without a known spectrum: the residuals are those of the vectors, which have norm 1 and
   are orthogonal, and the order is right. */
void check_pairs(const char *what, const struct eigen *v);

#endif
