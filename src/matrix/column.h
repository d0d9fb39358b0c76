/* The columns of a matrix in CSR form, found without its transpose. */
#ifndef COLUMN_H
#define COLUMN_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* The entries of one column, by ascending row. */
struct column {
    int64_t n;
    int *row;           /* [n] */
    double *val, *imag; /* [n]; imag is NULL for a real matrix */
};
/* Copy column `col` of A; the column must exist. Takes O(rows log(longest row)) time on all threads and O(n) memory. */
bool csr_column(const struct csr *A, int64_t col, struct column *out, struct err *e);
void column_free(struct column *c);

#endif
