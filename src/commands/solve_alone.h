/* `solve` without a method: takes the methods of `advise solver` one after another, until one reaches tol. */
#ifndef SOLVE_ALONE_H
#define SOLVE_ALONE_H

#include <stdbool.h>

struct err;
struct solve_line;
struct solver_advice;

/* Solve with the right side of the line by the methods of the advice, the best first, until one reaches tol. Each
   method is watched: if it misses its forecast threefold, or if it ends without a solution, the next one takes over,
   with a note. until_us: steady_us at which all ends. */
bool solve_alone(struct solve_line *l, const struct solver_advice *advice, double until_us, struct err *e);

#endif
