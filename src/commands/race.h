/* A race: several solvers, or several kernels, run on one matrix in turns of equal time, so that they can be compared
   while they run. */
#ifndef RACE_H
#define RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/precision.h"
#include "machine/bench.h"
#include "machine/kernel.h"

enum { RACERS_MAX = 8, RACE_TURN_US = 10000 };

struct matrix; /* session.h */

/* A solver gets one mark at the end of each turn: the time that the solver has used so far, and the number of
   iterations that it has done. A kernel gets one mark for each SpMV: the time and the number of that SpMV. */
struct mark {
    double us;
    int64_t iteration;
};

/* A participant: a solver with its options, or a kernel. */
struct racer {
    char name[48]; /* as typed: "gmres 30" */
    const struct solver *solver;
    int64_t m;
    double omega;
    const struct kernel *kernel;
    struct solve *v; /* NULL: the solver was refused */
    struct mat *M;   /* during a race of kernels: the matrix in the kernel's format; NULL: the format does not fit */
    struct run run;  /* result of a kernel, complete after race_end */
    double best_us;
    struct mark *mark;
    int64_t nmarks, room;
    double us;                               /* the time used so far */
    bool wrong;                              /* the kernel failed its check */
    char why[sizeof((struct err *)0)->text]; /* why the racer was refused; empty: it takes part */
};

struct race {
    struct matrix *matrix; /* owned by the session; only commands and views read it */
    struct device *dev;
    enum precision real;
    bool kernels; /* the racers are kernels, not solvers */
    bool running, stopped;
    bool paused;         /* the user left the screen: the race waits for `continue` or `stop` */
    bool solve_is_newer; /* a solve has run since the pause, so `continue` and `stop` refer to that solve */
    double tol;
    int reps;                   /* number of SpMVs of each kernel; 0: as many as fit in a fixed time */
    void *x, *y;                /* vectors of the SpMVs, on the device; the race owns them */
    int n, ranking[RACERS_MAX]; /* ranking, after race_end: indices of racers, best first */
    struct racer racer[RACERS_MAX];
};

/* Run a turn of the racer that has used the least time; r->running is false after the last turn. The emulator does
   not model time: there, the solver with the fewest iterations has the next turn, and kernels take no turns. */
bool race_turn(struct race *r, struct err *e);
void race_set_running(struct race *r, bool running);
/* Add a mark at the end of a turn. */
bool race_mark(struct racer *x, double us, int64_t iteration, struct err *e);
/* Whether times are meaningful on the device; they are not on the emulator. */
bool race_timed(const struct race *r);
/* The number of iterations, or of SpMVs, that all racers together have done. */
int64_t race_done(const struct race *r);
/* Stop the racers that are still running, compute true residuals or medians, and rank all racers. `soon`: after Ctrl-C,
   leave out residuals that take long to compute. */
bool race_end(struct race *r, bool soon, struct err *e);
void race_free(struct race *r);
/* The number of iterations that a solver had done when it had used `us` microseconds, interpolated between two marks;
   -1 if the solver ended earlier. */
double race_iteration_at(const struct racer *x, double us);

/* Does the race still use M? r may be NULL in this function and in race_moved. */
bool race_uses(const struct race *r, const struct mat *M);
/* The matrix `from` has moved to `to`: update the reference to it. */
void race_moved(struct race *r, const struct mat *from, struct mat *to);

#endif
