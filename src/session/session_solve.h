/* Begin a solve on a matrix of the session: choose the kernel, and copy the matrix to the device in the kernel's
   format. */
#ifndef SESSION_SOLVE_H
#define SESSION_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct matrix;
struct right_sides;
struct session;
struct solve;
struct solve_matrix;
struct solve_options;
struct solve_right;

/* Check m and prepare it for a solver. A->mat and A->kernel stay NULL if b = 0, because the solution is then 0. A->mat
   stays NULL if the solver forms an iteration matrix. */
bool session_solve_matrix(struct session *s, struct matrix *m, const struct solve_options *o, struct solve_matrix *A,
                          struct err *e);
/* Choose the kernel by o->kernel and o->format, and copy the matrix, whose A->csr is set, to o->dev; part of
   session_solve_matrix. */
bool session_put_matrix(struct session *s, struct matrix *m, const struct solve_options *o, struct solve_matrix *A,
                        struct err *e);
/* If o->b is set and `solve direct` has solved the same system, let o->truth refer to its x, so that the error of x can
   be measured. Otherwise, leave o->truth as it is. */
void session_solve_truth(const struct session *s, const struct matrix *m, struct solve_options *o);
/* v becomes the session's solve. Returns the one before, which the caller owns from now on; either may be NULL. */
struct solve *session_swap_solve(struct session *s, struct solve *v);
void session_drop_solve(struct session *s);
/* session_solve_matrix, then solve_begin. */
bool session_solve(struct solve **v, struct session *s, struct matrix *m, const struct solve_options *o, struct err *e);

/* Let *o refer to right side i, and to its solution if the file of the matrix holds it. */
void solve_take_right(struct solve_options *o, const struct right_sides *r, const struct matrix *m, int64_t i);
/* Right side i, for the report. */
struct solve_right solve_right_of(const struct right_sides *r, int64_t i);

#endif
