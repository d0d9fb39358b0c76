/* Slices of the rows of a matrix, which may have no arrays (row_source.h). */
#ifndef ROW_SLICES_H
#define ROW_SLICES_H

#include <stdbool.h>
#include <stdint.h>

#include "csr.h"

struct err;

/* The end of a slice of rows that begins at `row`. A slice is the work between two calls of watch_tick. The result is
   greater than row and at most `end`. */
int64_t slice_end(const struct csr *A, int64_t row, int64_t end);

/* A slice of rows whose arrays the next slice uses again, so that few pages are touched for the first time. */
struct slice {
    struct csr A;
    int64_t rows, nnz; /* the rows and entries for which its arrays have room */
};

/* Give s->A this shape and arrays without contents, except that its first row begins at entry 0. */
bool slice_begin(struct slice *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e);
void slice_free(struct slice *s);

/* Called with some rows of a matrix: row i of `slice` is row first + i of the matrix. The slice has all columns of the
   matrix, and is overwritten or freed after the call. */
typedef bool visit_rows(void *user, const struct csr *slice, int64_t first, struct err *e);
/* Visit rows from .. to-1 of a matrix without arrays, in order, in slices that take about 15 MB. */
bool csr_visit(const struct csr *A, int64_t from, int64_t to, visit_rows *visit, void *user, struct err *e);
/* Visit all rows; a matrix with arrays is one slice. */
bool csr_visit_all(const struct csr *A, visit_rows *visit, void *user, struct err *e);

#endif
