/* A race: solvers, or kernels, that work on one matrix in turns of equal time, so that they can be watched together. */
#ifndef RACE_H
#define RACE_H

#include "solve.h"

enum { RACERS_MOST = 8, RACE_TURN_US = 10000 };

struct matrix; /* session.h */

/* A solver at the end of a turn: the time it has had, and its iterations. A kernel: one product, and its time. */
struct mark {
    double us;
    int64_t iteration;
};

/* One that takes part: a solver with its options, or a kernel. */
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
    double us;                               /* the time it has had */
    bool wrong;                              /* a kernel's result was */
    char why[sizeof((struct err *)0)->text]; /* it does not take part */
};

struct race {
    struct matrix *matrix; /* of the session; only commands and views read it */
    struct device *dev;
    enum type real;
    bool kernels; /* race, not solvers */
    bool running, stopped;
    bool paused; /* its screen was left: it waits for `continue` or `stop` */
    bool behind; /* and a solve that was begun or stepped since comes first */
    double tol;
    int reps;                  /* products of each kernel; 0: as many as a set time holds */
    void *x, *y;               /* of the products */
    int n, place[RACERS_MOST]; /* after race_end: the racers, best first */
    struct racer racer[RACERS_MOST];
};

/* The turn of the racer that has had the least time; r->running is false after the last. The emulator has no time:
   there solvers take turns by iterations, and kernels have none. */
bool race_turn(struct race *r, struct err *e);
/* Note the end of a turn. */
bool race_mark(struct racer *x, double us, int64_t iteration, struct err *e);
/* Whether the device has time: the emulator has none. */
bool race_timed(const struct race *r);
/* Iterations, or products, of all together. */
int64_t race_done(const struct race *r);
/* Stop those still running, compute true residuals or medians, and find the places. */
bool race_end(struct race *r, struct err *e);
void race_free(struct race *r);
/* The iterations, with a fraction, that a solver had done after so much time; -1: it ended before. */
double race_iteration_at(const struct racer *x, double us);

/* Is M still needed? And: it lies elsewhere now. r may be NULL. */
bool race_uses(const struct race *r, const struct mat *M);
void race_moved(struct race *r, const struct mat *from, struct mat *to);

#endif
