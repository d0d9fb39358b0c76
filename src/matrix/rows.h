/* The distribution of row lengths, and the imbalance of warps in which each thread processes a row. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"

struct err;
struct histogram;
struct stats;

/* The row lengths that occur, in ascending order. Empty if A has no rows. */
struct row_lengths {
    const struct csr *A;
    int64_t n;
    int64_t *length;  /* n */
    int64_t *below;   /* n+1: number of rows shorter than length[k]; below[n] is the number of all rows */
    int64_t *entries; /* n+1: number of entries in rows shorter than length[k] */
};
bool row_lengths_of(const struct csr *A, struct row_lengths *out, struct err *e); /* O(rows + longest) */
void row_lengths_free(struct row_lengths *l);
/* Index of the first length that is at least `length`, or n if all lengths are smaller. */
int64_t row_lengths_find(const struct row_lengths *l, int64_t length);
/* The length of the row at a rank. Ranks 0 .. rows-1 number the rows by ascending length. */
int64_t row_length_at(const struct row_lengths *l, int64_t rank);
/* The smallest length that at least `percent` % of the rows do not exceed. There must be a row. */
int64_t row_length_quantile(const struct row_lengths *l, int percent);
/* The row at a rank, and the rank of a row, in O(rows) time. Rows of equal length are ranked by row number. */
int64_t row_at_rank(const struct row_lengths *l, int64_t rank);
int64_t rank_of_row(const struct row_lengths *l, int64_t row);
/* Fill only the members of struct stats that concern row lengths. O(rows + longest). */
bool stats_rows(const struct csr *A, struct stats *out, struct err *e);
/* Like histogram_of, but computed from the row lengths in O(n) time. */
void histogram_from(const struct row_lengths *l, int bins, struct histogram *out);

/* A warp processes 32 consecutive rows, one per thread, and is as slow as its longest row. The warp's cost is 32 *
   longest / entries: its time divided by the time that it would need if the same entries were spread evenly over its
   threads. The cost is between 1 and 32, or 0 for a warp without entries. */
enum { WARP_ROWS = 32, HUNDREDTHS = 100 };
struct warps {
    int64_t n;              /* number of warps */
    int64_t idle;           /* number of warps without entries */
    double whole;           /* the mean cost of all warps, weighted by their entries */
    double mean;            /* mean cost of the warps that have entries; 0 if no warp has entries */
    double worst;           /* largest cost of a warp */
    int64_t worst_row;      /* first row of the most expensive warp */
    struct histogram costs; /* costs of the warps that have entries, in hundredths */
};
double warp_cost(const struct csr *A, int64_t row); /* cost of the warp whose first row is `row` */
void warps_of(const struct csr *A, struct warps *out);

#endif
