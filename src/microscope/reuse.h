/* How often a product reads elements of x from memory again, because L2 had to replace them in the meantime. */
#ifndef REUSE_H
#define REUSE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct watch;

/* The sectors of x, whose elements have `size` bytes, that products with A in the order of the rows read from memory
   again, beyond the first time: a cache of `sectors` sectors, which replaces the one that was used longest ago, is
   simulated for a part of the rows and of the sectors. 0 if x fits in the cache. */
bool reuse_again(const struct csr *A, int64_t size, double sectors, double *again, struct err *e);

#endif
