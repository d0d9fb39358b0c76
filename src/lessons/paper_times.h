/* Times of solvers and of dense LU, for the tables that compare our numbers with the numbers in papers. */
#ifndef PAPER_TIMES_H
#define PAPER_TIMES_H

#include <stdbool.h>

#include "base/array.h"

struct device;
struct err;
struct matrix;
struct session;

/* Times in microseconds. NaN: not measured, or measured on the emulator, which has no clock. */
struct paper_times {
    double device_us; /* time of one iteration on the device */
    double thread_us; /* time of one iteration on one thread of the host */
    double factor_us; /* time of one factorisation */
    double solve_us;  /* time of one factorisation plus the substitution */
};
/* Time the solver that `of` describes, for example "jacobi", "gmres 30" or "gmres 30 sums host". Device and host do the
   same number of iterations, whatever the residual. A cycle is the m iterations of a restarted solver, or 10 iterations
   of any other solver. The host runs two cycles, and the second is timed; a GPU runs 20 cycles, and the time is their
   average. reps = 1: run a single iteration, to check that it works. Fails with E_UNSUPPORTED if the solver refuses m
   or cannot do an iteration. */
bool paper_solver(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                  struct paper_times *out, struct err *e);
/* Time the LU method that `of` names, for example "lu-serial". A method for the host runs on cpu, whatever d is. */
bool paper_factor(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                  struct paper_times *out, struct err *e);

#endif
