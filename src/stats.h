/* What the files behind stats_of share. */
#ifndef STATS_H
#define STATS_H

#include "session.h"

/* The first of rows row .. end-1 that begins at or behind `entry`; end if there is none. */
int64_t stats_row_at(const struct csr *A, int64_t row, int64_t end, int64_t entry);
/* The end (at most `end`, above row) of a slice of rows from `row` on that takes about a tick's work. */
int64_t stats_slice(const struct csr *A, int64_t row, int64_t end);

/* symmetry.c: does A equal its transpose, in pattern, and in values bit by bit (NaN equals nothing)? A complex
   matrix is held against its transpose without conjugation. O(nnz) time, O(rows) memory a thread. */
bool symmetry_of(const struct csr *A, struct watch *w, bool *pattern, bool *values, struct err *e);

#endif
