/* Nodes: rows of a matrix that belong to one point, such as its displacements along each axis. */
#ifndef NODES_H
#define NODES_H

#include <stdint.h>

struct csr;

/* How rows are numbered: the rows of one node after those of another, or one unknown of all nodes after another. */
enum node_order { NODES_NONE, NODES_TOGETHER, NODES_BY_UNKNOWN };
/* The order in which a square A with arrays couples all `block` unknowns of a node and maps the constants of each
   unknown to 0, in at least half of a sample of its rows. That is so for elasticity, also if its zeros are not stored,
   so that the rows of a node differ in their columns. block: 2 to BLOCK_MOST. NODES_NONE: in neither order. */
enum { BLOCK_MOST = 6 };
enum node_order nodes_order(const struct csr *A, int64_t block);

#endif
