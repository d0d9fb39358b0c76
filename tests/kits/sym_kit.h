/* Compares symmetrization on every device with a slow and plain reference. */
#ifndef SYM_KIT_H
#define SYM_KIT_H

#include <stdint.h>

#include "machine/symmetrize.h"

/* The reference: sorts the entries and their mirror images with qsort. */
struct csr sym_reference(const struct csr *A, enum sym_mode mode);
/* A generated matrix. */
struct csr sym_made(const char *generator, int64_t a, int64_t b);
/* Check one matrix with each method and mode, with and without copying symmetric patterns: all results equal the
   reference bit for bit. Also checks the transpose. */
void sym_check(const char *what, const struct csr *A, const char *device);
/* Check many matrices: */
void sym_check_shapes(const char *device);   /* small and awkward */
void sym_check_tiles(const char *device);    /* tiles that end within full rows, long rows, empty rows */
void sym_check_values(const char *device);   /* NaN, inf, -0, sums that overflow */
void sym_check_verdicts(const char *device); /* whether A is found symmetric and therefore copied */
/* Check the arrays of each step of the patent for an example written by hand, in every mode. */
void sym_check_steps(const char *device);

#endif
