/* Beginning a race on a matrix of the session. */
#ifndef RACE_BEGIN_H
#define RACE_BEGIN_H

#include <stdbool.h>

struct err;
struct race;
struct session;
struct solve_options;

/* Begin to solve with each racer by these options, whose solver, m and omega are its own. One that rejects the matrix
   does not take part, with the reason in `why`; fails when none takes part or they do not fit in memory together. */
bool race_solvers(struct session *s, struct race *r, const struct solve_options *o, struct err *e);
/* Check the SpMV of each kernel; one that does not fit or is wrong does not take part. */
bool race_kernels(struct session *s, struct race *r, struct err *e);

#endif
