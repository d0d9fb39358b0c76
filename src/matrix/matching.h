/* The matching of rows and columns with the largest product of entries, and the scales that it proves. */
#ifndef MATCHING_H
#define MATCHING_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct watch;

/* Entries of a square matrix of which no two are in the same row or column: their number is the structural rank, and
   of all such sets of that size, the product of their |a| is the largest. If the rank is full, 2^row_log[i] |a_ij|
   2^col_log[j] is 1 for these entries and at most 1 for all others, up to rounding errors. Entries that are 0 do not
   count. */
struct matching {
    int64_t n, rank;
    int *row;                  /* [n] the row of the entry in column j; -1: none */
    double *row_log, *col_log; /* [n] log2 of the scales; only if the rank is full */
};
/* By shortest augmenting paths, with the costs log(max_i |a_ij|) - log |a_ij| of MC64, job 5 (Duff and Koster 2001).
   Fails with E_UNSUPPORTED if A is not square or has NaN or inf, and with E_CANCELLED after Ctrl-C. Needs 8 bytes per
   entry and 60 per row. */
bool matching_find(struct matching *m, const struct csr *A, struct watch *w, struct err *e);
void matching_free(struct matching *m);
/* Is the rank full? If not, the error says the structural rank (E_UNSUPPORTED). */
bool matching_is_full(const struct matching *m, struct err *e);

#endif
