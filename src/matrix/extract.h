/* New matrices with some of the entries of another, or with its entries scaled. */
#ifndef EXTRACT_H
#define EXTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include "window.h"

struct csr;
struct err;
struct watch;

/* The rows and columns of win, which lies within A (E_USAGE if not); they are counted anew from 0. */
bool csr_extract(struct csr *out, const struct csr *A, struct window win, struct watch *w, struct err *e);

/* The entries that are not 0, and whose |a| is not below that; NaN stays. */
bool csr_prune(struct csr *out, const struct csr *A, double below, struct watch *w, struct err *e);

enum { SCALE_ROWS = 1, SCALE_COLS = 2, SCALE_BOTH = 3, SCALE_ROUNDS = 10 };

/* Smallest and largest |a| of the entries that are finite and not 0; NaN where there are none. */
struct range {
    double low, high;
};
struct range range_of(const struct csr *A);

/* Rows or columns that were left as they are: nothing but zeros, or an entry that is infinite. */
struct left {
    int64_t rows, cols;
};
/* Each row or column divided by its largest |a|; for both, SCALE_ROUNDS times rows and columns together by the square
   roots of these (Ruiz 2001). left may be NULL. */
bool csr_scale(struct csr *out, const struct csr *A, int sides, struct left *left, struct watch *w, struct err *e);

#endif
