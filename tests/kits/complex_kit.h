/* Complex systems for the tests of solvers. */
#ifndef COMPLEX_KIT_H
#define COMPLEX_KIT_H

#include <stdbool.h>

struct talk;

enum { COMPLEX_ROWS = 40 };

/* Add a tridiagonal complex matrix with a dominant diagonal to the session; if `hermitian`, it is positive definite. */
void complex_add(struct talk *t, bool hermitian, const char *name);
/* Run a line that solves a complex system; it must converge to a residual of 2 tol, computed here. */
void solve_complex(struct talk *t, const char *line, double tol);
/* Every solver on the device, in both precisions, converges; and every solver with every preconditioner has the same
   iterates as for a real system that was transformed to a complex one. */
void check_complex(const char *device);
/* The complex matrices of the collection with each preconditioner that takes them, on the device and on cpu. */
void check_complex_files(const char *device);

#endif
