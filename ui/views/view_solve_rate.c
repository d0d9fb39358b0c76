/* How fast a solve converges, and the time that is left. */
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "view_solve.h"

#include <math.h>

enum {
    RECENT = 20,    /* number of iterations that determine the rate */
    MIN_PAST = 8,   /* minimum number of iterations used to predict the time left */
    MAX_PAST = 2000 /* maximum number of iterations used to predict the time left */
};

/* The history of what tol is compared with: of a solver of least squares, the smaller of two residuals. */
static const double *falling(const struct solve *v)
{
    if (!v->solver->least_squares) return v->history.residual;
    return v->history.alpha[v->iterations] <= v->history.beta[v->iterations] ? v->history.alpha : v->history.beta;
}

double solve_rate(const struct solve *v)
{
    int64_t n = v->iterations < RECENT ? v->iterations : RECENT;
    if (n < 1 || !v->history.residual) return 0;
    double rate = pow(falling(v)[v->iterations] / falling(v)[v->iterations - n], 1.0 / (double)n);
    return isfinite(rate) ? rate : 0;
}

bool residuals_separated(const struct solve *v)
{
    return v->history.separated_at > v->base;
}

static double least_of(const double *r, int64_t n)
{
    double least = INFINITY;
    for (int64_t i = 0; i < n; i++) least = fmin(least, r[i]);
    return least;
}

/* Compare the best residuals of the two halves, because residuals may oscillate. */
double solve_left(const struct solve *v)
{
    int64_t k = v->iterations, half = k / 8 < MIN_PAST / 2 ? MIN_PAST / 2 : k / 8;
    if (half > MAX_PAST / 2) half = MAX_PAST / 2;
    if (!v->history.residual || 2 * half > k || !(v->set.tol > 0)) return NAN;
    double before = least_of(falling(v) + k + 1 - 2 * half, half), now = least_of(falling(v) + k + 1 - half, half);
    double left = log(now / v->set.tol) * (double)half / log(before / now);
    return now < before && now > v->set.tol && left < 1e15 ? ceil(left) : NAN;
}
