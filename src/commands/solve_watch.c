/* Decides whether a solve has missed its forecast or its limit of time. */
#include "solve_watch.h"
#include "base/clock.h"
#include "solvers/forecast.h"
#include "solvers/solve.h"

#include <math.h>

/* A shorter time is missed because of noise. */
static const double MIN_MISS_US = 1e5;

/* Does the history that the solve has by now show that it ends soon: within the time that it has taken so far? */
static bool ends_soon(const struct solve *v)
{
    struct forecast f = solve_forecast(v);
    return forecast_is_known(&f) && f.high - (double)v->iterations <= (double)(v->iterations - v->base);
}

bool solve_watch_ends(struct solve_watch *w, const struct solve *v)
{
    if (!w) return false;
    double spent = w->before_us + trial_clock_us(v->dev) - w->from_us;
    w->late = steady_us() > w->until_us;
    if (w->late || !w->changes) return w->late;
    bool known = isfinite(w->us.high);
    bool missed =
        known ? (double)v->iterations > SOLVE_MISS * w->needs.high || spent > fmax(SOLVE_MISS * w->us.high, MIN_MISS_US)
              : spent > w->budget_us;
    w->missed = missed && !ends_soon(v);
    return w->missed;
}
