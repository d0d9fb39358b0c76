/* Matrices that commands derive from other matrices. */
#ifndef DERIVED_H
#define DERIVED_H

#include <stdbool.h>

struct args;
struct csr;
struct err;
struct matrix;
struct session;

/* Take ownership of A, which was derived from `of` in `us` microseconds. A gets the name after `as`, or, without `as`,
   the name OF-ENDING. `list` shows `of` as the origin of A. */
bool session_add_derived(struct session *s, const struct args *a, const struct matrix *of, const char *ending,
                         struct csr *A, double us, struct err *e);

#endif
