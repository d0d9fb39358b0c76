/* A copy of a matrix's arrays in the form that CXSparse, BTF, AMD and CHOLMOD take, for a worker thread. */
#ifndef CARD_GRAPH_H
#define CARD_GRAPH_H

#include <stdbool.h>

struct csr;
struct err;

#include <suitesparse/cs.h>

/* The rows of A; these libraries read them as the columns of A'. */
struct card_graph {
    int rows, cols; /* of A */
    int *p, *i;     /* row pointers and column indices; owned */
    double *x, *z;  /* real and imaginary parts; owned; NULL if only the pattern was copied */
};
/* `need` is the largest amount of memory that the work takes, in bytes per nonzero. Fails with E_MEMORY if less memory
   is available. */
bool card_graph_new(struct card_graph *g, const struct csr *A, bool values, int need, const char *what, struct err *e);
void card_graph_free(struct card_graph *g);
/* A CXSparse matrix that uses the same arrays; nothing is copied. */
cs_di card_graph_cs(const struct card_graph *g);

#endif
