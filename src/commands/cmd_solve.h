/* The session's solve: Functions that run a solve and print its result; `solve`, `step`, `continue`, `stop` and other
   commands share them. */
#ifndef CMD_SOLVE_H
#define CMD_SOLVE_H

#include <stdbool.h>

struct err;
struct session;
struct solve;

/* Run the session's solve until it ends or is paused. */
bool solve_drive(struct session *s, struct err *e);
/* The solve that is paused. If no solve is paused, the result is NULL, and the error states what to do. */
struct solve *solve_waiting(struct session *s, struct err *e);
/* End the session's solve, compute its true residual, print the result. */
bool solve_finish(struct session *s, struct err *e);

#endif
