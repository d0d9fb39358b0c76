/* The session's solve: begun by `solve`, let run by several commands, and printed. */
#ifndef CMD_SOLVE_H
#define CMD_SOLVE_H

#include <stdbool.h>

struct err;
struct matrix;
struct out;
struct session;
struct solve;
struct solver;

/* Warn of the needs of a solver that it cannot check by itself cheaply. false: the matrix could not be looked at. */
bool solve_warn(struct session *s, struct matrix *m, const struct solver *solver, struct err *e);
/* Let the session's solve run until it ends, or waits, paused, for a command. */
bool solve_drive(struct session *s, struct err *e);
/* The solve that is paused, or NULL and what to do. */
struct solve *solve_waiting(struct session *s, struct err *e);
/* End what is still running, measure, print. */
bool solve_finish(struct session *s, struct err *e);
/* The result of a solve that has ended. */
void out_solve(struct out *o, const struct solve *v);
/* The row of an iteration. */
void out_step(struct out *o, const struct solve *v);

#endif
