/* The interchange form: a sparse matrix as compressed rows (CSR). */
#ifndef CSR_H
#define CSR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct err;
struct watch;

/* Compressed rows: row i holds entries rowptr[i] .. rowptr[i+1]-1, columns ascending, no duplicates.
   Immutable once built. Limits, checked once in csr_limits: rows, cols < 2^31, nnz <= 2^31-1. */
struct csr {
    int64_t rows, cols, nnz;
    int *rowptr;  /* [rows+1] */
    int *col;     /* [nnz] */
    double *val;  /* [nnz] real part; always present */
    double *imag; /* [nnz] imaginary part, or NULL for a real matrix */
};

bool csr_limits(int64_t rows, int64_t cols, int64_t nnz, struct err *e);
/* There is memory for a matrix of this size, of which arrays for `held` entries are there already. */
bool csr_fits(int64_t rows, int64_t nnz, int64_t held, bool complex_values, struct err *e);
bool csr_new(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, bool complex_values, struct err *e);
void csr_free(struct csr *A);
bool csr_check(const struct csr *A, struct err *e); /* the invariants above, naming the first broken one */
/* Build from triplets in any order; duplicates are summed, their number goes to *duplicates (may be NULL).
   n log n at worst, stable, parallel. row/col/val/imag are only read. */
bool csr_from_triplets(struct csr *A, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col,
                       const double *val, const double *imag, int64_t *duplicates, struct err *e);
/* The same, watched: cancelled, A is empty. */
bool csr_build(struct csr *A, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col, const double *val,
               const double *imag, int64_t *duplicates, struct watch *w, struct err *e);
/* Sort the keys of one row, column above 32 bits of position and in the order of these; spare has room for n. Linear
   for long rows. */
void csr_sort_keys(uint64_t *key, uint64_t *spare, int64_t n, int64_t cols);
bool csr_copy(struct csr *out, const struct csr *A, struct err *e);
bool csr_transpose(struct csr *out, const struct csr *A, struct err *e);
/* Sorting by counting. Counts in ptr[1 .. n] become where each of n rows begins, one place further on: filling row i at
   ptr[i + 1]++ then leaves ptr[i] .. ptr[i + 1] - 1 to it. */
void counts_to_offsets(int64_t n, int *ptr);
/* The pattern of the transpose: the rows of A that have column j are row[ptr[j] .. ptr[j + 1] - 1], ascending. ptr has
   room for cols + 1, row for nnz. The rows of A need not be sorted. */
void csr_pattern_transposed(const struct csr *A, int *ptr, int *row);
bool csr_equal(const struct csr *A, const struct csr *B); /* same shape, pattern and bits */
int64_t csr_row_length(const struct csr *A, int64_t row);
int64_t csr_longest_row(const struct csr *A); /* entries of the longest row */
/* The first of entries from .. end-1 of one row whose column is not below col; end if there is none. */
int64_t csr_lower(const struct csr *A, int64_t from, int64_t end, int64_t col);
/* Index of entry (row, col) in A->val, or -1. */
int64_t csr_find(const struct csr *A, int64_t row, int64_t col);

/* Position of the first NaN or inf of x[n], or n. */
int64_t first_not_finite(int64_t n, const double *x);
/* No value of A is NaN or inf; else the error names its place, and says that `force` DOES all the same. */
bool csr_finite(const struct csr *A, const char *does, struct err *e);

#ifdef __cplusplus
}
#endif
#endif
