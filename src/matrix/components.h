/* Weakly connected components: rows and columns that are joined by entries, in either direction. */
#ifndef COMPONENTS_H
#define COMPONENTS_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct watch;

/* If A is square, row i and column i are one node; otherwise column j is the node rows + j. */
int64_t csr_nodes(const struct csr *A);
/* root[csr_nodes(A)] receives, for each node, the smallest node of its component. A has arrays with 32-bit indices. The
   work is called `what`; Ctrl-C ends it, and so does w, which may be NULL. Union and find; paths are halved (Tarjan and
   van Leeuwen 1984). */
bool csr_components(const struct csr *A, const char *what, int *root, struct watch *w, struct err *e);

#endif
