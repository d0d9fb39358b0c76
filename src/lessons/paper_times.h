/* Times of solvers, of dense LU, of packing and of symmetrization, for the tables that compare our numbers with the
 * numbers in papers. */
#ifndef PAPER_TIMES_H
#define PAPER_TIMES_H

#include <stdbool.h>

#include "base/array.h"

struct device;
struct err;
struct format;
struct matrix;
struct session;

/* A time in microseconds, or NaN: not measured. */
struct paper_time {
    double us;
    double spread;           /* half the interquartile range; NaN: the time was measured only once */
    const struct device *on; /* where the time was measured */
};
struct paper_times {
    struct paper_time device; /* an iteration on the device */
    struct paper_time thread; /* an iteration on one thread of the host */
    struct paper_time factor; /* a factorisation */
    struct paper_time solve;  /* a factorisation and the substitution */
    struct paper_time pack;   /* packing on the host */
    struct paper_time sym;    /* a symmetrization, without copies to and from the device */
};
/* Time the solver that `of` describes, for example "jacobi", "gmres 30", "gmres 30 sums host" or
   "jacobi form matrix". Device and host do the
   same number of iterations, whatever the residual. A cycle is the m iterations of a restarted solver, or 10 iterations
   of any other solver. The host runs one cycle to warm up and three timed cycles; a GPU does three solves of 20 cycles.
   reps = 1: run a single iteration, to check that it works. The emulator has no clock: the time of the device is NaN.
   Fails with E_UNSUPPORTED if the solver refuses m or cannot do an iteration. */
bool paper_solver(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                  struct paper_times *out, struct err *e);
/* Time the LU method that `of` names, for example "lu-serial". A method for the host runs on cpu, whatever d is. On the
   emulator, the times are NaN. */
bool paper_factor(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                  struct paper_times *out, struct err *e);
/* Time the packing of m in the format `of`, or in the format of the kernel `of`, with the default parameters. */
bool paper_packing(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                   struct paper_times *out, struct err *e);
/* Time the symmetrization by the method `of`, sym or sym-paper, in the mode union, even if m is symmetric already. The
   emulator has no clock: in its place, the method is timed on cpu. */
bool paper_symmetrizing(struct session *s, struct matrix *m, struct device *d, enum type real, const char *of, int reps,
                        struct paper_times *out, struct err *e);

#endif
