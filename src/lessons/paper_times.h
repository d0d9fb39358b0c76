/* Times that the rows of papers ask for beyond those of a single product: of solvers, and of dense LU. */
#ifndef PAPER_TIMES_H
#define PAPER_TIMES_H

#include <stdbool.h>

#include "base/array.h"

struct device;
struct err;
struct matrix;
struct session;

/* Microseconds: of an iteration on the device and on one thread of the host; of a factorisation, with substitution.
   NaN where they are of another kind, and on the emulator, which has no time. */
struct paper_times {
    double device_us, thread_us, factor_us, solve_us;
};
/* `of`: "jacobi", "gmres 30", "gmres 30 sums host". Both sides do the same iterations, whatever the residual becomes:
   two cycles of a solver that restarts, else of 10; on the host the second one counts, on a GPU the average of all of
   20. reps 1: a single iteration, to see that it runs. E_UNSUPPORTED where the solver refuses m, or finds no iteration.
 */
bool paper_solver(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                  struct paper_times *out, struct err *e);
/* `of`: lu-serial and its like; those for the host on cpu, whichever d is. */
bool paper_factor(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                  struct paper_times *out, struct err *e);

#endif
