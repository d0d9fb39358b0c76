/* The reference SpMV (sparse matrix-vector product): every kernel's result is compared with it. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdint.h>

#include "base/base.h"
#include "base/precision.h"

#include <stdbool.h>

C_BEGIN

struct csr;
struct err;

/* Compute y = alpha A x + beta y in double precision with compensated sums. Also compute, for each row, the error bound
   for arithmetic in type `real`: bound[i] = (row length + 2) * eps(real) * (|alpha| sum |a||x| + |beta y|), plus an
   allowance for underflow if an operand or product is subnormal. If values are stored in a smaller type than that of x,
   the bound also has |alpha| sum |a - stored a||x|; y itself is computed from A. `bound` may be NULL. If beta is 0, the
   input value of y is not read. If A is complex, the elements of x, y and bound are pairs of a real and an imaginary
   part; alpha and beta are real. A complex row is bounded like two real rows of twice the length. */
void reference_spmv(const struct csr *A, double alpha, const double *x, double beta, double *y, enum precision real,
                    double *bound);
/* The same for a real matrix without arrays, too (row_source.h). Returns false if the user cancels. */
bool reference_product(const struct csr *A, double alpha, const double *x, double beta, double *y, enum precision real,
                       double *bound, struct err *e);
struct verdict {
    bool ok;
    /* ||y - ref||_2 / ||ref||_2; NaN if ref has NaN or inf and y has the same values at these positions */
    double relative;
    double worst; /* max |y_i - ref_i| / bound_i; ok means <= 1 */
    int64_t row;  /* row of the worst value, or -1 */
    int64_t at;   /* index of the worst value in y, or -1; row, unless y consists of pairs */
};
/* Compare n numbers. If they are the parts of complex numbers, the caller corrects `row`. */
struct verdict verdict_of(int64_t n, const double *y, const double *ref, const double *bound);
/* Is the result wrong because y, which is NaN before a product with beta 0, was used? reads_y_text names the fault.
 */
bool verdict_reads_y(const struct verdict *v, double beta, const double *y, const double *ref);
extern const char *const reads_y_text;

C_END
#endif
