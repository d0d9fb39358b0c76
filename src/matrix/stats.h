/* Statistics of a matrix, as numbers. */
#ifndef STATS_H
#define STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "symmetry.h"

struct csr;
struct err;
struct watch;

struct stats {
    int64_t row_min, row_max, empty_rows, bandwidth, diagonals, explicit_zeros, longest[8];
    int nlongest; /* number of rows in longest[], which is sorted by descending length, then by row number */
    double row_mean, row_median, row_std;
    struct symmetry symmetry;
    int64_t zero_diagonal; /* rows of a square matrix whose diagonal entry is missing or 0 */
    int64_t dominant_rows; /* rows with a_ii != 0 and |a_ii| >= the sum of the other |a_ij| */
    double value_min;      /* smallest value, or smallest |a| if A is complex; 0 if there are no values */
    double value_max;      /* largest value, or largest |a| if A is complex; 0 if there are no values */
};
bool stats_of(const struct csr *A, struct watch *w, struct stats *out, struct err *e);
struct histogram {
    int n;            /* bins, at most 64 */
    bool log;         /* bins begin at 0 and at powers of two */
    int64_t from[65]; /* bin k counts lengths from[k] .. from[k+1]-1 */
    int64_t count[64];
    int64_t most; /* the largest count */
};
void histogram_of(const struct csr *A, int bins, struct histogram *out);

#endif
