/* Setting up a race on a matrix of the session. */
#ifndef RACE_BEGIN_H
#define RACE_BEGIN_H

#include <stdbool.h>

struct err;
struct race;
struct session;
struct solve_options;

/* Begin a solve for each racer, with the racer's solver, m and omega, and with *o for all other options. A solver that
   rejects the matrix is refused, with the reason in racer.why. Fails if all racers are refused, or if there is not
   enough memory for all of them. */
bool race_solvers(struct session *s, struct race *r, const struct solve_options *o, struct err *e);
/* Check the SpMV of each kernel; a kernel that does not fit or whose result is wrong is refused. */
bool race_kernels(struct session *s, struct race *r, struct err *e);

#endif
