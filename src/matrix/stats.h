/* Statistics of a matrix: numbers only. */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct watch;

struct stats {
    int64_t row_min, row_max, empty_rows, bandwidth, diagonals, explicit_zeros, longest[8];
    int nlongest; /* rows by length, longest first, smaller number first among equals */
    double row_mean, row_median, row_std;
    bool pattern_symmetric, value_symmetric;
    int64_t zero_diagonal;       /* rows (of a square matrix) whose diagonal is missing or 0 */
    int64_t dominant_rows;       /* a_ii != 0, |a_ii| >= sum of the others */
    double value_min, value_max; /* of the values; 0 when there are none */
};
bool stats_of(const struct csr *A, struct watch *w, struct stats *out, struct err *e);
struct histogram {
    int n;            /* bins in use, at most 64 */
    bool log;         /* bins grow by powers of two */
    int64_t from[65]; /* bin k holds lengths from[k] .. from[k+1]-1 */
    int64_t count[64];
    int64_t most;
};
void histogram_of(const struct csr *A, int bins, struct histogram *out);

/* ---- shared by the files that compute them ---- */

/* The first of rows row .. end-1 that begins at or behind `entry`; end if there is none. */
int64_t stats_row_at(const struct csr *A, int64_t row, int64_t end, int64_t entry);
/* The end (at most `end`, above row) of a slice of rows from `row` on that takes about a tick's work. */
int64_t stats_slice(const struct csr *A, int64_t row, int64_t end);

/* symmetry.c: does A equal its transpose, in pattern, and in values bit by bit (NaN equals nothing)? A complex
   matrix is held against its transpose without conjugation. O(nnz) time, O(rows) memory a thread. */
bool symmetry_of(const struct csr *A, struct watch *w, bool *pattern, bool *values, struct err *e);

#endif
