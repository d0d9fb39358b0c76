/* How many sectors of x the product A x must gather. */
#ifndef GATHERS_H
#define GATHERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct csr;
struct err;

/* ROWS_AT_ONCE: the rows that a multiprocessor of a GPU works on at the same time, one per thread. SECTOR: the
   bytes that a GPU's caches move at a time. */
enum { ROWS_AT_ONCE = 2048, SECTOR = 32 };

/* *out receives the number of distinct sectors of x that each group of ROWS_AT_ONCE consecutive rows reads, summed over
   the groups, if a sector holds `values` elements of x: the sectors that the L2 cache must deliver even if L1 answers
   every further read of the same sector within the group. Fails with E_MEMORY or E_CANCELLED. */
bool csr_gathers(const struct csr *A, int values, int64_t *out, struct err *e);
/* The same for runs of `entries` consecutive entries in place of groups of rows. */
bool csr_gathers_in_runs(const struct csr *A, int values, int64_t entries, int64_t *out, struct err *e);

C_END
#endif
