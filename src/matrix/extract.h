/* Make a new matrix from some entries of a matrix, or from its scaled entries. */
#ifndef EXTRACT_H
#define EXTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "window.h"

struct csr;
struct err;
struct watch;

/* The submatrix of the rows and columns of win, which are renumbered from 0. Fails with E_USAGE if win is not within
   A. */
bool csr_extract(struct csr *out, const struct csr *A, struct window win, struct watch *w, struct err *e);

/* About `rows` rows of A with all their columns: runs of SAMPLE_RUN consecutive rows, one at a random place in each of
   equal parts of A. Among several such choices, the function returns the one whose mean row length is closest to that
   of A. All rows if hardly any would be left out. */
enum { SAMPLE_RUN = 256 };
bool csr_sample_rows(struct csr *out, const struct csr *A, int64_t rows, struct watch *w, struct err *e);

/* Keep only the entries with |a| > 0 and |a| >= below, and any NaN. */
bool csr_prune(struct csr *out, const struct csr *A, double below, struct watch *w, struct err *e);

enum { SCALE_ROWS = 1, SCALE_COLS = 2, SCALE_BOTH = 3, SCALE_ROUNDS = 10 };

/* Smallest and largest |a| among the finite nonzero entries; NaN if there are none. */
struct range {
    double low, high;
};
struct range range_of(const struct csr *A);

/* Numbers of rows and columns that cannot be scaled because they are all zero or have an infinite entry. */
struct unscaled {
    int64_t rows, cols;
};
/* Divide each row, or each column, by its largest |a|. SCALE_BOTH divides rows and columns together by the square roots
   of their largest |a|, SCALE_ROUNDS times (Ruiz 2001). `unscaled` may be NULL. If `row` and `col` are not NULL, row[i]
   and col[j] become the numbers by which row i and column j were divided in all. */
bool csr_scale(struct csr *out, const struct csr *A, int sides, struct unscaled *unscaled, double *row, double *col,
               struct watch *w, struct err *e);
/* Divide a_ij by row[i] and col[j], the larger one first. */
bool csr_scale_by(struct csr *out, const struct csr *A, double *row, double *col, struct watch *w, struct err *e);

#endif
