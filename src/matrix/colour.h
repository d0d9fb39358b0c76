/* A colouring of the rows of a matrix: if an entry couples two rows, the rows have different colours. */
#ifndef COLOUR_H
#define COLOUR_H

#include <stdbool.h>

struct csr;
struct err;

/* Give each row of a square matrix the smallest colour, counted from 0, that no earlier neighbour in A + A' has. The
   number of colours, *ncolours, is at most 1 + the length of the longest row of A + A'. `colour` has A->rows items. */
bool colour_of(const struct csr *A, int *colour, int *ncolours, struct err *e);

#endif
