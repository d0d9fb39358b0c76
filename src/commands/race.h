/* A race: solvers, or kernels, run on one matrix in turns of equal time, so that they can be compared as they go on. */
#ifndef RACE_H
#define RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "machine/bench.h"
#include "base/err.h"
#include "machine/kernel.h"

enum { RACERS_MOST = 8, RACE_TURN_US = 10000 };

struct matrix; /* session.h */

/* Of a solver, the end of a turn: the time used so far, and the iterations done. Of a kernel, one SpMV and its time. */
struct mark {
    double us;
    int64_t iteration;
};

/* A participant: a solver with its options, or a kernel. */
struct racer {
    char name[48]; /* "gmres 30" */
    const struct solver *solver;
    int64_t m;
    double omega;
    const struct kernel *kernel;
    struct solve *v; /* NULL: it could not begin */
    struct mat *M;   /* while kernels race; NULL: it does not fit */
    struct run run;  /* of a kernel, complete after race_end */
    double best_us;
    struct mark *mark;
    int64_t nmarks, room;
    double us;                               /* the time used so far */
    bool wrong;                              /* the result of the kernel is wrong */
    char why[sizeof((struct err *)0)->text]; /* why it does not take part; empty: it does */
};

struct race {
    struct matrix *matrix; /* of the session; only commands and views read it */
    struct device *dev;
    enum type real;
    bool kernels; /* race, not solvers */
    bool running, stopped;
    bool paused;         /* the user left its screen: it waits for `continue` or `stop` */
    bool solve_is_newer; /* a solve was started or stepped since: `continue` and `stop` mean that one */
    double tol;
    int reps;                    /* SpMVs of each kernel; 0: as many as fit in a fixed time */
    void *x, *y;                 /* of the SpMVs, on the device */
    int n, ranking[RACERS_MOST]; /* after race_end: the racers, best first */
    struct racer racer[RACERS_MOST];
};

/* Run a turn of the racer that has used the least time; r->running is false after the last turn. The emulator has no
   time: there solvers take turns by iterations, and kernels have no turns. */
bool race_turn(struct race *r, struct err *e);
/* Add a mark at the end of a turn. */
bool race_mark(struct racer *x, double us, int64_t iteration, struct err *e);
/* Whether the device has time: the emulator has none. */
bool race_timed(const struct race *r);
/* The iterations, or SpMVs, of all racers together. */
int64_t race_done(const struct race *r);
/* Stop the racers that still run, compute true residuals or medians, and rank all of them. */
bool race_end(struct race *r, struct err *e);
void race_free(struct race *r);
/* The iterations, with a fraction, that a solver had done after so much time; -1: it ended before. */
double race_iteration_at(const struct racer *x, double us);

/* Is M still needed? And: it lies elsewhere now. r may be NULL. */
bool race_uses(const struct race *r, const struct mat *M);
void race_moved(struct race *r, const struct mat *from, struct mat *to);

#endif
