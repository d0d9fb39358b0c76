/* Forecasts of the iterations that a solve needs: which interval the history of a residual shows, or that none is known
   yet. The stored histories are those of real solves to tol 1e-8. */
#include "base/base.h"
#include "kits/test.h"
#include "solvers/forecast.h"

#include <math.h>

enum { MAX = 400 };
static const double TOL = 1e-8;

static void assert_known(const struct forecast *f, double low, double high)
{
    if (f->low != low || f->high != high) fail_msg("%g to %g, expected %g to %g", f->low, f->high, low, high);
    assert_true(forecast_is_known(f));
}

static void assert_unknown(const struct forecast *f, int64_t k)
{
    if (forecast_is_known(f)) fail_msg("after %lld iterations: %g to %g", (long long)k, f->low, f->high);
    assert_true(f->low == (double)(k + 1));
}

/* ---- made histories ---- */

static void geometric(double *residual, double factor)
{
    for (int i = 0; i <= MAX; i++) residual[i] = pow(factor, i);
}

/* 27 iterations halve the residual to 1e-8. 20 of them: at twice the rate, 3.3 more; at most 2.5 times the
   20 (2^(6.58 / 10) - 1) = 11.5 more that a power of the iterations needs. */
TEST(a_steady_fall_gives_an_interval)
{
    double residual[MAX + 1];
    geometric(residual, 0.5);
    struct forecast f = forecast_of(residual, 20, TOL, NAN);
    assert_known(&f, 23, 49);
    assert_true(fabs(f.rate - 0.5) < 1e-12 && fabs(f.iterations - log2(1e8)) < 1e-9);
    f = forecast_of(residual, 27, TOL, NAN);
    assert_known(&f, 27, 27);
    geometric(residual, 0.9); /* 175 iterations */
    f = forecast_of(residual, 100, TOL, NAN);
    assert_known(&f, 137, 556);
}

/* At the beginning, a fall may be the first part of any curve. */
TEST(a_short_history_is_not_known)
{
    double residual[MAX + 1];
    geometric(residual, 0.9);
    for (int64_t k = 0; k <= 60; k++) {
        struct forecast f = forecast_of(residual, k, TOL, NAN);
        assert_unknown(&f, k);
    }
    geometric(residual, 1e-2);
    struct forecast f = forecast_of(residual, 3, TOL, NAN);
    assert_unknown(&f, 3);
}

/* A residual that falls as i^-4 needs 100 iterations: the interval contains them as soon as there is one. */
TEST(a_power_of_the_iterations_is_contained)
{
    double residual[MAX + 1] = {1};
    int known = 0;
    for (int i = 1; i <= MAX; i++) residual[i] = pow(i, -4);
    for (int64_t k = 8; k < 100; k++) {
        struct forecast f = forecast_of(residual, k, TOL, NAN);
        if (!forecast_is_known(&f)) continue;
        known++;
        if (f.low > 100 || f.high < 100) fail_msg("after %lld: %g to %g", (long long)k, f.low, f.high);
    }
    assert_true(known > 20);
}

TEST(a_stall_is_not_known)
{
    double residual[MAX + 1];
    for (int i = 0; i <= MAX; i++) residual[i] = pow(0.5, i < 20 ? i : 20);
    struct forecast f = forecast_of(residual, 25, TOL, NAN);
    assert_unknown(&f, 25);
    f = forecast_of(residual, 40, TOL, NAN);
    assert_unknown(&f, 40);
    assert_true(isinf(f.iterations));
    for (int i = 0; i <= MAX; i++) residual[i] = i % 2 ? 1 : 2;
    f = forecast_of(residual, MAX, TOL, NAN);
    assert_unknown(&f, MAX);
    for (int i = 0; i <= MAX; i++) residual[i] = pow(1.1, i);
    f = forecast_of(residual, MAX, TOL, NAN);
    assert_unknown(&f, MAX);
}

/* tol 0 is never reached, and no iterations show nothing. */
TEST(nothing_is_shown_without_a_limit)
{
    double residual[MAX + 1];
    geometric(residual, 0.5);
    struct forecast f = forecast_of(residual, 20, 0, NAN);
    assert_unknown(&f, 20);
    f = forecast_of(residual, 0, TOL, NAN);
    assert_unknown(&f, 0);
    assert_true(isnan(f.rate));
}

/* The condition bounds the iterations of cg while the residual does not fall. That is a guess, and promises nothing. */
TEST(the_condition_gives_a_guess)
{
    double residual[41];
    for (int i = 0; i <= 40; i++) residual[i] = i % 2 ? 1 : 2;
    double bound = 0.5 * sqrt(1e6) * log(4e8);
    struct forecast f = forecast_of(residual, 40, TOL, 1e6);
    assert_true(fabs(f.iterations - bound) < 1e-6);
    assert_unknown(&f, 40);
    assert_true(forecast_of(residual, 40, TOL, 1).iterations == 80);
}

/* ---- histories of solves ---- */

/* minres with ic0 on Dubcova1, which converged in 68 iterations */
static const double falls_steadily[] = {
    1.00,    9.20e-2, 3.14e-2, 1.87e-2, 8.73e-3, 4.85e-3, 3.46e-3, 2.81e-3, 2.31e-3, 1.90e-3, 1.65e-3, 1.45e-3,
    1.27e-3, 1.12e-3, 1.02e-3, 9.37e-4, 8.62e-4, 8.00e-4, 7.50e-4, 7.05e-4, 6.69e-4, 6.31e-4, 5.68e-4, 4.78e-4,
    3.80e-4, 2.97e-4, 2.41e-4, 1.98e-4, 1.53e-4, 1.18e-4, 8.83e-5, 6.66e-5, 4.87e-5, 3.58e-5, 2.76e-5, 2.28e-5,
    1.93e-5, 1.69e-5, 1.49e-5, 1.30e-5, 1.07e-5, 8.82e-6, 7.67e-6, 6.84e-6, 5.99e-6, 4.99e-6, 3.97e-6};

/* gmres with ilu0 on Dubcova1, restarted every 30 iterations, which converged in 104 iterations */
static const double restarts[] = {1.00,    9.01e-2, 3.03e-2, 1.67e-2, 8.19e-3, 4.74e-3, 3.39e-3, 2.78e-3, 2.28e-3,
                                  1.88e-3, 1.64e-3, 1.43e-3, 1.26e-3, 1.11e-3, 1.01e-3, 9.31e-4, 8.58e-4, 7.94e-4,
                                  7.44e-4, 7.00e-4, 6.65e-4, 6.26e-4, 5.62e-4, 4.71e-4, 3.73e-4, 2.93e-4, 2.39e-4,
                                  1.94e-4, 1.51e-4, 1.15e-4, 8.70e-5, 7.43e-5, 6.07e-5, 4.83e-5, 3.98e-5, 3.33e-5,
                                  2.76e-5, 2.31e-5, 1.99e-5, 1.76e-5, 1.58e-5, 1.45e-5, 1.34e-5, 1.22e-5, 1.10e-5,
                                  9.65e-6, 8.62e-6, 7.75e-6, 7.01e-6, 6.41e-6, 5.79e-6, 5.23e-6, 4.76e-6};

/* cg on bcsstk19, which converged in 9,399 iterations */
static const double falls_first[] = {
    1.00,    3.17e-1, 1.32e-1, 5.85e-2, 2.83e-2, 1.94e-2, 1.72e-2, 2.09e-2, 2.08e-2, 2.70e-2, 2.32e-2, 2.18e-2, 1.70e-2,
    1.11e-2, 9.15e-3, 5.45e-3, 4.34e-3, 3.46e-3, 3.18e-3, 3.39e-3, 3.45e-3, 3.62e-3, 2.62e-3, 1.79e-3, 1.38e-3, 1.32e-3,
    1.59e-3, 1.53e-3, 1.46e-3, 9.03e-4, 6.49e-4, 7.50e-4, 1.13e-3, 1.10e-3, 8.19e-4, 4.92e-4, 3.04e-4, 2.87e-4, 4.94e-4,
    5.75e-4, 7.52e-4, 6.04e-4, 3.27e-4, 1.92e-4, 1.53e-4, 1.70e-4, 3.62e-4, 6.24e-4, 5.38e-4, 3.42e-4, 2.75e-4, 2.20e-4,
    1.54e-4, 2.30e-4, 2.53e-4, 4.38e-4, 3.47e-4, 1.81e-4, 1.36e-4, 1.89e-4, 3.70e-4};

/* cg with jacobi on bcsstk08, which converged in 132 iterations */
static const double oscillates[] = {
    1.00,    2.04e-1, 7.13e-2, 3.54e-2, 4.58e-2, 1.21e-2, 1.20e-2, 5.08e-3, 6.37e-3, 4.73e-3, 2.86e-3, 3.55e-3, 3.75e-3,
    2.80e-3, 1.82e-3, 9.53e-4, 7.46e-4, 6.52e-4, 4.78e-4, 5.39e-4, 7.62e-4, 5.70e-4, 5.60e-4, 6.48e-4, 7.15e-4, 3.40e-4,
    3.93e-4, 2.83e-4, 2.58e-4, 2.41e-4, 2.58e-4, 2.61e-4, 1.55e-4, 1.74e-4, 1.55e-4, 1.34e-4, 2.11e-4, 2.78e-4, 2.69e-4,
    1.22e-4, 9.07e-5, 8.65e-5, 1.19e-4, 1.38e-4, 1.17e-4, 1.67e-4, 1.29e-4, 1.59e-4, 1.54e-4, 1.84e-4, 2.35e-4, 1.98e-4,
    1.75e-4, 1.22e-4, 1.06e-4, 9.48e-5, 9.12e-5, 1.28e-4, 1.62e-4, 1.42e-4, 9.78e-5, 1.19e-4, 8.45e-5, 9.61e-5, 8.44e-5,
    8.44e-5, 6.00e-5, 3.79e-5, 3.44e-5, 5.73e-5, 9.67e-5, 8.90e-5, 2.52e-5, 2.78e-5, 1.83e-5, 1.37e-5, 1.07e-5, 1.12e-5,
    1.43e-5, 9.05e-6, 9.85e-6, 6.65e-6, 9.61e-6, 6.86e-6, 5.54e-6, 4.27e-6, 2.95e-6, 2.64e-6, 2.23e-6};

TEST(histories_of_solves)
{
    static const struct {
        const double *residual;
        int64_t k;
        double takes;
        bool known;
    } table[] = {
        {falls_steadily, 22, 68, false}, {falls_steadily, 46, 68, true}, {restarts, 20, 104, false},
        {restarts, 52, 104, true},       {falls_first, 20, 9399, false}, {falls_first, 45, 9399, false},
        {falls_first, 60, 9399, false},  {oscillates, 44, 132, false},   {oscillates, 66, 132, false},
    };
    for (int i = 0; i < COUNT(table); i++) {
        struct forecast f = forecast_of(table[i].residual, table[i].k, TOL, NAN);
        if (!table[i].known)
            assert_unknown(&f, table[i].k);
        else if (!(f.low <= table[i].takes && table[i].takes <= f.high))
            fail_msg("%d: %g to %g, but it takes %g", i, f.low, f.high, table[i].takes);
    }
}
