/* How long the rows of a matrix are, by length, and what they cost a kernel that gives each thread a row. */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "stats.h"

struct err;
struct histogram;
struct stats;

/* The lengths that occur, ascending, with what is shorter. Empty where A has no rows. */
struct row_lengths {
    const struct csr *A;
    int64_t n;
    int64_t *length;  /* n */
    int64_t *below;   /* n+1: rows shorter than length[k]; the last is all rows */
    int64_t *entries; /* n+1: entries in those rows */
};
bool row_lengths_of(const struct csr *A, struct row_lengths *out, struct err *e); /* O(rows + longest) */
void row_lengths_free(struct row_lengths *l);
/* k of the first length of at least this; n: all are shorter. */
int64_t row_lengths_find(const struct row_lengths *l, int64_t length);
/* The length of row `rank` of 0 .. rows-1 by length. */
int64_t row_length_at(const struct row_lengths *l, int64_t rank);
/* That row, and the rank of a row; equals stand in order. O(rows). */
int64_t row_at_rank(const struct row_lengths *l, int64_t rank);
int64_t rank_of_row(const struct row_lengths *l, int64_t row);
/* What struct stats says of row lengths, and nothing else of it: O(rows + longest). */
bool stats_rows(const struct csr *A, struct stats *out, struct err *e);
/* histogram_of, from the lengths: O(n). */
void histogram_from(const struct row_lengths *l, int bins, struct histogram *out);

/* Warps: 32 neighbouring rows, a thread each. All take as long as the longest row, so a warp costs 32 * longest /
   entries times what its entries would if they were shared out evenly: 1 to 32, and 0 where it has none. */
enum { WARP_ROWS = 32, HUNDREDTHS = 100 };
struct warps {
    int64_t n, idle;        /* warps; those without an entry */
    double whole;           /* the cost of all warps together */
    double mean, worst;     /* of single warps that have entries; 0 when none has */
    int64_t worst_row;      /* the first row of the worst */
    struct histogram costs; /* of warps with entries, in hundredths */
};
double warp_cost(const struct csr *A, int64_t row); /* of the warp that begins at this row */
void warps_of(const struct csr *A, struct warps *out);

#endif
