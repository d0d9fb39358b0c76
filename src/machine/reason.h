/* How an iteration of a solver ended. */
#ifndef REASON_H
#define REASON_H

/* How an iteration ended: what s[S_DONE] holds. The last is found on the host only. */
enum reason {
    RUNNING,
    CONVERGED,
    MAX_ITERATIONS,
    DIVERGED,
    BROKE_DOWN,
    NOT_A_NUMBER,
    STAGNATED,
    STOPPED,
    DRIFTED /* the recursive residual met the tolerance, the true one did not */
};

/* BROKE_DOWN: the number that is 0 but for rounding, in s[S_WHAT]. */
enum { BROKE_RHO = 1, BROKE_ALPHA, BROKE_OMEGA };

#endif
