/* A solve on a matrix of the session: choose the kernel, put the matrix on the device in its format, begin. */
#ifndef SESSION_SOLVE_H
#define SESSION_SOLVE_H

#include <stdbool.h>

struct err;
struct matrix;
struct session;
struct solve;
struct solve_matrix;
struct solve_options;

/* The matrix as a solver takes it, checked; mat and kernel stay NULL where b = 0 makes the solve trivial. */
bool session_solve_matrix(struct session *s, struct matrix *m, const struct solve_options *o, struct solve_matrix *A,
                          struct err *e);
/* solve_begin on it. */
bool session_solve(struct solve **v, struct session *s, struct matrix *m, const struct solve_options *o, struct err *e);

#endif
