/* The order of the rows of a triangle for a sync-free solve: chunks of consecutive rows, one thread block each. */
#ifndef CHUNK_ORDER_H
#define CHUNK_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "level_schedule.h"

struct err;

/* Order the n rows of the triangle t, whose levels are level_of[n] (see levels_of), by bands of consecutive levels. A
   chunk consists of the next CHUNK_THREADS / o->lanes rows in this order, sorted by level; each level of a chunk is a
   step. Thus most results that a row needs come from its own chunk, and a row depends on its own chunk and on earlier
   chunks only. Fills all of *o, including lanes, step and us. */
bool order_chunks(struct order *o, const struct entries *t, int64_t n, const int *level_of, int nlevels, bool down,
                  struct err *e);

#endif
