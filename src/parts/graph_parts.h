/* The ways that divide the graph of a matrix by a library. */
#ifndef GRAPH_PARTS_H
#define GRAPH_PARTS_H

#include <stdbool.h>

#include "matrix/reorder.h"

struct csr;
struct partition;
struct shared_library;

/* What a library gets and returns. */
struct graph_parts {
    struct graph g; /* A + A' without its diagonal; every edge counts 1 */
    int *weight;    /* [g.n]: the nonzeros of each row, at least 1, so that the parts have equal work */
    int parts;
    int *owner; /* [g.n]: the result, in memory that the child process shares */
};

/* The parts may have this share more than the mean of the weights. */
#define PARTS_IMBALANCE 0.03

/* Make the graph of A and run `work` on it in a child process; fill owner[rows]. `name` is the way's name. One part,
   and a graph without edges, need no library: the parts are then contiguous. No part is empty: one that the library
   leaves empty gets a row of the largest part. */
bool graph_divide(const struct partition *P, const struct csr *A, int *owner, const char *name,
                  bool (*work)(void *graph_parts), struct watch *w, struct err *e);

/* Opened at first use; tests name files that do not exist. */
extern struct shared_library partition_metis, partition_scotch;

#endif
