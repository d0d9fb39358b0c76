/* Sums, products and multiples of matrices. Each function fills *out, which the caller frees with csr_free; on failure
   *out is empty. The pattern of a result does not depend on the values: an entry whose value becomes 0 stays stored.
   Ctrl-C cancels long loops, which poll the thread's watch (base/loop.h). */
#ifndef ARITHMETIC_H
#define ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* alpha A + beta B. A and B must have the same shape. The sum is complex if A or B is complex. */
bool csr_sum(struct csr *out, double alpha, const struct csr *A, double beta, const struct csr *B, struct err *e);
/* A B, where A has as many columns as B has rows. CXSparse multiplies blocks of rows, on all threads: first the
   patterns, to find the number of entries before memory is allocated, then the values. */
bool csr_multiply(struct csr *out, const struct csr *A, const struct csr *B, struct err *e);
/* csr_multiple computes factor * A; csr_identity computes factor times the identity of size n. */
bool csr_multiple(struct csr *out, double factor, const struct csr *A, struct err *e);
bool csr_identity(struct csr *out, double factor, int64_t n, struct err *e);
/* Both functions change A itself, so A must not be used elsewhere. csr_scale_values multiplies the values by `factor`.
   csr_conjugate changes the sign of the imaginary parts. */
bool csr_scale_values(struct csr *A, double factor, struct err *e);
bool csr_conjugate(struct csr *A, struct err *e);
/* Make a matrix whose row i has room for count[i] entries. The row pointers are set; the columns and values are not.
   `what` names the work in progress reports. */
bool csr_with_counts(struct csr *out, int64_t rows, int64_t cols, const int *count, bool complex_values,
                     const char *what, struct err *e);

#endif
