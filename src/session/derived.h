/* Matrices that commands make of others. */
#ifndef DERIVED_H
#define DERIVED_H

#include <stdbool.h>

struct args;
struct csr;
struct err;
struct matrix;
struct session;

/* Take over A, which was made of another matrix in so many us: under the name after `as`, or that matrix's name with
   -ENDING. `list` shows the other matrix as the origin of A. */
bool session_add_derived(struct session *s, const struct args *a, const struct matrix *of, const char *ending,
                         struct csr *A, double us, struct err *e);

#endif
