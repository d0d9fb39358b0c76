/* Large matrices (matrix/csr.h), which only some commands and views take. */
#ifndef LARGE_MATRIX_H
#define LARGE_MATRIX_H

#include <stdbool.h>

struct err;
struct matrix;

/* May `what`, which takes large matrices or not, use m? The error (E_LIMIT) names the commands that may. */
bool large_allowed(const struct matrix *m, bool takes_large, const char *what, struct err *e);

#endif
