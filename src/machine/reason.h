/* The reasons why a solve ends. */
#ifndef REASON_H
#define REASON_H

/* Why a solve ended: the value of s[S_DONE]. DRIFTED is detected on the host only. */
enum reason {
    RUNNING,
    CONVERGED,
    MAX_ITERATIONS,
    DIVERGED,
    BROKE_DOWN,
    NOT_A_NUMBER,
    STAGNATED,
    STOPPED,
    DRIFTED /* the recursive residual met the tolerance, but the true residual did not */
};

/* The value of s[S_WHAT] after BROKE_DOWN. This value identifies the quantity that was 0 up to rounding errors. */
enum { BROKE_RHO = 1, BROKE_ALPHA, BROKE_OMEGA, BROKE_SINGULAR };

#endif
