/* The interchange form: a sparse matrix as compressed rows (CSR). */
#ifndef CSR_H
#define CSR_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;
struct row_source;
struct watch;

/* Compressed rows: the entries of row i are csr_start(A, i) .. csr_start(A, i+1)-1, columns ascending, no duplicates.
   Immutable once built. A small matrix has at most 2^31-1 rows, columns and entries, and row pointers of 32 bits. A
   large matrix has more rows or entries, and row pointers of 64 bits; its columns are 32 bits wide too. Functions
   accept small matrices unless their comment says "any size".
   A matrix without arrays has a source instead, which makes any of its rows when they are needed. Only functions whose
   comment says so accept such a matrix; row_slices.h has those that visit its rows. */
struct csr {
    int64_t rows, cols, nnz;
    int *rowptr;               /* [rows+1]; NULL in a large matrix */
    int64_t *rowptr64;         /* [rows+1]; NULL in a small matrix */
    int *col;                  /* [nnz] */
    double *val;               /* [nnz] real part; always present */
    double *imag;              /* [nnz] imaginary part, or NULL for a real matrix */
    struct row_source *source; /* owned; NULL: the matrix has arrays */
};

/* The entries before row i of a matrix without arrays. */
int64_t csr_start_made(const struct csr *A, int64_t i);

/* The index of the first entry of row i, for a matrix of any size, also without arrays; nnz for i = rows. */
static inline int64_t csr_start(const struct csr *A, int64_t i)
{
    return A->rowptr ? A->rowptr[i] : A->rowptr64 ? A->rowptr64[i] : csr_start_made(A, i);
}

/* Set the index of the first entry of row i of a matrix of any size that is being built. */
static inline void csr_set_start(struct csr *A, int64_t i, int64_t entry)
{
    if (A->rowptr)
        A->rowptr[i] = (int)entry;
    else
        A->rowptr64[i] = entry;
}

/* The most rows or entries of a small matrix. csr_set_most_small is for tests, which make small matrices large; 0
   restores 2^31-1. */
int64_t csr_most_small(void);
void csr_set_most_small(int64_t most);
bool csr_size_is_large(int64_t rows, int64_t nnz);

static inline bool csr_is_large(const struct csr *A)
{
    return A->source ? csr_size_is_large(A->rows, A->nnz) : A->rowptr64 != NULL;
}

/* Checks the sizes of a small matrix, and of a matrix of any size. */
bool csr_limits(int64_t rows, int64_t cols, int64_t nnz, struct err *e);
bool csr_limits_any(int64_t rows, int64_t cols, int64_t nnz, struct err *e);
/* Bytes of the arrays of a matrix of any size, or of its source. */
int64_t csr_memory(const struct csr *A);
/* Is there enough memory for a matrix of this size, which may be any size? The arrays of `held` entries are already
 * allocated. */
bool csr_fits(int64_t rows, int64_t nnz, int64_t held, bool complex_values, struct err *e);
/* All rows of the new matrix are empty; the caller sets the row pointers and the entries. */
bool csr_new(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, bool complex_values, struct err *e);
/* csr_new for any size. */
bool csr_new_any(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, bool complex_values, struct err *e);
void csr_free(struct csr *A);
/* Allocate the row pointers for A->rows and A->nnz, which may be any size; csr_pointers_zero sets them to 0. */
bool csr_pointers_new(struct csr *A, struct err *e);
bool csr_pointers_zero(struct csr *A, struct err *e);
/* After A->nnz was reduced: a matrix that is no longer large gets row pointers of 32 bits. */
bool csr_settle(struct csr *A, struct err *e);
/* Checks the invariants of a struct csr of any size; the error names the first violation. */
bool csr_check(const struct csr *A, struct err *e);
/* Build A from triplets in any order. Duplicates are summed in input order; *duplicates receives their number and may
   be NULL. Parallel; the result does not depend on the number of threads. row, col, val and imag are only read. */
bool csr_from_triplets(struct csr *A, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col,
                       const double *val, const double *imag, int64_t *duplicates, struct err *e);
/* Like csr_from_triplets, but with progress and cancellation; after a cancellation, A is empty. */
bool csr_build(struct csr *A, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col, const double *val,
               const double *imag, int64_t *duplicates, struct watch *w, struct err *e);
/* Sort the keys of one row. A key has the column in its upper 32 bits and the position in its lower 32 bits; positions
   must ascend. `spare` has room for n keys. For long rows, the time is linear in n. */
void csr_sort_keys(uint64_t *key, uint64_t *spare, int64_t n, int64_t cols);
bool csr_copy(struct csr *out, const struct csr *A, struct err *e); /* any size */
bool csr_transpose(struct csr *out, const struct csr *A, struct err *e);
/* For a counting sort: replace the counts of n rows in ptr[1 .. n] by the offsets of their first entries. If each entry
   of row i is then written at ptr[i + 1]++, the entries of row i end up at ptr[i] .. ptr[i + 1] - 1. */
void counts_to_offsets(int64_t n, int *ptr);
/* counts_to_offsets for the row pointers of a matrix of any size. */
void csr_counts_to_offsets(struct csr *A);
/* The pattern of the transpose: the rows of A that have column j are row[ptr[j] .. ptr[j + 1] - 1], ascending. ptr has
   room for cols + 1 items, and row for nnz items. The rows of A need not be sorted. */
void csr_pattern_transposed(const struct csr *A, int *ptr, int *row);
/* ---- the rest of this header accepts matrices of any size; csr_row_length, csr_longest_row, csr_most_entries,
   csr_has_row_above and csr_finite also accept matrices without arrays ---- */

bool csr_equal(const struct csr *A, const struct csr *B); /* same shape, same pattern, bit-identical values */
int64_t csr_row_length(const struct csr *A, int64_t row);
int64_t csr_longest_row(const struct csr *A); /* entries of the longest row */
/* The largest number of entries in `rows` consecutive rows that begin at a multiple of `rows`. */
int64_t csr_most_entries(const struct csr *A, int64_t rows);
/* Has any row more than `most` entries? The answer may be wrong if the command is cancelled meanwhile (loop.h). */
bool csr_has_row_above(const struct csr *A, int64_t most);
/* The row of entry k. */
int64_t csr_row_of(const struct csr *A, int64_t k);
/* The first row in row .. end-1 whose first entry has an index of at least `entry`; end if there is none. */
int64_t csr_row_from(const struct csr *A, int64_t row, int64_t end, int64_t entry);
/* The index of the first of the ascending columns col[from .. end-1] that is at least j; `end` if there is none. */
static inline int64_t column_lower(const int *col, int64_t from, int64_t end, int64_t j)
{
    while (end - from > 8) {
        int64_t mid = from + (end - from) / 2;
        if (col[mid] < j)
            from = mid + 1;
        else
            end = mid;
    }
    while (from < end && col[from] < j) from++;
    return from;
}
/* The same, in a time that depends on how far the result is from `from`, not on how long the row is. */
static inline int64_t column_next(const int *col, int64_t from, int64_t end, int64_t j)
{
    int64_t step = 1;
    if (from >= end || col[from] >= j) return from;
    while (step < end - from && col[from + step] < j) from += step, step *= 2;
    return column_lower(col, from + 1, step < end - from ? from + step : end, j);
}
/* The entries [from, end) are in one row: find the first of these entries whose column is at least col. The result is
   `end` if there is none. */
int64_t csr_lower(const struct csr *A, int64_t from, int64_t end, int64_t col);
/* Index of entry (row, col) in A->val; -1 if there is no such entry. */
int64_t csr_find(const struct csr *A, int64_t row, int64_t col);

/* Does row i have an entry on the diagonal that is not 0? The number of rows that have none. Ctrl-C ends the count. */
bool csr_has_diagonal(const struct csr *A, int64_t i);
int64_t csr_zero_diagonal(const struct csr *A);

/* |a| of entry k. */
static inline double csr_abs(const struct csr *A, int64_t k)
{
    return A->imag ? hypot(A->val[k], A->imag[k]) : fabs(A->val[k]);
}

/* Index of the first NaN or inf in x[n]; n if there is none, or if Ctrl-C ends the search; all further loops are then
   stopped, too (base/loop.h). */
int64_t first_not_finite(int64_t n, const double *x);
/* Are all values of A finite? If a value is not finite, the error names the first NaN or inf and ends with "add `force`
   to the command to VERB it anyway". */
bool csr_finite(const struct csr *A, const char *verb, struct err *e);

C_END
#endif
