/* Estimates the iterations that a solve will need: by the rate at its end, or by Ritz values. */
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

/* The factor by which the least residual fell per iteration after iteration `from`. */
static double rate_after(const double *residual, int64_t from, int64_t k)
{
    double before = least_of(residual, 0, from), least = fmin(before, least_of(residual, from, k));
    return pow(least / before, 1 / (double)(k - from));
}

struct forecast forecast_of(const double *residual, int64_t k, double tol, double condition)
{
    struct forecast f = {.rate = NAN, .iterations = INFINITY};
    if (k < 1) return f;
    double least = least_of(residual, 0, k);
    f.rate = fmax(rate_after(residual, k / 2, k), rate_after(residual, k - (k + 3) / 4, k));
    if (least <= tol) f.iterations = (double)k;
    if (least > tol && f.rate < 1 && tol > 0) f.iterations = (double)k + log(tol / least) / log(f.rate);
    f.iterations = fmin(f.iterations, by_condition(residual, k, tol, condition));
    return f;
}

struct forecast solve_expected(const struct solve *v)
{
    int64_t k = v->iterations - v->base;
    if (k < EXPECTED_LEAST) return (struct forecast){.rate = NAN, .iterations = NAN};
    struct forecast f = forecast_of(v->history.residual + v->base, k, v->set.tol, NAN);
    f.iterations += (double)v->base;
    return f;
}

struct forecast solve_forecast(const struct solve *v)
{
    struct ritz r = {0};
    ritz_of(&r, v, 0);
    int64_t k = v->iterations - v->base;
    return forecast_of(v->history.residual + v->base, k, v->set.tol, r.rows ? r.high / r.low : NAN);
}
