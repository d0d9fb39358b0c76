/* `advise solver`, and the solver that `solve` takes if the user names none. */
#ifndef CMD_ADVISE_SOLVER_H
#define CMD_ADVISE_SOLVER_H

#include <stdbool.h>

struct args;
struct err;
struct matrix;
struct row_kind;
struct session;
struct solve_line;
struct solve_options;
struct solver_advice;

/* `advise solver` with the words of `advise`. */
bool run_advise_solver(struct session *s, const struct args *a, struct err *e);
/* Set o->scaled, with a note, if the rows or columns of m differ so much in size that the methods are to be tried on
   the equilibrated system. */
bool solver_scales(struct session *s, struct matrix *m, struct solve_options *o, struct err *e);
/* The advice for the system of a `solve` line without a solver, with the options and the right
   sides of that line, for a solve of at most
   left_us. Fails if no method can be tried any longer: at[0] is the first to try. The caller must call
   solver_advice_free even if the result is false. */
bool solver_for_line(const struct solve_line *l, bool direct, double left_us, struct solver_advice *out, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_advise_trial, row_advise_options;

#endif
