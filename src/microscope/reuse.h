/* How often a product reads elements of x from memory again, because L2 had to replace them in the meantime. */
#ifndef REUSE_H
#define REUSE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* The sectors of x, whose elements have `size` bytes, that products with a matrix read from memory again, beyond the
   first time, if L2 has room for `sectors` sectors of x. All 0: not found yet. */
struct reuse {
    int64_t size;
    double sectors, again;
};

/* Find r->again for products with A in the order of the rows: a cache of `sectors` sectors, which replaces the least
   recently used sector, is simulated for some of the rows and some of the sectors. 0 if x fits in the cache. r must be
   all 0 or a result for A; a result for the same size and sectors is kept. Fails with E_MEMORY or E_CANCELLED. */
bool reuse_find(struct reuse *r, const struct csr *A, int64_t size, double sectors, struct err *e);

#endif
