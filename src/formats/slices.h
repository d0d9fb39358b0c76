/* Rows sorted by length within windows, then cut into slices of C rows: the order that SELL-C-sigma and its variant for
   blocks share. `ptr` has `rows` + 1 offsets, as the row pointers of CSR do: row i has ptr[i + 1] - ptr[i] elements.
 */
#ifndef SLICES_H
#define SLICES_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;

/* The keys of all rows, the longest rows of each window of sigma rows first, rows of equal length in their order; NULL
   on failure. The caller frees the keys with mem_free. */
int64_t *slices_sort(const int *ptr, int64_t rows, int64_t sigma, struct err *e);
/* The row at position k of the sorted order. */
int64_t slices_row(const int64_t *key, int64_t k);
/* The length of the longest row of slice s. A slice may span two windows. */
int64_t slices_width(const int *ptr, int64_t rows, const int64_t *key, int64_t C, int64_t s);

C_END
#endif
