/* Estimates the iterations that a solve will need: by the rate of its second half, or by Ritz values. */
#include "forecast.h"
#include "ritz.h"
#include "solve.h"

#include <math.h>

static double least_of(const double *residual, int64_t from, int64_t to)
{
    double least = INFINITY;
    for (int64_t i = from; i <= to; i++) least = fmin(least, residual[i]);
    return least;
}

static double by_condition(const double *residual, int64_t k, double tol, double condition)
{
    if (!(condition >= 1) || !(tol > 0)) return INFINITY;
    return fmax(2.0 * (double)k, 0.5 * sqrt(condition) * log(fmax(2, 2 * residual[0] / tol)));
}

struct forecast forecast_of(const double *residual, int64_t k, double tol, double condition)
{
    struct forecast f = {.rate = NAN, .iterations = INFINITY};
    if (k < 1) return f;
    int64_t half = k / 2;
    double before = least_of(residual, 0, half), least = fmin(before, least_of(residual, half, k));
    f.rate = pow(least / before, 1 / (double)(k - half));
    if (least <= tol) f.iterations = (double)k;
    if (least > tol && f.rate < 1 && tol > 0) f.iterations = (double)k + log(tol / least) / log(f.rate);
    f.iterations = fmin(f.iterations, by_condition(residual, k, tol, condition));
    return f;
}

struct forecast solve_forecast(const struct solve *v)
{
    struct ritz r = {0};
    ritz_of(&r, v, 0);
    int64_t k = v->iterations - v->base;
    return forecast_of(v->history.residual + v->base, k, v->set.tol, r.rows ? r.high / r.low : NAN);
}
