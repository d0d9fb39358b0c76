/* Estimates the iterations that a solve will need, from the history of its residual. */
#include "forecast.h"
#include "base/base.h"
#include "ritz.h"
#include "solve.h"
#include "solver.h"

#include <math.h>

/* The second half of the history is divided into this many windows. */
enum { WINDOWS = 4 };
/* Chosen on 477 histories of 15 methods on 45 systems, cut off at random after 8 iterations or more: 14% of them showed
   an interval, and of these intervals 93% contained the end; the median of high / low was 2.8. FASTER: the residual may
   fall this many times as fast, in digits per iteration, as in its fastest window. SLOWER: the iterations that are
   still to be done may be this many times as many as the slowest decrease needs. WIDEST: a wider interval is no
   forecast. */
static const double FASTER = 2, SLOWER = 2.5, WIDEST = 6;

static double least_of(const double *residual, int64_t from, int64_t to)
{
    double least = INFINITY;
    for (int64_t i = from; i <= to; i++) least = fmin(least, residual[i]);
    return least;
}

/* The bound of conjugate gradients (Saad 2003, 6.11.3). An early estimate of the condition is too low, so the bound is
   taken as at least twice k. */
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

/* The most and the least digits (to base e) per iteration that the least residual lost in a window, and the digits that
   it lost in all windows. */
struct fall {
    double fastest, slowest, half;
};
static struct fall fall_of(const double *residual, int64_t k)
{
    struct fall f = {.fastest = 0, .slowest = INFINITY};
    int64_t from = k / 2;
    double start = least_of(residual, 0, from), before = start;
    for (int i = 1; i <= WINDOWS; i++) {
        int64_t to = k - (k - k / 2) * (WINDOWS - i) / WINDOWS;
        double least = fmin(before, least_of(residual, from, to)), speed = log(before / least) / (double)(to - from);
        f.fastest = fmax(f.fastest, speed);
        f.slowest = fmin(f.slowest, speed);
        before = least;
        from = to;
    }
    f.half = log(start / before);
    return f;
}

/* left: digits (to base e) that are still to be lost */
static void bound(struct forecast *f, const double *residual, int64_t k, double left)
{
    struct fall fall = fall_of(residual, k);
    if (!(fall.slowest > 0)) return;
    double power = fall.half / log((double)k / (double)(k / 2)); /* residual ~ iterations^-power */
    double low = (double)k + left / (FASTER * fall.fastest);
    double more = fmax((double)k * expm1(left / power), left / fall.slowest), high = (double)k + SLOWER * more;
    if (!(high <= WIDEST * low)) return;
    f->low = fmax(ceil(low - 1), (double)k + 1);
    f->high = ceil(high);
}

bool forecast_is_known(const struct forecast *f)
{
    return isfinite(f->high);
}

struct forecast forecast_of(const double *residual, int64_t k, double tol, double condition)
{
    struct forecast f = {.rate = NAN, .iterations = INFINITY, .low = (double)k + 1, .high = INFINITY};
    if (k < 1) return f;
    double least = least_of(residual, 0, k);
    f.rate = fmax(rate_after(residual, k / 2, k), rate_after(residual, k - (k + 3) / 4, k));
    if (least <= tol) f.iterations = f.low = f.high = (double)k;
    if (!(least > tol) || !(tol > 0)) return f;
    f.iterations = by_condition(residual, k, tol, condition);
    if (f.rate < 1) f.iterations = fmin(f.iterations, (double)k + log(tol / least) / log(f.rate));
    if (k >= EXPECTED_MIN) bound(&f, residual, k, log(least / tol));
    return f;
}

/* A solver of least squares stops as soon as one of two residuals meets tol. */
static struct forecast forecast_of_least(const struct solve *v)
{
    const double *normal = v->history.alpha, *backward = v->history.beta;
    int64_t k = v->iterations - v->base;
    if (!normal || k < 0) return forecast_of(v->history.residual, -1, v->set.tol, NAN);
    struct forecast a = forecast_of(normal + v->base, k, v->set.tol, NAN),
                    b = forecast_of(backward + v->base, k, v->set.tol, NAN);
    return b.high < a.high || (b.high == a.high && b.iterations < a.iterations) ? b : a;
}

static struct forecast forecast_with(const struct solve *v, double condition)
{
    struct forecast f = v->solver->least_squares ? forecast_of_least(v)
                                                 : forecast_of(v->history.residual + v->base, v->iterations - v->base,
                                                               v->set.tol, condition);
    double *const totals[] = {&f.iterations, &f.low, &f.high};
    for (int i = 0; i < COUNT(totals); i++) *totals[i] += (double)v->base;
    return f;
}

struct forecast solve_forecast(const struct solve *v)
{
    struct ritz r = {0};
    ritz_of(&r, v, 0);
    return forecast_with(v, r.rows ? r.high / r.low : NAN);
}

struct forecast solve_expected(const struct solve *v)
{
    struct forecast f = forecast_with(v, NAN);
    if (v->iterations - v->base < EXPECTED_MIN) f.rate = f.iterations = NAN;
    return f;
}
