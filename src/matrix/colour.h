/* Colours for the rows of a matrix, such that rows that need each other have different ones. */
#ifndef COLOUR_H
#define COLOUR_H

#include <stdbool.h>

struct csr;
struct err;

/* Give each row of a square matrix the least colour, from 0, that no earlier row has of those that it shares an entry
   of A + A' with: at most one more than the longest row of A + A'. colour[A->rows]. */
bool colour_of(const struct csr *A, int *colour, int *ncolours, struct err *e);

#endif
