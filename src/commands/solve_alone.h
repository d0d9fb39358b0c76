/* `solve` without a method: takes the methods of `advise solver` one after another, until one reaches tol. */
#ifndef SOLVE_ALONE_H
#define SOLVE_ALONE_H

#include <stdbool.h>
#include <stdint.h>

#include "advice/solver_advice.h"
#include "session/front.h"

struct args;
struct err;
struct matrix;
struct right_sides;
struct session;
struct solve_options;
struct solve_watch;

/* What `solve` does with one method and one right side. The functions are those of cmd_solve.c. */
struct solve_parts {
    /* begin the session's solve by o->solver with o->pre, with warnings, and show it full screen if the line says so */
    bool (*begin)(struct session *s, struct matrix *m, const struct args *a, struct solve_options *o,
                  const struct right_sides *r, int64_t i, struct err *e);
    /* Run the session's solve until it ends, is paused, the user leaves it, or the watch ends it. Drop it on failure.
     */
    bool (*run)(struct session *s, struct solve_watch *w, enum turn *turn, struct err *e);
    /* End the solve that has ended by itself; if it is that of a scaled system, and A x = b needs more iterations, go
       on with it. */
    bool (*end)(struct session *s, struct solve_watch *w, enum turn turn, struct err *e);
    /* End the solve, if it still runs, and print the result. */
    bool (*report)(struct session *s, enum turn turn, struct err *e);
    /* After the report: save x if the line says so; fail in a script that was cancelled. */
    bool (*finish)(struct session *s, const struct args *a, enum turn turn, struct err *e);
    void (*note_paused)(struct session *s);
    bool (*direct)(struct session *s, struct matrix *m, const struct args *a, struct err *e);
};

/* Solve with right side i by the methods of the advice, the best first, until one reaches tol. Each method is watched:
   if it misses its forecast threefold, or if it ends without a solution, the next one takes over, with a note.
   until_us: steady_us at which all ends. */
bool solve_alone(const struct solve_parts *parts, struct session *s, struct matrix *m, const struct args *a,
                 struct solve_options *o, const struct right_sides *r, int64_t i, const struct solver_advice *advice,
                 double until_us, struct err *e);

#endif
