/* How many iterations a solve will need, estimated from its first iterations. */
#ifndef FORECAST_H
#define FORECAST_H

#include <stdint.h>

struct solve;

struct forecast {
    double rate; /* factor by which the least residual fell per iteration in the second half; NaN: no iterations */
    double iterations; /* in total, until the residual meets tol; INFINITY: the residual shows no sign of convergence */
};
/* residual[0 .. k]: relative residuals of the first k iterations. condition: of the (preconditioned) matrix, for a
   method that converges like conjugate gradients; NaN: not known. It bounds the number of iterations by
   sqrt(condition) / 2 ln(2 residual[0] / tol) (Saad 2003, 6.11.3), which counts if the residual does not fall yet: an
   early estimate of the condition is too low, so the bound is taken as at least twice k. */
struct forecast forecast_of(const double *residual, int64_t k, double tol, double condition);
/* The same for a solve that has done some iterations, with the condition from its Ritz values if it gives any. */
struct forecast solve_forecast(const struct solve *v);
/* All iterations of v, those already done included, if the residual keeps falling at the rate at which it fell: for
   reports about a solve that has ended. NaN after fewer than EXPECTED_LEAST iterations, which show no rate. */
enum { EXPECTED_LEAST = 8 };
struct forecast solve_expected(const struct solve *v);

#endif
