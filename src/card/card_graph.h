/* A copy of a matrix's arrays in the form that CXSparse, BTF, AMD and CHOLMOD take, for work on another thread. */
#ifndef CARD_GRAPH_H
#define CARD_GRAPH_H

#include <stdbool.h>

struct csr;
struct err;

#include <suitesparse/cs.h>

/* Compressed columns of A', which are the rows of A; x and z NULL where only the pattern was asked for. */
struct card_graph {
    int rows, cols; /* of A */
    int *p, *i;
    double *x, *z;
};
/* need: bytes a nonzero that the work will take at most; refused where the system has not that much. */
bool card_graph_new(struct card_graph *g, const struct csr *A, bool values, int need, const char *what, struct err *e);
void card_graph_free(struct card_graph *g);
/* The same arrays as CXSparse sees them. */
cs_di card_graph_cs(const struct card_graph *g);

#endif
