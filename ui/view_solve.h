/* What the files of the solve view share, and the line of a running solve. */
#ifndef VIEW_SOLVE_H
#define VIEW_SOLVE_H

#include "../src/solve.h"

/* Reduction of the residual per iteration over the last ones; 0 when there are too few. */
double solve_rate(const struct solve *v);
/* Has the true residual diverged from the recursive one, since the solve was restarted? */
bool solve_parted(const struct solve *v);
/* Iterations left until tol, as the last quarter of them went; NaN: the residual does not fall. */
double solve_left(const struct solve *v);

#endif
