/* The session's solve: Functions that run a solve and print its result; `solve`, `step`, `continue`, `stop` and other
   commands share them. */
#ifndef CMD_SOLVE_H
#define CMD_SOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "solvers/solve.h"

struct args;
struct err;
struct matrix;
struct out;
struct precond;
struct row_kind;
struct session;
struct solver;
struct watch;

/* Warn if the solver needs a symmetric matrix and m is not symmetric; if m is symmetric only up to rounding, print what
   the solver and the preconditioner (NULL: none) do. Returns false if the statistics of m could not be computed. */
bool solve_warn(struct session *s, struct matrix *m, const struct solver *solver, const struct precond *pre,
                struct err *e);
/* If m is known to be symmetric only up to rounding, print by how much, and what `uses` says about it. */
void note_rounding(struct session *s, const struct matrix *m, const char *uses);
/* Run the session's solve until it ends or is paused. */
bool solve_drive(struct session *s, struct err *e);
/* The solve that is paused. If no solve is paused, the result is NULL, and the error states what to do. */
struct solve *solve_waiting(struct session *s, struct err *e);
/* The options triangles, sweeps and order of a command. */
struct triangle_settings triangle_settings_of(const struct args *a);
/* End the session's solve, compute its true residual, print the result. */
bool solve_finish(struct session *s, struct err *e);
/* Print the error of x against a known solution, with the digits that are correct. */
void out_error_in_x(struct out *o, bool known, double error, const struct trust *t);
/* Print how many digits of x are correct, unless the error shows it. met: the residual met tol. */
void out_trust(struct out *o, const struct trust *t, bool met);
/* Print the result of a solve that has ended. */
void out_solve(struct out *o, const struct solve *v);
/* Print one row of a table: iteration and residual. */
void out_step(struct out *o, const struct solve *v);
/* Is the matrix of m symmetric or, if it is complex, hermitian, up to rounding? */
bool matrix_is_hermitian(struct session *s, struct matrix *m, bool *is, struct err *e);
/* Write x, n numbers or n pairs, to a Matrix Market file. `force`: replace a file that exists. */
bool solve_save_x(const char *file, bool force, int64_t n, bool pairs, const double *x, struct watch *w, struct err *e);
/* The same for several columns of x, one after another; a line of text names the file. */
bool solve_save_columns(struct session *s, const char *file, bool force, int64_t n, int64_t columns, bool pairs,
                        const double *x, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_iterate, row_solved, row_solve_column, row_solve_history;

#endif
