/* One half of a square matrix: its entries to the left of the diagonal, or to the right. */
#ifndef TRIANGLE_HALF_H
#define TRIANGLE_HALF_H

#include <stdbool.h>
#include <stdint.h>

#include "level_schedule.h"

struct csr;
struct err;

/* Row i is row names[i] of A, and column j is column names[j] of A; if names is NULL, the rows keep their order. */
struct half {
    int64_t n, nnz;
    const int *names;
    bool right;
    int *position; /* [n] the inverse of names; owned; NULL: no names */
    int *ptr;      /* [n + 1] owned */
    int *col;      /* [nnz] ascending in each row; owned */
    double *val;   /* [nnz], pairs if A is complex; owned; NULL: the pattern only */
};

/* Copy a half: `sign` times its values, or, if sign is 0, its pattern only. diag[n] holds the index of the diagonal
   entry of each row of A. Free *h with half_free, even after a failure. */
bool half_make(struct half *h, const struct csr *A, const int *diag, const int *names, bool right, double sign,
               struct err *e);
/* Copy the values again. */
bool half_copy(struct half *h, const struct csr *A, const int *diag, double sign, struct err *e);
void half_free(struct half *h);
struct entries half_entries(const struct half *h);

#endif
