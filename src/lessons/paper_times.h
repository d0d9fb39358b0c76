/* Times of solvers, of dense LU, of packing and of symmetrization, for the tables that compare our numbers with the
 * numbers in papers. */
#ifndef PAPER_TIMES_H
#define PAPER_TIMES_H

#include "base/precision.h"

#include <stdbool.h>
#include <stdint.h>

struct device;
struct err;
struct format;
struct matrix;
struct session;
struct solve_options;

/* A time in microseconds; 0: not known yet. */
struct paper_time {
    double us;
    double spread;           /* half the interquartile range; NaN: the time was measured only once, or predicted */
    const struct device *on; /* where the time was measured; NULL: not measured */
    bool predicted;
    char gpu[64]; /* if it is predicted: for this GPU */
};
enum {
    PAPER_DEVICE, /* an iteration on the device */
    PAPER_THREAD, /* an iteration on one thread of the host */
    PAPER_FACTOR, /* a factorisation */
    PAPER_SOLVE,  /* a factorisation and the substitution */
    PAPER_PACK,   /* packing on the host */
    PAPER_PLAN,   /* the part of packing that finds what goes where, without copying values */
    PAPER_SYM,    /* a symmetrization, without copies to and from the device */
    PAPER_TIMES
};
/* Each function below writes only its own times to out[PAPER_TIMES]. */

/* Turn a failure that concerns only one row into E_UNSUPPORTED, which does not end the lesson. */
bool paper_refused(const struct err *why, struct err *e);

/* Read a solver with its settings, for example "gmres 30 sums host" or "jacobi form matrix", into o: solver, m (30 if a
   solver restarts and none is given), sums_host, least_host, modified and form_matrix. */
bool paper_read_solver(const char *of, struct solve_options *o, struct err *e);
/* PAPER_DEVICE: time the solver that `of` describes, for example "jacobi", "gmres 30", "gmres 30 sums host",
   "gmres 4 orth modified least host" or "jacobi form matrix". Device and host do the same number of iterations,
   whatever the residual. A cycle is the m iterations of a restarted solver, or 10 iterations of any other solver. The
   host runs one cycle to warm up and three timed cycles; a GPU does three solves of 20 cycles. reps = 1: run a single
   iteration, to check that it works. Fails with E_UNSUPPORTED if the solver refuses m or cannot do an iteration. */
bool paper_solver(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of, int reps,
                  struct paper_time *out, struct err *e);
/* PAPER_THREAD: the same solver on one thread of the host, with csr-serial, whatever d is. */
bool paper_thread(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of, int reps,
                  struct paper_time *out, struct err *e);
/* The operations of a complete cycle of m iterations of the solver that `of` describes, on cpu, in fp64:
   cycle[OPERATIONS_OF_CYCLE] (solvers/solve.h). Fails with E_UNSUPPORTED if the solver does not restart, or ends before
   its first cycle does. */
bool paper_cycle(struct session *s, struct matrix *m, const char *of, int64_t *cycle, struct err *e);
/* PAPER_FACTOR and PAPER_SOLVE: time the LU method that `of` names, for example "lu-serial". A method for the host runs
   on cpu, whatever d is. */
bool paper_factor(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of, int reps,
                  struct paper_time *out, struct err *e);
/* PAPER_PACK and PAPER_PLAN: time the packing of m in the format `of`, or in the format of the kernel `of`, with the
   default parameters; and by itself the plan, which for drm divides the matrix and merges its segments. */
bool paper_packing(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of, int reps,
                   struct paper_time *out, struct err *e);
/* PAPER_SYM: time the symmetrization by the method `of`, sym or sym-paper, in the mode union, even if m is symmetric
   already. The emulator has no clock: in its place, the method is timed on cpu. */
bool paper_symmetrizing(struct session *s, struct matrix *m, struct device *d, enum precision real, const char *of,
                        int reps, struct paper_time *out, struct err *e);

#endif
