/* The limits of a solve that runs while other methods wait for their turn. */
#ifndef SOLVE_WATCH_H
#define SOLVE_WATCH_H

#include <stdbool.h>

#include "advice/solver_advice.h"

struct solve;

/* A forecast is missed if the solve needs this many times as much. */
enum { SOLVE_MISS = 3 };

/* Limits of a solve that is run slice by slice. */
struct solve_watch {
    double until_us;   /* steady_us at which all ends; INFINITY: no limit */
    double from_us;    /* trial_clock_us at which the solve began or went on */
    double before_us;  /* its time before that, by this clock */
    struct span needs; /* its forecast: iterations, and time; high INFINITY: not yet known */
    struct span us;
    double budget_us;  /* its time if its forecast is not known; INFINITY: no limit */
    bool changes;      /* there is another method to change to */
    bool late, missed; /* why the watch ended the solve */
};
/* Should the solve end, or give way to another method? Sets w->late or w->missed. w may be NULL. */
bool solve_watch_ends(struct solve_watch *w, const struct solve *v);

#endif
