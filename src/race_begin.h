/* Beginning a race on a matrix of the session. */
#ifndef RACE_BEGIN_H
#define RACE_BEGIN_H

#include "race.h"
#include "session.h"

/* Begin to solve with each racer by these options, whose solver, m and omega are its own. One that refuses the matrix
   stays out, with its reason in `why`; when all do, or memory does not hold them together, it fails. */
bool race_solvers(struct session *s, struct race *r, const struct solve_options *o, struct err *e);
/* Check each kernel's product; one that does not fit or is wrong stays out. */
bool race_kernels(struct session *s, struct race *r, struct err *e);

#endif
