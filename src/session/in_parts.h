/* Matrices that `gen ... on DEVICE` generates in parts: each member of the device makes its own rows, and the host has
   none of the entries. Such a matrix has a csr without arrays (matrix/row_source.h). A device that has lost its part,
   or another device with members, gets the rows made again. */
#ifndef IN_PARTS_H
#define IN_PARTS_H

#include "base/precision.h"

#include "matrix.h"

#include <stdbool.h>

struct err;

static inline bool matrix_in_parts(const struct matrix *m)
{
    return m->csr.source != NULL;
}
/* May `what`, which takes matrices in parts or not, use m? The error (E_UNSUPPORTED) names the commands that may. */
bool in_parts_allowed(const struct matrix *m, bool takes, const char *what, struct err *e);
/* Fails if m is in parts, because the words `what` of a command need its entries. */
bool in_parts_refused(const struct matrix *m, const char *what, struct err *e);
/* Does the host have memory for n vectors of m? Always true if m is not in parts: then m itself is larger. */
bool in_parts_vectors_fit(const struct matrix *m, int n, struct err *e);

#endif
