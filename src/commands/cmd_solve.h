/* The session's solve: Functions that run a solve and print its result; `solve`, `step`, `continue`, `stop` and other
   commands share them. */
#ifndef CMD_SOLVE_H
#define CMD_SOLVE_H

#include <stdbool.h>

struct err;
struct out;
struct row_kind;
struct session;
struct solve;

/* Run the session's solve until it ends or is paused. */
bool solve_drive(struct session *s, struct err *e);
/* The solve that is paused. If no solve is paused, the result is NULL, and the error states what to do. */
struct solve *solve_waiting(struct session *s, struct err *e);
/* End the session's solve, compute its true residual, print the result. */
bool solve_finish(struct session *s, struct err *e);
/* Print the result of a solve that has ended. */
void out_solve(struct out *o, const struct solve *v);
/* Print one row of a table: iteration and residual. */
void out_step(struct out *o, const struct solve *v);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_iterate, row_solved, row_solve_column, row_solve_history;

#endif
