/* Methods that need a symmetric matrix. */
#ifndef SYMMETRY_NEEDED_H
#define SYMMETRY_NEEDED_H

#include <stdbool.h>

struct err;
struct matrix;
struct precond;
struct session;
struct solver;

/* Is the matrix of m symmetric or, if it is complex, hermitian, up to rounding? */
bool matrix_is_hermitian(struct session *s, struct matrix *m, bool *is, struct err *e);
/* If m is known to be symmetric only up to rounding, print by how much, and what `uses` says about it. */
void note_rounding(struct session *s, const struct matrix *m, const char *uses);
/* Warn if the solver needs a symmetric matrix and m is not symmetric; if m is symmetric only up to rounding, print what
   the solver and the preconditioner (NULL: none) do. Returns false if the statistics of m could not be computed. */
bool solve_warn(struct session *s, struct matrix *m, const struct solver *solver, const struct precond *pre,
                struct err *e);

#endif
