/* The parts of a matrix without arrays (matrix/row_source.h): first what each part has and exchanges, then its entries,
   a few rows at a time. */
#ifndef PART_MADE_H
#define PART_MADE_H

#include <stdbool.h>
#include <stdint.h>

#include "part.h"

struct err;
struct partition;

/* part[P->parts] on the heap, linked, without the arrays of `inside` and `outside`. rows_outside[P->parts] receives the
   rows of each part that have entries in columns of others. P must be contiguous. Takes 1/8 byte per column while it
   runs. parts_free frees the parts. */
struct part *parts_of_made(const struct csr *A, const struct partition *P, int64_t *rows_outside, struct err *e);

/* Called with some rows of a part: row i of both slices is local row first + i. The slices have the columns of
   part->inside and part->outside, and are freed after the call. */
typedef bool visit_part(void *user, const struct csr *inside, const struct csr *outside, int64_t first, struct err *e);
/* Visit all rows of the part in order. */
bool part_visit(const struct part *part, const struct csr *A, const struct partition *P, visit_part *visit, void *user,
                struct err *e);

#endif
